import type { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { registryName } from '../../schemas/names.ts'
import { AnyAgentPage, IntentInput } from '../../schemas/search.ts'
import { input, output } from '../../schemas/shape.ts'
import { sessionId } from './caller.ts'
import type { PlaygroundNeeds } from './port.ts'
import { takeStep } from './take-step.ts'

const Discovery = IntentInput.extend({ session: sessionId })

export function discover(needs: PlaygroundNeeds): Action<z.output<typeof Discovery>, AnyAgentPage> {
  return defineAction({
    name: 'discover',
    title: 'Discover agents',
    description: 'Finds agents by intent, as search does, and stores the call in the session.',
    input: input(Discovery),
    output: output(AnyAgentPage),
    access: 'public',
    effect: 'write',
    advertised: false,
    async run({ session, ...params }, context) {
      const envelope = { to: registryName, action: 'search', params }
      const taken = await takeStep(needs, { kind: 'discover', session, envelope }, context)
      return taken.output as unknown as AnyAgentPage
    },
  })
}

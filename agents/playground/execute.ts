import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import type { Json } from '../../schemas/json.ts'
import { agentReference } from '../../schemas/publication.ts'
import { input, output } from '../../schemas/shape.ts'
import { sessionId } from './caller.ts'
import type { PlaygroundNeeds } from './port.ts'
import { takeStep } from './take-step.ts'

const Execution = z.strictObject({
  session: sessionId,
  agent: agentReference,
  capability: z.string().min(1).max(200).describe('Name of the action to call.'),
  input: z.record(z.string(), z.unknown()).default({}),
})
const Executed = z
  .object({
    output: z.unknown().describe('The output of the action.'),
    step: z.int().describe('The number of the call in the session.'),
  })
  .meta({ id: 'Execution' })
type Executed = { output: Json; step: number }

export function execute(needs: PlaygroundNeeds): Action<z.output<typeof Execution>, Executed> {
  return defineAction({
    name: 'execute',
    title: 'Execute a capability',
    description:
      'Calls one capability of an agent, with the rights of the session or of your token, and stores the call in the session, whether it succeeds or fails.',
    input: input(Execution),
    output: output(Executed as z.ZodType<Executed>),
    access: 'public',
    effect: 'call',
    advertised: false,
    deadline_ms: 30_000,
    run: ({ session, agent, capability, input: params }, context) => {
      const envelope = { to: agent, action: capability, params }
      return takeStep(needs, { kind: 'execute', session, envelope }, context)
    },
  })
}

import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { Step } from '../../schemas/playground.ts'
import { input, output } from '../../schemas/shape.ts'
import { admit, sessionId } from './caller.ts'
import type { Sessions } from './port.ts'

export const after = z.int().min(0).default(0).describe('Number of the last step that you have.')
const Input = z.strictObject({ session: sessionId, after })
const History = z
  .object({
    id: z.string(),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime(),
    steps: z.array(Step),
    more: z.boolean().describe('More steps follow the last one returned: ask again with its number.'),
  })
  .meta({ id: 'Session' })

export function getSession(sessions: Sessions): Action<z.output<typeof Input>, z.infer<typeof History>> {
  return defineAction({
    name: 'get_session',
    title: 'Read a session',
    description: 'The calls of a session with their answers.',
    input: input(Input),
    output: output(History),
    access: 'public',
    effect: 'read',
    advertised: false,
    async run({ session, after }, { principal }) {
      admit(principal)
      const { id, created_at, expires_at, steps: last } = await sessions.find(session, principal)
      const steps = await sessions.steps(id, after)
      return { id, created_at, expires_at, steps: [...steps], more: (steps.at(-1)?.number ?? last) < last }
    },
  })
}

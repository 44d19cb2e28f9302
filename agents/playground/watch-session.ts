import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { Step } from '../../schemas/playground.ts'
import { input, output } from '../../schemas/shape.ts'
import { admit, sessionId } from './caller.ts'
import { after } from './get-session.ts'
import type { PlaygroundNeeds } from './port.ts'

const Input = z.strictObject({ session: sessionId, after })
const Over = z.object({ id: z.string(), ended: z.enum(['expired', 'deleted']) })

/** Reports the number of steps first, as progress. */
export function watchSession({
  sessions,
  clock,
}: PlaygroundNeeds): Action<z.output<typeof Input>, z.infer<typeof Over>, Step> {
  return defineAction({
    name: 'watch_session',
    title: 'Watch a session',
    description:
      'Streams the calls of a session, the existing ones and then each new one, until the session ends.',
    input: input(Input),
    output: output(Over),
    part: output(Step),
    access: 'public',
    effect: 'read',
    advertised: false,
    deadline_ms: 'none',
    async run({ session, after }, { principal, signal, emit }) {
      admit(principal)
      const { id, steps, expires_at } = await sessions.find(session, principal)
      await emit({ progress: steps })
      for await (const part of sessions.follow(id, after, signal)) await emit({ part })
      return { id, ended: clock() < Date.parse(expires_at) ? 'deleted' : 'expired' }
    },
  })
}

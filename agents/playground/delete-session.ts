import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { input, output } from '../../schemas/shape.ts'
import { admit, sessionId } from './caller.ts'
import type { Sessions } from './port.ts'

const Input = z.strictObject({ session: sessionId })

export function deleteSession(sessions: Sessions): Action<z.output<typeof Input>, { id: string }> {
  return defineAction({
    name: 'delete_session',
    title: 'Delete a session',
    description: 'Deletes a session and everything stored in it, at once.',
    input: input(Input),
    output: output(z.object({ id: z.string() })),
    access: 'public',
    effect: 'write',
    advertised: false,
    async run({ session }, { principal }) {
      admit(principal)
      const { id } = await sessions.find(session, principal)
      await sessions.remove(id)
      return { id }
    },
  })
}

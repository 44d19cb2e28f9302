import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { idempotencyKey } from '../../schemas/idempotency.ts'
import { input, output } from '../../schemas/shape.ts'
import { admit } from './caller.ts'
import type { Sessions } from './port.ts'

const Input = z.strictObject({ idempotency_key: idempotencyKey })
const Created = z.object({ id: z.string(), expires_at: z.iso.datetime() }).meta({ id: 'NewSession' })

export function createSession(sessions: Sessions): Action<z.output<typeof Input>, z.infer<typeof Created>> {
  return defineAction({
    name: 'create_session',
    title: 'Create a session',
    description:
      'Starts a playground session of one hour. A session made with a token is visible to its owner only.',
    input: input(Input),
    output: output(Created),
    access: 'public',
    effect: 'write',
    idempotency: 'key',
    advertised: false,
    async run(_, { principal, counted_as = null }) {
      admit(principal)
      const { id, expires_at } = await sessions.create(principal, counted_as)
      return { id, expires_at }
    },
  })
}

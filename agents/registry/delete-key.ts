import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { input, output } from '../../schemas/shape.ts'
import { requireDeleter } from './caller.ts'
import type { IdentityPort } from './port.ts'

const Input = z.strictObject({ key: z.string().min(1).max(200).describe('Id of the key: drg_XXXXXXXX.') })
type Input = z.infer<typeof Input>

export function deleteKey(identity: IdentityPort): Action<Input, Record<string, never>> {
  return defineAction({
    name: 'delete_key',
    title: 'Delete an API key',
    description:
      'Revokes one of your API keys and every token obtained with it; an admin may revoke any key.',
    input: input(Input),
    output: output(z.strictObject({})),
    access: 'bearer',
    effect: 'write',
    advertised: false,
    async run({ key }, { principal }) {
      await identity.deleteKey(key, requireDeleter(principal))
      return {}
    },
  })
}

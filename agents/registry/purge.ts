import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { PurgeInput } from '../../schemas/moderation.ts'
import { input, output } from '../../schemas/shape.ts'
import type { RegistryPort } from './port.ts'

const Output = z.object({ id: z.uuid() }).meta({ id: 'Purged' })

export function purge(registry: RegistryPort): Action<PurgeInput, z.infer<typeof Output>> {
  return defineAction({
    name: 'purge',
    title: 'Purge an agent',
    description:
      'Removes an agent and all its versions from the database, the indexes and their snapshots. Nothing of it can be restored, and its name is free again. The log keeps its id and the reason.',
    input: input(PurgeInput),
    output: output(Output),
    access: { scope: 'admin' },
    effect: 'write',
    advertised: false,
    deadline_ms: 60_000,
    run: (request, { principal }) => registry.purge(request, principal),
  })
}

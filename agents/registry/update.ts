import type { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { EntryDetail } from '../../schemas/card.ts'
import { Change, Publication } from '../../schemas/publication.ts'
import { input, output } from '../../schemas/shape.ts'
import type { RegistryPort } from './port.ts'

const Input = Publication.extend(Change.shape)
type Input = z.infer<typeof Input>

export function update(registry: RegistryPort): Action<Input, EntryDetail> {
  return defineAction({
    name: 'update',
    title: 'Update an agent',
    description:
      'Changes the given fields of an agent and leaves the rest as it is. A name cannot be changed.',
    input: input(Input),
    output: output(EntryDetail),
    access: { scope: 'agents:write' },
    effect: 'write',
    advertised: false,
    run: ({ agent, expected_revision, ...publication }, { principal }) =>
      registry.update({ agent, expected_revision }, publication, principal),
  })
}

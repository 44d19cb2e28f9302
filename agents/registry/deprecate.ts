import { type Action, defineAction } from '../../schemas/action.ts'
import { EntryDetail } from '../../schemas/card.ts'
import { DeprecationInput } from '../../schemas/deprecation.ts'
import { input, output } from '../../schemas/shape.ts'
import type { RegistryPort } from './port.ts'

export function deprecate(registry: RegistryPort): Action<DeprecationInput, EntryDetail> {
  return defineAction({
    name: 'deprecate',
    title: 'Deprecate an agent, or end its deprecation',
    description:
      'Marks an agent as not for new use and names its replacement. It ranks below other agents that match as well, and still answers.',
    input: input(DeprecationInput),
    output: output(EntryDetail),
    access: { scope: 'agents:publish' },
    effect: 'write',
    advertised: false,
    run: (request, { principal }) => registry.deprecate(request, principal),
  })
}

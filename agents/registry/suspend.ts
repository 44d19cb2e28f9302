import { type Action, defineAction } from '../../schemas/action.ts'
import { EntryDetail } from '../../schemas/card.ts'
import { input, output } from '../../schemas/shape.ts'
import { SuspensionInput, SuspensionPage, SuspensionRange } from '../../schemas/suspension.ts'
import type { RegistryPort } from './port.ts'

export function suspend(registry: RegistryPort): Action<SuspensionInput, EntryDetail> {
  return defineAction({
    name: 'suspend',
    title: 'Suspend an agent, or lift a suspension',
    description:
      'Removes an agent from every public view until an admin lifts the suspension. Its owner still sees it, with the reason, and may update or delete it.',
    input: input(SuspensionInput),
    output: output(EntryDetail),
    access: { scope: 'admin' },
    effect: 'write',
    advertised: false,
    run: (request, { principal }) => registry.suspend(request, principal),
  })
}

export function listSuspensions(registry: RegistryPort): Action<SuspensionRange, SuspensionPage> {
  return defineAction({
    name: 'list_suspensions',
    title: 'List suspended agents',
    description:
      'The suspended agents, the newest suspension first: their owners, since when, why and by whom. Deleted ones too: their names stay reserved.',
    input: input(SuspensionRange),
    output: output(SuspensionPage),
    access: { scope: 'admin' },
    effect: 'read',
    advertised: false,
    run: (range) => registry.listSuspensions(range),
  })
}

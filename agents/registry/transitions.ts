import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { EntryDetail } from '../../schemas/card.ts'
import { Change } from '../../schemas/publication.ts'
import type { Scope } from '../../schemas/scope.ts'
import { input, output } from '../../schemas/shape.ts'
import type { RegistryPort } from './port.ts'

export function goLive(registry: RegistryPort): Action<Change, EntryDetail> {
  return defineAction({
    ...writes('agents:publish'),
    name: 'go_live',
    aliases: ['go-live'],
    title: 'Publish an agent: STAGE to ACTIVE',
    description: 'Moves an agent from STAGE to ACTIVE: all callers can find it.',
    output: output(EntryDetail),
    run: (change, { principal }) => registry.goLive(change, principal),
  })
}

export function unpublish(registry: RegistryPort): Action<Change, EntryDetail> {
  return defineAction({
    ...writes('agents:publish'),
    name: 'unpublish',
    title: 'Unpublish an agent: ACTIVE to STAGE',
    description: 'Moves an agent from ACTIVE back to STAGE: only its owner sees it.',
    output: output(EntryDetail),
    run: (change, { principal }) => registry.unpublish(change, principal),
  })
}

export function remove(registry: RegistryPort): Action<Change, Record<string, never>> {
  return defineAction({
    ...writes('agents:write'),
    name: 'delete',
    title: 'Delete an agent',
    description: 'Removes an agent from every list at once. Its name stays reserved for its owner.',
    output: output(z.strictObject({})),
    async run(change, { principal }) {
      await registry.remove(change, principal)
      return {}
    },
  })
}

function writes(scope: Scope) {
  return {
    input: input(Change),
    access: { scope },
    effect: 'write',
    advertised: false,
  } as const
}

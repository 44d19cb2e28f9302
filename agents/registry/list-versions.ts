import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { cursor, limit } from '../../schemas/paging.ts'
import { agentReference } from '../../schemas/publication.ts'
import { input, output } from '../../schemas/shape.ts'
import { VersionPage } from '../../schemas/version.ts'
import type { RegistryPort } from './port.ts'

const Input = z.strictObject({
  agent: agentReference,
  limit,
  cursor,
  changes: z
    .boolean()
    .default(false)
    .describe('Whether to name the fields that each version changed, for the first 20 of the page.'),
})

export function listVersions(registry: RegistryPort): Action<z.output<typeof Input>, VersionPage> {
  return defineAction({
    name: 'list_versions',
    title: 'List the versions of an agent',
    description:
      'Every published version of an agent, the highest version first. resolve_package returns the card of each.',
    input: input(Input),
    output: output(VersionPage),
    access: 'public',
    effect: 'read',
    advertised: false,
    run: ({ agent, limit, cursor, changes }, { principal }) =>
      registry.versions(agent, limit, cursor, principal, changes),
  })
}

import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { agentReference } from '../../schemas/publication.ts'
import { input, output } from '../../schemas/shape.ts'
import { VersionDiff } from '../../schemas/version.ts'
import type { RegistryPort } from './port.ts'

const version = z
  .string()
  .min(1)
  .max(200)
  .describe('A version as published, a semver range, `latest`, or `r` and the revision that published it.')

const Input = z.strictObject({
  agent: agentReference,
  from: version,
  to: version.optional().describe('As `from`; the current version when absent.'),
})

export function diffVersions(registry: RegistryPort): Action<z.output<typeof Input>, VersionDiff> {
  return defineAction({
    name: 'diff_versions',
    title: 'Compare two versions of an agent',
    description: 'The fields of the card that differ between two versions of an agent, before and after.',
    input: input(Input),
    output: output(VersionDiff),
    access: 'public',
    effect: 'read',
    advertised: false,
    run: ({ agent, from, to }, { principal }) => registry.diffVersions(agent, from, to, principal),
  })
}

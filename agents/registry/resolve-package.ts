import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { EntryDetail } from '../../schemas/card.ts'
import { agentReference } from '../../schemas/publication.ts'
import { input, output } from '../../schemas/shape.ts'
import type { RegistryPort } from './port.ts'

const Input = z.strictObject({
  package_name: agentReference,
  version: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe('The requested version, a range such as ^1.2, or latest; the current version when absent.'),
  revision: z
    .int()
    .min(1)
    .optional()
    .describe('The revision of the requested version; each entry states it.'),
})
const Output = EntryDetail.pick({
  package_name: true,
  version: true,
  verification_level: true,
  manifest_url: true,
  license: true,
  deprecated: true,
  card: true,
})
type Output = z.infer<typeof Output>

export function resolvePackage(registry: RegistryPort): Action<z.output<typeof Input>, Output> {
  // The public view of an entry is frozen until the entry changes, so its output can be cached by identity.
  const shown = new WeakMap<EntryDetail, Output>()
  return defineAction({
    name: 'resolve_package',
    title: 'Resolve a package',
    description: 'Gets the agent card for a given package ID.',
    input: input(Input),
    output: output(Output),
    access: 'public',
    effect: 'read',
    advertised: true,
    card_input: false,
    async run(request, { principal }) {
      const found = await registry.resolve(request.package_name, request, principal)
      const entry = shown.get(found)
      if (entry) return entry
      const part = partOf(found)
      if (Object.isFrozen(found)) shown.set(found, Object.freeze(part))
      return part
    },
  })
}

function partOf(found: EntryDetail): Output {
  const { package_name, version, verification_level, manifest_url, license, deprecated, card } = found
  return { package_name, version, verification_level, manifest_url, license, deprecated, card }
}

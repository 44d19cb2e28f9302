import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { EntryDetail } from '../../schemas/card.ts'
import { Failure } from '../../schemas/failure.ts'
import { agentReference } from '../../schemas/publication.ts'
import { input, output } from '../../schemas/shape.ts'
import type { Registry } from './port.ts'

const Input = z.strictObject({
  package_name: agentReference,
  version: z.string().max(100).optional().describe('The version wanted; the current one when left out.'),
})
const Output = EntryDetail.pick({
  package_name: true,
  version: true,
  verification_level: true,
  manifest_url: true,
  card: true,
})
type Output = z.infer<typeof Output>

export function resolvePackage(registry: Registry): Action<z.output<typeof Input>, Output> {
  // What everybody sees of an entry is frozen for as long as it stands, and so is what is shown of it here.
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
    async run(asked, { principal }) {
      const found = await registry.get(asked.package_name, principal)
      const { version } = found
      if (asked.version !== undefined && asked.version !== version) throw otherVersion(found, asked.version)
      const known = shown.get(found)
      if (known) return known
      const part = partOf(found)
      if (Object.isFrozen(found)) shown.set(found, Object.freeze(part))
      return part
    },
  })
}

function partOf({ package_name, version, verification_level, manifest_url, card }: EntryDetail): Output {
  return { package_name, version, verification_level, manifest_url, card }
}

function otherVersion({ package_name, version }: Output, asked: string): Failure {
  const hint = version === null ? 'It states no version.' : `Its version is ${version}.`
  return new Failure('not_found', `${package_name} has no version ${asked}.`, { hint })
}

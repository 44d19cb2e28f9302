import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { BriefEntry, Detail } from '../../schemas/brief.ts'
import { EntryDetail } from '../../schemas/card.ts'
import { Failure } from '../../schemas/failure.ts'
import { agentReference } from '../../schemas/publication.ts'
import { input, output } from '../../schemas/shape.ts'
import { briefEntry } from './brief-entry.ts'
import type { PackagesPort, RegistryPort } from './port.ts'

const Input = z.strictObject({
  agent: agentReference,
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
  detail: Detail,
  max_tokens: z
    .int()
    .min(50)
    .max(100_000)
    .optional()
    .describe('Size of a brief answer in language-model tokens, about; 8,000 when absent.'),
})
const FullOutput = EntryDetail.pick({
  package_name: true,
  version: true,
  verification_level: true,
  manifest_url: true,
  license: true,
  deprecated: true,
  callable: true,
  callable_reason: true,
  credential_stored: true,
  endpoints: true,
  packages: true,
  card: true,
})
type FullOutput = z.infer<typeof FullOutput>
const fullFields = Object.keys(FullOutput.shape) as (keyof FullOutput)[]
const Output = z.union([FullOutput, BriefEntry])
type Output = z.infer<typeof Output>

const briefTokens = 8000

const tool = {
  description:
    'Shows all actions of an agent, if its search hit lacks the one that you need. Example: {"agent": "svc.utility.wiki"}.',
  input: input(Input.pick({ agent: true })),
  output: output(BriefEntry),
  defaults: { detail: 'brief' },
} as const

export function resolvePackage(
  registry: RegistryPort,
  packages: Pick<PackagesPort, 'approved'>,
): Action<z.output<typeof Input>, Output> {
  // The public view of an entry is frozen until the entry changes, so its outputs can be cached by identity.
  const full = cached(fullEntry)
  const brief = cached((found) => briefEntry(found, briefTokens))
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
    tool,
    async run({ agent, detail, max_tokens, ...version }, { principal }) {
      if (detail === 'full' && max_tokens !== undefined) throw notBrief()
      const resolved = await registry.resolve(agent, version, principal)
      const [found = resolved] = await registry.markCredentials([resolved], principal)
      if (detail === 'full') return full(found)
      const isApproved = found.callable === 'package' && (await packages.approved()).has(found.package_name)
      if (isApproved) return briefEntry(found, max_tokens ?? briefTokens, isApproved)
      return max_tokens === undefined ? brief(found) : briefEntry(found, max_tokens)
    },
  })
}

/** Returns the same frozen output for the same frozen entry. */
function cached<Shown>(show: (found: EntryDetail) => Shown): (found: EntryDetail) => Shown {
  const outputs = new WeakMap<EntryDetail, Shown>()
  return (found) => {
    const shown = outputs.get(found) ?? show(found)
    if (Object.isFrozen(found)) outputs.set(found, Object.freeze(shown))
    return shown
  }
}

function fullEntry(found: EntryDetail): FullOutput {
  const shown = fullFields.filter((field) => found[field] !== undefined).map((field) => [field, found[field]])
  return Object.fromEntries(shown)
}

function notBrief(): Failure {
  const detail = 'A card is whole or not there. Give max_tokens with detail: brief.'
  return Failure.invalidField('/max_tokens', detail)
}

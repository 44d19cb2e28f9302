import { Failure } from '../../../schemas/failure.ts'
import type { Finding, ManifestReport } from '../../../schemas/trust.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import { error, info, readFindings, warning } from '../cards/card-findings.ts'
import type { FetchedCard } from '../cards/fetch-card.ts'
import { type CardField, cardFields, type Manifest, namesIn } from '../cards/manifest.ts'
import { fittingCapabilities, maxEntryBytes } from '../entry/entry-size.ts'

/**
 * An entry after its card was read. Fields that its owner did not state follow the card, and differences are findings.
 */
export function withCard(
  entry: StoredEntry,
  { document, sha256, url }: FetchedCard,
  at: string,
): StoredEntry {
  const { manifest, findings } = readFindings(document, url)
  const all = [...findings, ...aboutEntry(entry, manifest, url)]
  const refused = (wrong: Finding | undefined, found: Finding[]): StoredEntry => {
    const report = reportOf('invalid', at, wrong?.message ?? 'The card cannot be listed.', found)
    return { ...entry, card_sha256: sha256, manifest: report }
  }
  const wrong = all.find(({ severity }) => severity === 'error')
  if (!manifest || wrong) return refused(wrong, all)
  const stated = new Set<string>(entry.stated ?? cardFields)
  // The tools of the agent's server stay where the card states no skills.
  const isRead = entry.reading?.lists === true && manifest.capabilities.length === 0
  const keeps = (field: CardField) => stated.has(field) || (field === 'capabilities' && isRead)
  const facts = cardFields.filter((field) => !keeps(field)).map((field) => [field, manifest[field]])
  const reading = entry.reading && { ...entry.reading, lists: isRead }
  const next = { ...entry, ...Object.fromEntries(facts), card: manifest.card, card_sha256: sha256, reading }
  const capabilities = fittingCapabilities(next)
  const isCut = capabilities !== undefined && capabilities.length < next.capabilities.length
  if (!capabilities || (isCut && stated.has('capabilities'))) return refused(oversized, [oversized, ...all])
  const found = isCut ? [cutTo(capabilities.length), ...all] : all
  return { ...next, capabilities, manifest: reportOf('ok', at, null, found) }
}

const oversized = error(
  'too_large',
  '',
  `With this card the entry would have more than ${maxEntryBytes} bytes.`,
  'Make the card smaller, or state less in the registry.',
)

function cutTo(count: number): Finding {
  const message = `The capabilities after the first ${count} are not listed: an entry has at most ${maxEntryBytes} bytes.`
  return warning('too_large', '/capabilities', message, 'Shorten the input schemas and the descriptions.')
}

/** An entry whose manifest URL turned out to be the address of an MCP server, which is an endpoint of the agent. */
export function asServer(entry: StoredEntry, url: string | null): StoredEntry {
  if (url === null) return entry
  const isListed = entry.endpoints.some((endpoint) => endpoint.url === url)
  const endpoints = isListed ? entry.endpoints : [{ protocol: 'mcp' as const, url }, ...entry.endpoints]
  return { ...entry, endpoints, manifest_url: null, card: null, card_sha256: null, manifest: null }
}

/** An entry after its card could not be read. It keeps the content of the last reading. */
export function withoutCard(entry: StoredEntry, failure: Failure, at: string): StoredEntry {
  return { ...entry, manifest: reportOf('unreachable', at, failure.message, entry.manifest?.findings ?? []) }
}

function reportOf(
  status: ManifestReport['status'],
  checked_at: string,
  detail: string | null,
  findings: Finding[],
): ManifestReport {
  return { status, checked_at, detail, findings }
}

function aboutEntry(entry: StoredEntry, manifest: Manifest | null, url: string): Finding[] {
  if (!manifest) return []
  return [...ofName(entry, manifest), ...ofRedirect(entry, url), ...ofDifferences(entry, manifest)]
}

function ofName({ package_name }: StoredEntry, manifest: Manifest): Finding[] {
  const named = namesIn(manifest.card).find((name) => name !== package_name)
  if (named === undefined) return []
  const message = `The card calls itself ${named}, not ${package_name}.`
  return [error('other_package', '/agent_id', message, 'Publish it under the name in its card.')]
}

function ofRedirect({ manifest_url }: StoredEntry, url: string): Finding[] {
  if (manifest_url === null || new URL(manifest_url).host === new URL(url).host) return []
  return [info('redirected', '', `The manifest URL leads to ${new URL(url).host}.`, 'State the final URL.')]
}

/** The owner's statement takes precedence over the card; a difference is a finding. */
function ofDifferences(entry: StoredEntry, manifest: Manifest): Finding[] {
  const stated = entry.stated ?? cardFields
  const differs = cardFields.filter(
    (field) => stated.includes(field) && outline(entry[field]) !== outline(manifest[field]),
  )
  return differs.map((field) =>
    info('differs_from_manifest', `/${field}`, `The ${field} in the registry differs from the card.`),
  )
}

/** Capabilities are compared by name only. */
function outline(value: unknown): string {
  if (!Array.isArray(value)) return JSON.stringify(value)
  return JSON.stringify(value.map((item) => item?.name ?? item?.url ?? item).sort())
}

/**
 * The content of a card from which an entry can be made. Throws Failure `upstream_invalid` with the errors of the
 * card.
 */
export function listable({ document, url }: FetchedCard): Manifest {
  const { manifest, findings } = readFindings(document, url)
  if (manifest) return manifest
  throw notListable(findings)
}

/** The refusal of a card, by its first error. */
export function notListable(findings: readonly Finding[]): Failure {
  const wrong = findings.filter(({ severity }) => severity === 'error')
  const errors = wrong.map(({ field, message }) => ({ pointer: field, detail: message }))
  const [{ field = '', message = '', suggestion = null } = {}] = wrong
  const where = field === '' ? '' : `${field}: `
  return new Failure('upstream_invalid', `The manifest cannot be listed: ${where}${message}`, {
    errors,
    ...(suggestion !== null && { hint: suggestion }),
  })
}

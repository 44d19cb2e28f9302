import { initialValues } from '../../../schemas/entry-fields.ts'
import type { ServerStatement } from '../../../schemas/entry-parts.ts'
import { Failure } from '../../../schemas/failure.ts'
import { presentFields } from '../../../schemas/json.ts'
import { placeholdersIn } from '../../../schemas/placeholders.ts'
import { missingFields, Publication } from '../../../schemas/publication.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { input } from '../../../schemas/shape.ts'
import type { Finding } from '../../../schemas/trust.ts'
import type { Validation, ValidationRequest } from '../../../schemas/validation.ts'
import { jsonBytes } from '../../common/json.ts'
import type { Reader } from '../../store/store.ts'
import { usable } from '../capabilities/reading.ts'
import { error, info, readFindings, warning } from '../cards/card-findings.ts'
import { type FetchCard, maxManifestBytes } from '../cards/fetch-card.ts'
import type { Manifest } from '../cards/manifest.ts'
import { entryBytes, maxEntryBytes } from '../entry/entry-size.ts'
import { assertFree, assertMayCreate, isReservedFor, namespacesOver } from '../entry/name-rules.ts'
import { mayRead } from '../entry/permissions.ts'
import { cardName } from '../import/read-line.ts'

type Validate = (
  request: ValidationRequest,
  caller: Principal | null,
  signal: AbortSignal,
) => Promise<Validation>

/** Validates a card or a publication without writing anything. A caller also learns whether the name is free. */
export function createValidator(fetchCard: FetchCard, reader: Pick<Reader, 'entry' | 'claims'>): Validate {
  return async ({ manifest_url, card, publication }, caller, signal) => {
    if (card) return isFetchable(card) ? ofCard(card) : unfetchable
    if (publication) {
      const whole = await ofWhole(ofPublication(publication, caller), caller, fetchCard, signal)
      return caller ? await withNameFinding(whole, caller, reader) : whole
    }
    if (!caller) throw Failure.needsToken('Fetching a manifest needs a bearer token.')
    if (manifest_url === undefined)
      throw new Failure('invalid_request', 'Give a card, a manifest_url or a publication to validate.')
    return await withNameFinding(await ofUrl(manifest_url, fetchCard, signal), caller, reader)
  }
}

/** With the reason for which the caller may not take the name, other than a name that resembles it. */
async function withNameFinding(
  validation: Validation,
  caller: Principal,
  reader: Pick<Reader, 'entry' | 'claims'>,
): Promise<Validation> {
  const name = validation.publication?.package_name ?? validation.preview?.package_name
  if (!validation.valid || !name) return validation
  const [entry, claims] = await Promise.all([
    reader.entry({ package_name: name }),
    reader.claims(namespacesOver(name)),
  ])
  if (entry && !entry.deleted && mayRead(caller, entry))
    return { ...validation, findings: [...validation.findings, ownName(name)] }
  try {
    assertMayCreate(caller, name, claims)
    assertFree(entry, name, caller, claims)
    return validation
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    const finding = error(
      'name_taken',
      '/package_name',
      thrown.message,
      thrown.details.hint ?? 'Choose another name.',
    )
    return { ...validation, valid: false, findings: [finding, ...validation.findings] }
  }
}

function ownName(name: string): Finding {
  const message = `You have an agent ${name} already.`
  return info('own_name', '/package_name', message, 'To change it, use update in place of publish.')
}

/** False for a card that is too large to be read at its URL. */
function isFetchable(card: Record<string, unknown>): boolean {
  return jsonBytes(card) <= maxManifestBytes
}

const nothing = { preview: null, publication: null, card_sha256: null } as const

const unfetchable: Validation = {
  valid: false,
  form: null,
  findings: [error('too_large', '', `A card is read up to ${maxManifestBytes} bytes.`, 'Make it smaller.')],
  preview: null,
  publication: null,
  card_sha256: null,
}

async function ofUrl(manifestUrl: string, fetchCard: FetchCard, signal: AbortSignal): Promise<Validation> {
  try {
    const { document, sha256, server } = await fetchCard(manifestUrl, signal)
    if (server) return withName(ofServer(document, server, manifestUrl))
    return withName({ ...ofCard(document, manifestUrl), card_sha256: sha256 })
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.code === 'cancelled') throw thrown
    const { code, message } = thrown
    const finding = error(code, '', message, thrown.details.hint ?? 'Serve the card as JSON at this address.')
    return { valid: false, form: null, findings: [finding], ...nothing }
  }
}

/** Says that the publication needs a name where neither the card nor its address gives one. */
function withName(validation: Validation): Validation {
  const { preview, findings } = validation
  if (preview?.package_name !== null) return validation
  const unnamed = warning(
    'missing_field',
    '/package_name',
    'Its address names no domain from which a name can be made.',
    'State a package_name, such as com.example.weather, when you publish it.',
  )
  return { ...validation, findings: [...findings, unnamed] }
}

function ofServer(document: unknown, server: ServerStatement, url: string): Validation {
  const { manifest, findings: refused } = readFindings(document)
  const { capabilities, findings } = usable(server)
  const all = [...refused.filter(({ severity }) => severity === 'error'), ...findings]
  return {
    valid: isSound(all),
    form: 'mcp',
    findings: all,
    ...shown(manifest && { ...manifest, capabilities }, url),
  }
}

function ofCard(document: unknown, manifestUrl?: string): Validation {
  const { form, manifest, findings } = readFindings(document, manifestUrl)
  return {
    valid: isSound(findings),
    form,
    findings,
    ...shown(manifest, manifestUrl),
  }
}

const shape = input(Publication)

function ofPublication(publication: Record<string, unknown>, caller: Principal | null): Validation {
  try {
    const stated = shape.parse(publication)
    const findings = [...lacks(stated), ...unfilled(stated), ...reserved(stated, caller), ...tooLarge(stated)]
    const isValid = isSound(findings)
    return { ...nothing, valid: isValid, form: null, findings, publication: isValid ? stated : null }
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    const { errors = [], nearest } = thrown.details
    const suggestion = nearest ? `Did you mean ${nearest.join(', ')}?` : null
    const findings = errors.map(({ pointer, detail }) => error('invalid_field', pointer, detail, suggestion))
    return { valid: false, form: null, findings, ...nothing }
  }
}

/** With the card of a publication that leaves the name or the description to it, which `publish` reads too. */
async function ofWhole(
  stated: Validation,
  caller: Principal | null,
  fetchCard: FetchCard,
  signal: AbortSignal,
): Promise<Validation> {
  const { publication, findings } = stated
  if (!publication?.manifest_url) return stated
  const { manifest_url, name, description, package_name } = publication
  if (name !== undefined && description !== undefined) return stated
  if (!caller) return { ...stated, findings: [...findings, unread] }
  const read = await ofUrl(manifest_url, fetchCard, signal)
  const unnamed = (finding: Finding) => finding.code === 'missing_field' && finding.field === '/package_name'
  const all = read.findings.flatMap((finding) => {
    if (!unnamed(finding)) return [finding]
    return package_name === undefined ? [{ ...finding, severity: 'error' as const }] : []
  })
  const isValid = isSound(all)
  return {
    ...read,
    valid: isValid,
    findings: [...findings, ...all],
    publication: isValid ? publication : null,
  }
}

const unread = info(
  'unread_card',
  '/manifest_url',
  'The card at this address was not read.',
  'Sign in to have it read.',
)

function lacks(publication: Publication): Finding[] {
  if (publication.manifest_url !== undefined) return []
  return missingFields(publication).map((field) =>
    error(
      'missing_field',
      `/${field}`,
      'Without a manifest it must be stated.',
      `Add ${field === 'capabilities' ? 'capabilities, endpoints, packages' : field}, or manifest_url.`,
    ),
  )
}

function unfilled(publication: Publication): Finding[] {
  return placeholdersIn(publication).map((pointer) =>
    error('placeholder', pointer, 'This is the text that `dragoman init` wrote.', 'Write your own.'),
  )
}

function reserved({ package_name }: Publication, caller: Principal | null): Finding[] {
  if (package_name === undefined || !isReservedFor(caller, package_name)) return []
  const message = 'This name cannot be taken: it is one segment, a public suffix or a word of paths.'
  return [error('reserved_name', '/package_name', message, 'Choose a name such as com.example.weather.')]
}

/** As a new agent without a card of its own. */
function tooLarge({
  package_name = '',
  name = '',
  description = '',
  ...publication
}: Publication): Finding[] {
  const fields = { ...initialValues, ...presentFields(publication), package_name, name, description }
  const bytes = entryBytes({ ...fields, card: null, hosted: false, source_url: null, deprecated: null })
  if (bytes <= maxEntryBytes) return []
  const message = `The agent would be ${bytes} bytes; an entry has at most ${maxEntryBytes}.`
  return [error('too_large', '', message, 'Shorten the input schemas and the descriptions.')]
}

function isSound(findings: readonly Finding[]): boolean {
  return findings.every(({ severity }) => severity !== 'error')
}

/** How the agent of a card would be listed, and the request that lists it. */
function shown(manifest: Manifest | null, manifestUrl: string | undefined) {
  if (!manifest) return nothing
  const preview = previewOf(manifest, manifestUrl)
  const { card: _, package_name = preview.package_name, ...facts } = manifest
  const named = package_name !== null && { package_name }
  return {
    preview,
    publication: manifestUrl === undefined ? { ...facts, ...named } : { manifest_url: manifestUrl, ...named },
    card_sha256: null,
  }
}

function previewOf(manifest: Manifest, manifestUrl: string | undefined): NonNullable<Validation['preview']> {
  const { name, description, version, tags, capabilities, endpoints } = manifest
  const derived = manifestUrl === undefined ? undefined : cardName(manifestUrl, name)
  return {
    package_name: manifest.package_name ?? derived ?? null,
    name,
    description,
    version,
    tags,
    capabilities: capabilities.map((capability) => capability.name),
    endpoints: endpoints.map((endpoint) => endpoint.url),
  }
}

import { isDeepStrictEqual } from 'node:util'
import { initialValues, type PublishedField } from '../../../schemas/entry-fields.ts'
import { Failure } from '../../../schemas/failure.ts'
import { presentFields } from '../../../schemas/json.ts'
import { PackageName } from '../../../schemas/names.ts'
import { placeholdersIn } from '../../../schemas/placeholders.ts'
import { missingFields, type Publication } from '../../../schemas/publication.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import { afterReading } from '../capabilities/reader.ts'
import { readEndpoint } from '../capabilities/reading.ts'
import type { FetchedCard } from '../cards/fetch-card.ts'
import { cardName } from '../import/read-line.ts'
import { asServer, notListable, withCard } from '../verification/refresh.ts'
import { afterMoving } from '../verification/verification-status.ts'

/** What a publication and its manifest say of a new entry. */
export type PublishedFacts = Pick<StoredEntry, PublishedField | 'card'>

/**
 * Checks the fields that a new entry or its manifest must state. Throws Failure `invalid_request` that names each
 * missing field.
 */
export function complete(
  facts: { [Name in keyof PublishedFacts]?: Exclude<PublishedFacts[Name], undefined> },
): PublishedFacts {
  const { name, description, manifest_url } = facts
  const package_name = facts.package_name ?? derivedFrom(manifest_url, name)
  const lacks = missingFields({ ...facts, package_name })
  if (lacks.length > 0 || package_name === undefined || name === undefined || description === undefined) {
    const isUnnamed = manifest_url && lacks.length === 1 && package_name === undefined
    throw new Failure('invalid_request', `A new agent needs ${lacks.join(', ')}.`, {
      errors: lacks.map((field) => ({ pointer: `/${field}`, detail: 'This field is required.' })),
      hint: isUnnamed
        ? 'The URL of the card names no domain from which a name can be made: state a package_name, such as com.example.weather.'
        : 'Give manifest_url; or a name, a description, and at least one of capabilities, endpoints and packages.',
    })
  }
  return { ...initialValues, card: null, ...facts, package_name, name, description }
}

/** True if a check has something to read: a card, or the tools of an MCP server. */
export function isChecked(entry: StoredEntry): boolean {
  return entry.manifest_url !== null || readEndpoint(entry) !== undefined
}

/** A new entry with the content of its manifest. */
export function described(entry: StoredEntry, fetched: FetchedCard): StoredEntry {
  const { server } = fetched
  if (!server) return assertListable(withCard(entry, fetched, entry.created_at))
  const answered = { answer: server, kind: 'open' } as const
  return afterReading(asServer(entry, entry.manifest_url), answered, entry.created_at)
}

/** Throws Failure `upstream_invalid` if the entry's card is invalid for its package name. */
function assertListable(entry: StoredEntry): StoredEntry {
  if (entry.manifest?.status !== 'invalid') return entry
  throw notListable(entry.manifest.findings)
}

function derivedFrom(manifestUrl: string | null | undefined, name: string | undefined): string | undefined {
  if (!manifestUrl || name === undefined) return undefined
  return PackageName.safeParse(cardName(manifestUrl, name)).data
}

/** Throws Failure `invalid_request` that names each field which still has the text of `dragoman init`. */
export function assertFilledIn(publication: Publication): void {
  const pointers = placeholdersIn(publication)
  if (pointers.length === 0) return
  const fields = pointers.map((pointer) => pointer.slice(1)).join(', ')
  throw new Failure('invalid_request', `These fields are not filled in: ${fields}.`, {
    errors: pointers.map((pointer) => ({ pointer, detail: 'This is the text that `dragoman init` wrote.' })),
    hint: 'Write your own text and address there.',
  })
}

/**
 * A stated field takes precedence over the manifest from now on. A new manifest URL discards the card of the old one.
 * Returns the same entry if it states all of the publication already.
 */
export function updated(entry: StoredEntry, publication: Publication, at: string): StoredEntry {
  const { capabilities, ...others } = presentFields(publication)
  // An empty list asks to follow the server, which an entry that does so is not asked twice.
  const isFollowing = capabilities?.length === 0 && entry.reading?.lists === true
  const values = { ...others, ...(capabilities && !isFollowing && { capabilities }) }
  // The source of an unowned entry states all fields except those that an admin corrects.
  const before = entry.stated ?? (entry.owner ? null : [])
  const statedFields = before && [...new Set([...before, ...Object.keys(values)])]
  const statesNoMore = entry.owner !== null && statedFields?.length === before?.length
  if (statesNoMore && isDeepStrictEqual({ ...entry, ...values }, entry)) return entry
  const { manifest_url } = values
  const moves = manifest_url !== undefined && manifest_url !== entry.manifest_url
  const unread = { card: null, card_sha256: null, manifest: null, signature: null, check_at: at }
  // The document of an agent with an owner no longer says what its owner states.
  const server = entry.owner === null ? entry.server : null
  const next = { ...entry, ...(moves && unread), ...values, server, stated: statedFields }
  return withNewEndpoint(entry, moves ? afterMoving(next) : next, at)
}

/** What the owner states replaces what was read; a server at a new address is read at once. */
export function withNewEndpoint(before: StoredEntry, after: StoredEntry, at: string): StoredEntry {
  const { capabilities, reading } = after
  const isStated = capabilities !== before.capabilities && capabilities.length > 0
  const next = { ...after, reading: reading && { ...reading, lists: reading.lists && !isStated } }
  const isSame = isDeepStrictEqual(before.endpoints, after.endpoints)
  if (isSame && capabilities === before.capabilities) return next
  const isRead = after.owner !== null && readEndpoint(after) !== undefined
  return { ...next, access: isSame ? after.access : null, check_at: isRead ? at : after.check_at }
}

export function assertSameName(entry: StoredEntry, packageName: string | undefined): void {
  if (packageName === undefined || packageName === entry.package_name) return
  throw new Failure('conflict', 'A name cannot be changed.', {
    errors: [{ pointer: '/package_name', detail: `It is ${entry.package_name}.` }],
    hint: 'Publish it under the new name, then deprecate this entry with that name as its successor.',
  })
}

import { hash } from 'node:crypto'
import { mapFields, publishedFields } from '../../../schemas/entry-fields.ts'
import { orderedText } from '../../../schemas/json.ts'
import type { VersionTable } from '../sql/tables.ts'
import { StoredEntry } from '../stored-entry.ts'
import { precedenceOf } from './semver-sort-key.ts'

/** The fields that the publisher of an entry states. A version consists of these fields. */
export const Content = StoredEntry.pick({
  ...mapFields(publishedFields, () => true as const),
  source_url: true,
  card: true,
  server: true,
})

const fields = Object.keys(Content.shape) as (keyof typeof Content.shape)[]

/**
 * Format of the digests that `digestOf` computes. Format 1 hashed `null` for each absent field, so a digest depended
 * on the list of fields at that time. A change of `digestOf` takes the next number and a migration.
 */
export const digestFormat = 2

type Listing = Pick<StoredEntry, 'state' | 'suspended' | 'deleted'>

/** True for a public entry. */
export function isListed({ state, suspended, deleted }: Listing): boolean {
  return state === 'ACTIVE' && !suspended && !deleted
}

/** SHA-256, in hex, of the content of an entry. */
export function contentDigest(entry: Readonly<Record<string, unknown>>): string {
  return digestOf(contentOf(entry))
}

/**
 * SHA-256, in hex, of content, whatever the order of its keys. Absent fields are left out, so that a field added to
 * the code later does not change the digests of older content.
 */
export function digestOf(content: Readonly<Record<string, unknown>>): string {
  const present = Object.entries(content).filter(([, value]) => !isAbsent(value))
  return hash('sha256', orderedText(Object.fromEntries(present)), 'hex')
}

/** The digest of a stored version. Its content is read only if the stored digest has another format. */
export function storedDigest(sha256: string, contentOfOtherFormat: string | null): string {
  return contentOfOtherFormat === null ? sha256 : digestOf(JSON.parse(contentOfOtherFormat))
}

/** The row of an entry's version, published at a revision. */
export function versionRow(
  entry: Pick<StoredEntry, 'id' | 'version'> & Readonly<Record<string, unknown>>,
  revision: number,
  at: string,
): VersionTable {
  const { id, version } = entry
  return {
    entry_id: id,
    revision,
    version,
    precedence: precedenceOf(version),
    published_at: at,
    sha256: contentDigest(entry),
    digest_format: digestFormat,
    document: JSON.stringify(contentOf(entry)),
  }
}

function contentOf(entry: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(fields.map((field) => [field, entry[field] ?? null]))
}

/** An empty list is absent too: a list field that a document lacks is read as `[]`. */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0)
}

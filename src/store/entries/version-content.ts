import { hash } from 'node:crypto'
import { orderedText } from '../../../schemas/json.ts'
import type { VersionTable } from '../sql/tables.ts'
import { StoredEntry } from '../store.ts'
import { precedenceOf } from './semver-sort-key.ts'

/** What of an entry its publisher says, which versions are made of. */
export const Content = StoredEntry.pick({
  package_name: true,
  name: true,
  description: true,
  manifest_url: true,
  tags: true,
  category: true,
  target: true,
  version: true,
  capabilities: true,
  endpoints: true,
  packages: true,
  source_url: true,
  card: true,
})

const fields = Object.keys(Content.shape) as (keyof typeof Content.shape)[]

export type Listing = Pick<StoredEntry, 'state' | 'suspended' | 'deleted'>

/** Whether everybody may see it. */
export function isListed({ state, suspended, deleted }: Listing): boolean {
  return state === 'ACTIVE' && !suspended && !deleted
}

/** SHA-256, in hex, of what an entry says, in whichever order its keys stand. */
export function contentDigest(entry: Readonly<Record<string, unknown>>): string {
  return hash('sha256', orderedText(contentOf(entry)), 'hex')
}

/** The version that an entry is, as it was published at a revision. */
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
    document: JSON.stringify(contentOf(entry)),
  }
}

function contentOf(entry: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(fields.map((field) => [field, entry[field] ?? null]))
}

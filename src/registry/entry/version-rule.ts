import { Failure } from '../../../schemas/failure.ts'
import { contentDigest } from '../../store/entries/version-content.ts'
import type { DecisionReads } from '../../store/store.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'

/**
 * A version that its owner states is immutable, as in the official MCP registry. Throws Failure `conflict` if this
 * change publishes other content under a version that was published before. Entries whose version follows a manifest
 * or a server, or that have none, may change, also with the change that states the present version.
 */
export async function assertNewVersion(
  reads: Pick<DecisionReads, 'published'>,
  before: StoredEntry,
  after: StoredEntry,
): Promise<void> {
  const { id, package_name, version, state, deleted } = after
  if (state !== 'ACTIVE' || deleted || version === null || !statesVersion(after)) return
  const digest = contentDigest(after)
  if (before.state === 'ACTIVE' && contentDigest(before) === digest) return
  if (!before.deleted && before.version === version && !statesVersion(before)) return
  const published = await reads.published(id, version)
  if (published.length === 0 || published.includes(digest)) return
  throw new Failure('conflict', `${package_name} ${version} was published with other content.`, {
    hint: 'A published version is immutable: give the change a new version.',
  })
}

/** Null means that the owner stated all fields. */
function statesVersion({ stated, owner }: StoredEntry): boolean {
  return stated === null ? owner !== null : stated.includes('version')
}

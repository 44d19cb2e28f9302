import { Failure } from '../../../schemas/failure.ts'
import { contentDigest } from '../../store/entries/version-content.ts'
import type { DecisionReads, StoredEntry } from '../../store/store.ts'

/**
 * A version that its owner states means one thing for ever, as in the official MCP registry. Throws Failure `conflict`
 * where what is published by this change is not what was published under the version before; what follows a
 * manifest, or states no version, changes freely.
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
  const published = await reads.published(id, version)
  if (published.length === 0 || published.includes(digest)) return
  throw new Failure('conflict', `${package_name} ${version} was published with other content.`, {
    hint: 'What was published under a version stays: give the change a version of its own.',
  })
}

/** Null: its owner stated all of it. */
function statesVersion({ stated, owner }: StoredEntry): boolean {
  return stated === null ? owner !== null : stated.includes('version')
}

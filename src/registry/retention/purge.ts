import { Failure } from '../../../schemas/failure.ts'
import type { PurgeInput } from '../../../schemas/moderation.ts'
import type { Principal } from '../../../schemas/scope.ts'
import type { Store } from '../../store/store.ts'
import { isAdmin } from '../entry/permissions.ts'
import { toReference } from '../entry/reference.ts'
import { textHashes } from '../indexing/vector-feed.ts'

interface PurgeOptions {
  readonly store: Store
  readonly clock: () => number
  /** Resolves once the indexes of this process have applied a revision. */
  readonly applied: (revision: number) => Promise<void>
  /** Writes the snapshots of the indexes anew. */
  readonly saveSnapshots: () => Promise<void>
}

/**
 * Removes an agent from every table, index and snapshot, for admins. First the agent is deleted as its owner would do
 * it, so that other processes and followers learn that it is gone.
 */
export function createPurge({ store, clock, applied, saveSnapshots }: PurgeOptions) {
  return async ({ agent, reason }: PurgeInput, caller: Principal | null): Promise<{ id: string }> => {
    if (!caller || !isAdmin(caller)) {
      throw new Failure('forbidden', 'Purging needs admin.', { scope: 'admin' })
    }
    const action = { actor: caller, action: 'purge', reason }
    let hashes: readonly string[] = []
    const { entry, revision } = await store.change(async (reads) => {
      const before = await reads.entry(toReference(agent))
      if (!before) throw new Failure('not_found', `The registry has no entry ${agent}.`)
      if (before.hosted) {
        throw new Failure('hosted_agent', `${before.package_name} is hosted by this gateway.`)
      }
      hashes = textHashes(before)
      const updated_at = new Date(clock()).toISOString()
      return { before, entry: { ...before, deleted: true, updated_at }, audit: action }
    })
    await applied(revision)
    await store.retention.purge(entry, hashes, action)
    await saveSnapshots()
    return { id: entry.id }
  }
}

import type { KyselyPlugin } from 'kysely'
import { chunksOf } from '../../common/chunks.ts'
import { commitPuts } from '../entries/group-commit/commit.ts'
import { pruneUsage } from '../entries/usage.ts'
import type { RetentionBounds, RetentionStore } from '../record-stores.ts'
import { changeRows } from '../sql/row-counts.ts'
import { type Database, maxRowsPerStatement } from '../sql/tables.ts'
import type { Transact } from '../sql/transaction.ts'
import { pruneAudit } from './prune-audit.ts'
import { pruneChanges, prunedRevision } from './prune-changes.ts'
import { pruneVersions } from './prune-versions.ts'
import { eraseEntries, eraseVectors, removeEntries, removeMentions } from './remove-entries.ts'
import { removeSessions } from './sessions.ts'
import { isExpired } from './tasks.ts'

/** Deletes rows in batches, each in a transaction of its own, so that no writer waits long. */
export function createRetentionStore(
  plainReader: Database,
  plainTransact: Transact,
  clock: () => number,
  vacuum: () => Promise<void>,
): RetentionStore {
  /** The reader and the transactions, which throw the reason of the signal instead of a statement once it has aborted. */
  function until(signal: AbortSignal | undefined): [Database, Transact] {
    if (!signal) return [plainReader, plainTransact]
    const check: KyselyPlugin = {
      transformQuery({ node }) {
        signal.throwIfAborted()
        return node
      },
      transformResult: async ({ result }) => result,
    }
    const transact: Transact = async (work) => {
      signal.throwIfAborted()
      return await plainTransact(work)
    }
    return [plainReader.withPlugin(check), transact]
  }

  return {
    async prune(bounds, signal) {
      const [reader, transact] = until(signal)
      await pruneExpired(transact, bounds.now)
      const counts = {
        versions: await pruneVersions(reader, transact, bounds),
        audit: await pruneAudit(reader, transact, bounds),
        deleted: await pruneDeleted(reader, transact, bounds),
        changes: await pruneChanges(reader, transact, bounds.changes),
        liveness: await pruneDays(transact, bounds.liveness),
      }
      return counts
    },

    prunedRevision: () => prunedRevision(plainReader),

    async pruneEmbeddings(isUsed, signal) {
      const [reader, transact] = until(signal)
      let count = 0
      let last = { model: '', content_hash: '' }
      for (;;) {
        const { model, content_hash } = last
        const rows = await reader
          .selectFrom('embedding')
          .select(['model', 'content_hash'])
          .where(({ eb, refTuple, tuple }) =>
            eb(refTuple('model', 'content_hash'), '>', tuple(model, content_hash)),
          )
          .orderBy('model')
          .orderBy('content_hash')
          .limit(maxRowsPerStatement)
          .execute()
        const unused = rows.filter((row) => !isUsed(row.content_hash, row.model))
        for (const [name, those] of Map.groupBy(unused, (row) => row.model)) {
          const hashes = those.map((row) => row.content_hash)
          count += await transact((db) =>
            changeRows(
              db.deleteFrom('embedding').where('model', '=', name).where('content_hash', 'in', hashes),
            ),
          )
        }
        const end = rows.at(-1)
        if (!end) return count
        last = end
      }
    },

    async purge(entry, hashes, action) {
      await plainTransact(async (db, finish) => {
        const at = new Date(clock()).toISOString()
        await eraseEntries(db, [entry.id], hashes, at)
        await removeMentions(db, [entry.id, entry.package_name])
        await commitPuts(db, finish, [], [{ entry_id: entry.id, audit: action }], at)
      })
      await vacuum()
    },

    async erase(entryIds, hashes) {
      await plainTransact(async (db) => {
        const at = new Date(clock()).toISOString()
        for (const ids of chunksOf(entryIds, maxRowsPerStatement)) await eraseEntries(db, ids, [], at)
        await eraseVectors(db, hashes)
      })
    },

    vacuum,
  }
}

/** Rows that have a time of their own at which they end. */
async function pruneExpired(transact: Transact, now: number): Promise<void> {
  const at = new Date(now).toISOString()
  await transact(async (db) => {
    const sessions = db.selectFrom('playground_session').select('id').where('expires_at', '<=', at)
    await removeSessions(db, await sessions.execute())
    await db.deleteFrom('task').where(isExpired(at)).execute()
    await db.deleteFrom('repeat').where('expires_at', '<=', now).execute()
    await db.deleteFrom('revocation').where('expires_at', '<=', now).execute()
    await db.deleteFrom('api_key').where('expires_at', '<=', now).execute()
    await db.deleteFrom('sign_in').where('expires_at', '<=', now).execute()
    await db.deleteFrom('lease').where('until', '<=', at).execute()
    await pruneUsage(db, at)
  })
}

async function pruneDays(transact: Transact, before: number): Promise<number> {
  return await transact(async (db) => {
    const probes = await changeRows(db.deleteFrom('liveness_day').where('day', '<', before))
    return probes + (await changeRows(db.deleteFrom('call_day').where('day', '<', before)))
  })
}

/** Removes entries that were deleted long ago: their names are free from then on. A suspended one stays. */
async function pruneDeleted(
  reader: Database,
  transact: Transact,
  { deleted: before, now }: RetentionBounds,
): Promise<number> {
  const at = new Date(now).toISOString()
  let count = 0
  for (let last = ''; ; ) {
    // Not `where listed = 0`: nearly all are listed, and one statement would pass over them all.
    const rows = await reader
      .selectFrom('entry')
      .select((row) => [
        'id',
        row.case().when('listed', '=', 0).then(row.ref('document')).end().as('document'),
      ])
      .where('id', '>', last)
      .orderBy('id')
      .limit(maxRowsPerStatement)
      .execute()
    const old = rows.filter(({ document }) => isOldTombstone(document, before)).map(({ id }) => id)
    if (old.length > 0) await transact((db) => removeEntries(db, old, at))
    count += old.length
    const end = rows.at(-1)
    if (!end) return count
    last = end.id
  }
}

function isOldTombstone(document: string | null, before: string): boolean {
  if (document === null) return false
  try {
    const { deleted, suspended, updated_at } = JSON.parse(document)
    return deleted === true && !suspended && updated_at < before
  } catch {
    return false
  }
}

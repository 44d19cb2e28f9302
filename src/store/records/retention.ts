import type { Kysely, KyselyPlugin } from 'kysely'
import { chunksOf } from '../../common/chunks.ts'
import { commitPuts } from '../entries/group-commit/commit.ts'
import { addUsage, deltasOf, uncounted } from '../entries/usage.ts'
import { digestFormat, storedDigest } from '../entries/version-content.ts'
import { contains } from '../sql/contains.ts'
import { maxRowsPerStatement, type Tables } from '../sql/tables.ts'
import type { Transact } from '../sql/transaction.ts'
import type { RetentionBounds, RetentionStore } from '../store.ts'
import { pruneChanges, prunedRevision } from './prune-changes.ts'
import { removeSessions } from './sessions.ts'

type Database = Kysely<Tables>

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
        const unused = rows.filter((row) => !isUsed(row.content_hash))
        if (unused.length > 0) {
          const models = [...new Set(unused.map((row) => row.model))]
          const hashes = unused.map((row) => row.content_hash)
          const { numDeletedRows } = await transact((db) =>
            db
              .deleteFrom('embedding')
              .where('model', 'in', models)
              .where('content_hash', 'in', hashes)
              .executeTakeFirstOrThrow(),
          )
          count += Number(numDeletedRows)
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

async function eraseEntries(
  db: Database,
  ids: readonly string[],
  hashes: readonly string[],
  at: string,
): Promise<void> {
  await removeEntries(db, ids, at)
  await db.deleteFrom('audit').where('entry_id', 'in', ids).execute()
  await eraseVectors(db, hashes)
}

async function eraseVectors(db: Database, hashes: readonly string[]): Promise<void> {
  for (const chunk of chunksOf(hashes, maxRowsPerStatement)) {
    await db.deleteFrom('embedding').where('content_hash', 'in', chunk).execute()
  }
}

/** Results of calls that are kept for a while, where they hold one of these texts. */
async function removeMentions(db: Database, texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    const sessions = db.selectFrom('playground_step').select('session').where(contains('document', text))
    const rows = await sessions.distinct().execute()
    await removeSessions(
      db,
      rows.map(({ session }) => session),
    )
    await db.deleteFrom('task').where(contains('document', text)).execute()
    await db.deleteFrom('repeat').where(contains('output', text)).execute()
  }
}

/** Rows that have a time of their own at which they end. */
async function pruneExpired(transact: Transact, now: number): Promise<void> {
  const at = new Date(now).toISOString()
  await transact(async (db) => {
    const sessions = await db
      .selectFrom('playground_session')
      .select('id')
      .where('expires_at', '<=', at)
      .execute()
    await removeSessions(
      db,
      sessions.map(({ id }) => id),
    )
    await db.deleteFrom('task').where('expires_at', '<=', at).execute()
    await db.deleteFrom('repeat').where('expires_at', '<=', now).execute()
    await db.deleteFrom('revocation').where('expires_at', '<=', now).execute()
    await db.deleteFrom('api_key').where('expires_at', '<=', now).execute()
    await db.deleteFrom('sign_in').where('expires_at', '<=', now).execute()
    await db.deleteFrom('lease').where('until', '<=', at).execute()
  })
}

/**
 * The newest version of an entry always stays. Of older ones, the text of a stated version goes when it is too old: its
 * row keeps the digest, so that nobody publishes other content under that version. The row of a version without a
 * version string goes when it is too old or one too many.
 */
async function pruneVersions(
  reader: Database,
  transact: Transact,
  { versions: before, max_versions }: RetentionBounds,
): Promise<number> {
  let count = 0
  for (let last = ''; ; ) {
    const entries = await reader
      .selectFrom('version')
      .select(['entry_id', ({ fn }) => fn.countAll<number>().as('total')])
      .where('entry_id', '>', last)
      .groupBy('entry_id')
      .orderBy('entry_id')
      .limit(maxRowsPerStatement)
      .execute()
    for (const { entry_id, total } of entries) {
      if (Number(total) > 1) count += await pruneVersionsOf(reader, transact, entry_id, before, max_versions)
    }
    const end = entries.at(-1)
    if (!end) return count
    last = end.entry_id
  }
}

async function pruneVersionsOf(
  reader: Database,
  transact: Transact,
  entryId: string,
  before: string,
  max: number,
): Promise<number> {
  const rows = await reader
    .selectFrom('version')
    .select(['revision', 'version', 'published_at', ({ eb }) => eb('document', '=', '').as('empty')])
    .where('entry_id', '=', entryId)
    .orderBy('revision', 'desc')
    .execute()
  const older = rows.slice(1).map((row, index) => ({ ...row, place: index + 2 }))
  const gone = older.filter(
    ({ version, published_at, place }) => version === null && (published_at < before || place > max),
  )
  const emptied = older.filter(
    ({ version, published_at, empty }) => version !== null && published_at < before && !empty,
  )
  if (gone.length + emptied.length === 0) return 0
  await transact(async (db) => {
    const revisions = (those: readonly { readonly revision: number }[]) =>
      those.map(({ revision }) => revision)
    if (gone.length > 0) {
      await db
        .deleteFrom('version')
        .where('entry_id', '=', entryId)
        .where('revision', 'in', revisions(gone))
        .execute()
    }
    await removeServers(db, entryId, revisions([...gone, ...emptied]))
    for (const revision of revisions(emptied)) await emptyVersion(db, entryId, revision)
  })
  return gone.length + emptied.length
}

/** A version without its text is listed no more; the latest one has its text. */
async function removeServers(db: Database, entryId: string, revisions: readonly number[]): Promise<void> {
  await db
    .deleteFrom('server')
    .where('entry_id', '=', entryId)
    .where('revision', 'in', revisions)
    .where('is_latest', '=', 0)
    .execute()
}

async function emptyVersion(db: Database, entryId: string, revision: number): Promise<void> {
  const { sha256, digest_format, document } = await db
    .selectFrom('version')
    .select(['sha256', 'digest_format', 'document'])
    .where('entry_id', '=', entryId)
    .where('revision', '=', revision)
    .executeTakeFirstOrThrow()
  await db
    .updateTable('version')
    .set({
      sha256: storedDigest(sha256, digest_format === digestFormat ? null : document),
      digest_format: digestFormat,
      document: '',
    })
    .where('entry_id', '=', entryId)
    .where('revision', '=', revision)
    .execute()
}

async function pruneAudit(
  reader: Database,
  transact: Transact,
  { audit: before, max_audit }: RetentionBounds,
): Promise<number> {
  const longLogs = await reader
    .selectFrom('audit')
    .select('entry_id')
    .groupBy('entry_id')
    .having(({ fn }) => fn.countAll(), '>', max_audit)
    .execute()
  let excess = 0
  for (const { entry_id } of longLogs) excess += await pruneAuditOf(transact, entry_id, max_audit)
  return excess + (await pruneOldAudit(transact, before))
}

/** Removes all but the newest events of one entry. */
async function pruneAuditOf(transact: Transact, entryId: string, max: number): Promise<number> {
  return await transact(async (db) => {
    const last = await db
      .selectFrom('audit')
      .select('id')
      .where('entry_id', '=', entryId)
      .orderBy('id', 'desc')
      .limit(1)
      .offset(max)
      .executeTakeFirst()
    if (!last) return 0
    const { numDeletedRows } = await db
      .deleteFrom('audit')
      .where('entry_id', '=', entryId)
      .where('id', '<=', last.id)
      .executeTakeFirst()
    return Number(numDeletedRows)
  })
}

async function pruneOldAudit(transact: Transact, before: string): Promise<number> {
  for (let count = 0; ; ) {
    const deleted = await transact(async (db) => {
      const old = db.selectFrom('audit').select('id').where('at', '<', before).orderBy('id')
      const ids = (await old.limit(maxRowsPerStatement).execute()).map(({ id }) => id)
      if (ids.length > 0) await db.deleteFrom('audit').where('id', 'in', ids).execute()
      return ids.length
    })
    count += deleted
    if (deleted < maxRowsPerStatement) return count
  }
}

async function pruneDays(transact: Transact, before: number): Promise<number> {
  return await transact(async (db) => {
    const liveness = await db.deleteFrom('liveness_day').where('day', '<', before).executeTakeFirst()
    const calls = await db.deleteFrom('call_day').where('day', '<', before).executeTakeFirst()
    return Number(liveness.numDeletedRows + calls.numDeletedRows)
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
    const rows = await reader
      .selectFrom('entry')
      .select(['id', 'document'])
      .where('listed', '=', 0)
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

function isOldTombstone(document: string, before: string): boolean {
  try {
    const { deleted, suspended, updated_at } = JSON.parse(document)
    return deleted === true && !suspended && updated_at < before
  } catch {
    return false
  }
}

/** The rows of entries in every table but the logs, and what is counted for them. */
async function removeEntries(db: Database, ids: readonly string[], at: string): Promise<void> {
  const rows = await db
    .selectFrom('entry')
    .select(['account', 'staged', 'bytes'])
    .where('id', 'in', ids)
    .execute()
  await addUsage(
    db,
    rows.flatMap((row) => deltasOf(row, uncounted, false)),
    at,
  )
  await db.deleteFrom('version').where('entry_id', 'in', ids).execute()
  await db.deleteFrom('server').where('entry_id', 'in', ids).execute()
  await db.deleteFrom('mirrored').where('entry_id', 'in', ids).execute()
  await db.deleteFrom('liveness').where('entry_id', 'in', ids).execute()
  await db.deleteFrom('liveness_day').where('entry_id', 'in', ids).execute()
  await db.deleteFrom('call_day').where('entry_id', 'in', ids).execute()
  await db.deleteFrom('credential').where('entry_id', 'in', ids).execute()
  await db.deleteFrom('approval').where('entry_id', 'in', ids).execute()
  await db.deleteFrom('entry').where('id', 'in', ids).execute()
}

import { chunksOf } from '../../common/chunks.ts'
import { addUsage, deltasOf, uncounted } from '../entries/usage.ts'
import { contains } from '../sql/contains.ts'
import { type Database, maxRowsPerStatement } from '../sql/tables.ts'
import { removeSessions } from './sessions.ts'

/** Removes entries from every table, also from the audit log, and vectors by the hash of their text. */
export async function eraseEntries(
  db: Database,
  ids: readonly string[],
  hashes: readonly string[],
  at: string,
): Promise<void> {
  await removeEntries(db, ids, at)
  await db.deleteFrom('audit').where('entry_id', 'in', ids).execute()
  await eraseVectors(db, hashes)
}

/** Removes the vectors of texts, by content hash. */
export async function eraseVectors(db: Database, hashes: readonly string[]): Promise<void> {
  for (const chunk of chunksOf(hashes, maxRowsPerStatement)) {
    await db.deleteFrom('embedding').where('content_hash', 'in', chunk).execute()
  }
}

/** Their rows name the entry in `entry_id`. */
const tablesOfEntries = [
  'version',
  'server',
  'mirrored',
  'liveness',
  'liveness_day',
  'call_day',
  'credential',
  'approval',
] as const

/** The rows of entries in every table but the logs, and what is counted for them. */
export async function removeEntries(db: Database, ids: readonly string[], at: string): Promise<void> {
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
  for (const table of tablesOfEntries) await db.deleteFrom(table).where('entry_id', 'in', ids).execute()
  await db.deleteFrom('entry').where('id', 'in', ids).execute()
}

/** Results of calls that are kept for a while, where they hold one of these texts. */
export async function removeMentions(db: Database, texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    const sessions = db
      .selectFrom('playground_step')
      .select('session as id')
      .where(contains('document', text))
    await removeSessions(db, await sessions.distinct().execute())
    await db.deleteFrom('task').where(contains('document', text)).execute()
    await db.deleteFrom('repeat').where(contains('output', text)).execute()
  }
}

import { digestFormat, storedDigest } from '../entries/version-content.ts'
import type { RetentionBounds } from '../record-stores.ts'
import { type Database, maxRowsPerStatement } from '../sql/tables.ts'
import type { Transact } from '../sql/transaction.ts'

/**
 * The newest version of an entry always stays. Of older ones, the text of a stated version goes when it is too old: its
 * row keeps the digest, so that nobody publishes other content under that version. The row of a version without a
 * version string goes when it is too old or one too many.
 */
export async function pruneVersions(
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
    .where((row) => row.and({ entry_id: entryId, revision }))
    .executeTakeFirstOrThrow()
  await db
    .updateTable('version')
    .set({
      sha256: storedDigest(sha256, digest_format === digestFormat ? null : document),
      digest_format: digestFormat,
      document: '',
    })
    .where((row) => row.and({ entry_id: entryId, revision }))
    .execute()
}

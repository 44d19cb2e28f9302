import { currentRevision } from '../sql/counter.ts'
import { type Database, maxRowsPerStatement } from '../sql/tables.ts'
import type { Transact } from '../sql/transaction.ts'
import type { StoreChange } from '../store.ts'

/** The counter of the last revision whose change is no longer in the log, and of which nothing later tells. */
const pruned = 'pruned'

/** The last revision whose change is no longer in the log; 0 if the log is whole. */
export async function prunedRevision(reader: Database): Promise<number> {
  const row = await reader.selectFrom('counter').select('value').where('name', '=', pruned).executeTakeFirst()
  return Number(row?.value ?? 0)
}

/**
 * Removes old changes that later ones of the same entry make superfluous, and those of entries that no longer exist.
 * Whoever reads the log from the beginning, or from any revision after the pruned one, still learns the newest state.
 */
export async function pruneChanges(reader: Database, transact: Transact, before: string): Promise<number> {
  const needed = createNeeded()
  const last = await currentRevision(reader)
  let count = 0
  for (let next = last + 1; ; ) {
    const rows = await reader
      .selectFrom('change')
      .selectAll()
      .where('revision', '<', next)
      .orderBy('revision', 'desc')
      .limit(maxRowsPerStatement)
      .execute()
    const end = rows.at(-1)
    if (!end) return count
    next = end.revision
    const ids = [...new Set(rows.map((row) => row.entry_id))]
    const found = await reader.selectFrom('entry').select('id').where('id', 'in', ids).execute()
    const existing = new Set(found.map(({ id }) => id))
    const isOld = ({ at, revision }: StoreChange) => at < before && revision < last
    const superfluous = rows.filter((row) => !needed(row) && isOld(row))
    const orphaned = rows.filter((row) => !existing.has(row.entry_id) && isOld(row))
    const gone = [...new Set([...superfluous, ...orphaned].map(({ revision }) => revision))]
    if (gone.length > 0) {
      await transact(async (db) => {
        await db.deleteFrom('change').where('revision', 'in', gone).execute()
        const highest = Math.max(0, ...orphaned.map(({ revision }) => revision))
        if (highest > 0) await raise(db, highest)
      })
    }
    count += gone.length
  }
}

/** For changes from the newest to the oldest: true for those that a reader of the log needs. */
function createNeeded(): (row: StoreChange) => boolean {
  const [states, shown, liveness] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const isFirst = (set: Set<string>, id: string) => !set.has(id) && Boolean(set.add(id))
  return ({ entry_id, kind, seen }) => {
    if (kind === 'liveness') return !states.has(entry_id) && isFirst(liveness, entry_id)
    const isNewest = isFirst(states, entry_id)
    return (seen !== 'unseen' && isFirst(shown, entry_id)) || isNewest
  }
}

async function raise(db: Database, value: number): Promise<void> {
  await db
    .insertInto('counter')
    .values({ name: pruned, value })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet({ value }).where('counter.value', '<', value),
    )
    .execute()
}

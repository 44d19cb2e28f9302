import {
  type Liveness,
  type LivenessStore,
  StoredLiveness,
  unseen,
  type Watch,
} from '../../../schemas/liveness.ts'
import { chunksOf } from '../../common/chunks.ts'
import { dateOfDay } from '../../common/days.ts'
import { currentRevision, nextCounterValues } from '../sql/counter.ts'
import { dueRows } from '../sql/due-rows.ts'
import { type Database, type LivenessTable, maxRowsPerStatement } from '../sql/tables.ts'
import type { Transact } from '../sql/transaction.ts'

/** Reads through one connection, writes in transactions; `clock` in milliseconds since the epoch. */
export function createLivenessStore(reader: Database, commit: Transact, clock: () => number): LivenessStore {
  const now = () => new Date(clock()).toISOString()

  return {
    async get(entryId) {
      const row = await reader
        .selectFrom('liveness')
        .selectAll()
        .where('entry_id', '=', entryId)
        .executeTakeFirst()
      return row && parse(row)
    },

    async due(at, latest, limit) {
      const rows = await dueRows(at, latest, limit, (operator, time, count) =>
        reader
          .selectFrom('liveness')
          .selectAll()
          .where('next_at', operator, time)
          .orderBy('next_at')
          .limit(count)
          .execute(),
      )
      return rows.map(parse)
    },

    async shown(entryIds) {
      const found = new Map<string, Liveness>()
      for (const chunk of chunksOf(entryIds, maxRowsPerStatement)) {
        for (const row of await find(reader, chunk)) found.set(row.entry_id, shownIn(row))
      }
      return found
    },

    async since(sequence, limit) {
      const rows = await reader
        .selectFrom('liveness')
        .select(['entry_id', 'shown', 'sequence'])
        .where('sequence', '>', sequence)
        .orderBy('sequence')
        .limit(limit)
        .execute()
      return {
        shown: new Map(rows.map((row) => [row.entry_id, shownIn(row)])),
        sequence: Number(rows.at(-1)?.sequence ?? sequence),
      }
    },

    async days(entryId, from) {
      const rows = await reader
        .selectFrom('liveness_day')
        .selectAll()
        .where('entry_id', '=', entryId)
        .where('day', '>=', from)
        .orderBy('day')
        .execute()
      return rows.map(({ entry_id: _, day, ...counts }) => ({ date: dateOfDay(day), ...counts }))
    },

    watch: (watches) =>
      commit(async (db) => {
        const at = now()
        const turned: string[] = []
        for (const watchInput of watches)
          if (await watch(db, watchInput, at)) turned.push(watchInput.entry_id)
        return await log(db, turned, at)
      }),

    save: (results) =>
      commit(async (db) => {
        const turned: string[] = []
        const ids = results.map((result) => result.entry_id)
        const rows = new Map((await find(db, ids)).map((row) => [row.entry_id, row]))
        const current = results.filter(({ entry_id, place }) => rows.get(entry_id)?.place === place)
        if (current.length === 0) return await currentRevision(db)
        const first = (await nextCounterValues(db, 'liveness', current.length)) - current.length + 1
        for (const [index, result] of current.entries()) {
          const before = rows.get(result.entry_id)
          // The result of a probe does not decide whether the agent is probed on a schedule.
          const next_at = before?.next_at == null ? null : result.next_at
          const { entry_id, ...row } = toRow({ ...result, next_at }, first + index)
          await db.updateTable('liveness').set(row).where('entry_id', '=', entry_id).execute()
          if (before && isNews(shownIn(before), result.shown)) turned.push(entry_id)
        }
        await saveDays(db, current)
        return await log(db, turned, now())
      }),
  }
}

/** The counts of the day replace those of its earlier probes. */
async function saveDays(db: Database, results: readonly StoredLiveness[]): Promise<void> {
  const rows = results.flatMap(({ entry_id, history: { today } }) => {
    if (!today) return []
    const { latencies: _, ...counts } = today
    return { entry_id, ...counts }
  })
  for (const chunk of chunksOf(rows, maxRowsPerStatement)) {
    await db
      .insertInto('liveness_day')
      .values(chunk)
      .onConflict((conflict) =>
        conflict.columns(['entry_id', 'day']).doUpdateSet(({ ref }) => ({
          probes: ref('excluded.probes'),
          failures: ref('excluded.failures'),
          p50_ms: ref('excluded.p50_ms'),
          p95_ms: ref('excluded.p95_ms'),
        })),
      )
      .execute()
  }
}

/** Returns true if the public status of the agent changed. */
async function watch(db: Database, { entry_id, place, active }: Watch, at: string): Promise<boolean> {
  const [row] = await find(db, [entry_id])
  if (place === null) {
    if (!row) return false
    await db.deleteFrom('liveness').where('entry_id', '=', entry_id).execute()
    await db.deleteFrom('liveness_day').where('entry_id', '=', entry_id).execute()
    return shownIn(row).status !== unseen.status
  }
  if (!row) {
    const fresh = { ...blank, entry_id, place, next_at: active ? at : null, shown: unseen }
    await db.insertInto('liveness').values(toRow(fresh, 0)).execute()
    return false
  }
  const before = parse(row)
  const moved = before.place === place ? before : { ...before, card: null, asked_at: null, place }
  const isSettled = moved === before && before.next_at !== null
  const next_at = active ? (isSettled ? before.next_at : at) : null
  const { entry_id: _, ...rest } = toRow({ ...moved, next_at }, Number(row.sequence))
  await db.updateTable('liveness').set(rest).where('entry_id', '=', entry_id).execute()
  return false
}

const blank: Omit<StoredLiveness, 'entry_id' | 'place' | 'next_at' | 'shown'> = {
  silent_since: null,
  failures: 0,
  history: { days: [], latencies: [] },
  card: null,
  asked_at: null,
  asked_failure: null,
}

/** Logs changes of the public status, so that every process sees them; returns the last revision. */
async function log(db: Database, entryIds: readonly string[], at: string): Promise<number> {
  if (entryIds.length === 0) return await currentRevision(db)
  const last = await nextCounterValues(db, 'revision', entryIds.length)
  const first = last - entryIds.length + 1
  const listed = await listedAmong(db, entryIds)
  const changes = entryIds.map((entry_id, index) => ({
    revision: first + index,
    entry_id,
    kind: 'liveness' as const,
    at,
    seen: listed.has(entry_id) ? ('listed' as const) : ('unseen' as const),
  }))
  for (const chunk of chunksOf(changes, maxRowsPerStatement))
    await db.insertInto('change').values(chunk).execute()
  return last
}

async function listedAmong(db: Database, entryIds: readonly string[]): Promise<ReadonlySet<string>> {
  const listed = new Set<string>()
  for (const chunk of chunksOf(entryIds, maxRowsPerStatement)) {
    const rows = await db
      .selectFrom('entry')
      .select('id')
      .where('id', 'in', chunk)
      .where('listed', '=', 1)
      .execute()
    for (const { id } of rows) listed.add(id)
  }
  return listed
}

async function find(db: Database, entryIds: readonly string[]): Promise<LivenessTable[]> {
  if (entryIds.length === 0) return []
  return await db.selectFrom('liveness').selectAll().where('entry_id', 'in', entryIds).execute()
}

function toRow(
  { entry_id, place, next_at, shown, ...rest }: StoredLiveness,
  sequence: number,
): LivenessTable {
  return {
    entry_id,
    place,
    next_at,
    sequence,
    shown: JSON.stringify(shown),
    document: JSON.stringify(rest),
  }
}

function parse({ document, shown, sequence: _, ...columns }: LivenessTable): StoredLiveness {
  return StoredLiveness.parse({ ...columns, ...JSON.parse(document), shown: JSON.parse(shown) })
}

/** True if searches or callers must know: the status has changed, or what the agent asks for. */
function isNews(before: Liveness, after: Liveness): boolean {
  return before.status !== after.status || before.access?.kind !== after.access?.kind
}

function shownIn({ shown }: Pick<LivenessTable, 'shown'>): Liveness {
  return Object.freeze({ ...unseen, ...(JSON.parse(shown) as Partial<Liveness>) })
}

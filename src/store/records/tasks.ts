import { type ExpressionBuilder, sql } from 'kysely'
import {
  isBusy,
  isTerminal,
  type StoredPush,
  type StoredTask,
  type TaskBounds,
  type TaskFilter,
  type TaskStore,
} from '../../../schemas/task.ts'
import { fitting } from '../../common/fitting.ts'
import { changeRows, countRows } from '../sql/row-counts.ts'
import type { Database, Tables, TaskTable } from '../sql/tables.ts'
import type { Transact } from '../sql/transaction.ts'

/** Maximum number of rows that one write deletes. */
const batch = 200
const rounds = 10
/** Maximum characters of the documents of one page, not counting its first task. */
const maxPageCharacters = 4 * 1024 * 1024

/** The columns of a task under its own names. What else it has is in its document. */
const ownColumns = [
  'id',
  'owner',
  'counted_by',
  'agent',
  'context_id',
  'state',
  'updated_at',
  'expires_at',
  'holder',
  'alive_until',
] as const satisfies readonly (keyof StoredTask)[]
type OwnColumns = Pick<StoredTask, (typeof ownColumns)[number]>
/** By name, because gateways of a later version may run over the same database and add columns. */
const columns = [...ownColumns, 'document'] as const

/** Reads through one connection, writes in transactions; `clock` in milliseconds since the epoch. */
export function createTaskStore(reader: Database, transact: Transact, clock: () => number): TaskStore {
  const now = () => new Date(clock()).toISOString()

  return {
    add: (task, each, all) =>
      transact(async (db) => {
        await sweep(db, now())
        const own = await usage(db, task.counted_by)
        if (own.unfinished >= each.unfinished) return 'busy'
        if ((await usage(db)).unfinished >= all.unfinished) return 'full'
        await evict(db, each, (query) => query.where('counted_by', '=', task.counted_by), task.counted_by)
        const left = await evict(db, all, (query) => query.where('owner', 'is', null))
        if (left.total >= all.total || left.characters >= all.characters) return 'full'
        await db
          .insertInto('task')
          .values({ ...toRow(task), push: null })
          .execute()
        return 'added'
      }),

    async get(id) {
      const row = await reader
        .selectFrom('task')
        .select(columns)
        .where('id', '=', id)
        .where(isKept(now()))
        .executeTakeFirst()
      return row && toTask(row)
    },

    save: (task, { holder, states, alive_until }) =>
      transact(async (db) => {
        const row = toRow(task)
        const toPost = {
          ...row,
          alive_until: sql<string | null>`case when push <> '[]' then ${row.alive_until} end`,
        }
        const update = db
          .updateTable('task')
          .set(isBusy(task.state) ? row : toPost)
          .where('id', '=', task.id)
          .where('holder', '=', holder)
          .where('state', 'in', states)
          .where(isKept(now()))
          .$if(alive_until !== undefined, (query) => query.where('alive_until', '=', alive_until ?? ''))
        return (await changeRows(update)) > 0
      }),

    lapsed: async (limit) =>
      await reader
        .selectFrom('task')
        .select(['id', 'holder', (row) => row.ref('alive_until').$notNull().as('alive_until')])
        .where('alive_until', '<=', now())
        .orderBy('alive_until')
        .limit(limit)
        .execute(),

    push: async (id) => await readPush(reader, id),

    changePush: (id, change) =>
      transact(async (db) => {
        const push = JSON.stringify(change(await readPush(db, id)))
        await db.updateTable('task').set({ push }).where('id', '=', id).execute()
      }),

    async list(filter) {
      const matching = matches(reader, filter, now())
      const total = await countRows(matching)
      const { after } = filter
      const rest = after
        ? matching.where((row) =>
            row(row.refTuple('updated_at', 'id'), '<', row.tuple(after.updated_at, after.id)),
          )
        : matching
      const sizes = await rest
        .select(['id', 'characters'])
        .orderBy('updated_at', 'desc')
        .orderBy('id', 'desc')
        .limit(filter.limit + 1)
        .execute()
      const ids = fitting(sizes.slice(0, filter.limit), maxPageCharacters).map(({ id }) => id)
      return { tasks: await load(reader, ids), more: sizes.length > ids.length, total }
    },
  }
}

async function readPush(db: Database, id: string): Promise<readonly StoredPush[]> {
  const row = await db.selectFrom('task').select('push').where('id', '=', id).executeTakeFirst()
  return row?.push ? JSON.parse(row.push) : []
}

function matches(db: Database, { owner, agent, context_id, state, updated_after }: TaskFilter, now: string) {
  let query = db.selectFrom('task').where('owner', '=', owner).where(isKept(now))
  if (agent !== undefined) query = query.where('agent', '=', agent)
  if (context_id !== undefined) query = query.where('context_id', '=', context_id)
  if (state !== undefined) query = query.where('state', '=', state)
  if (updated_after !== undefined) query = query.where('updated_at', '>', updated_after)
  return query
}

async function load(db: Database, ids: readonly string[]): Promise<StoredTask[]> {
  if (ids.length === 0) return []
  const rows = await db.selectFrom('task').select(columns).where('id', 'in', ids).execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? []).map(toTask)
}

/**
 * A task that a process works on, or whose end is to be posted, does not expire: the machine may have slept, or its clock
 * have been set forward. If that process has ended, another one takes the task over.
 */
export const isExpired = (now: string) => (row: ExpressionBuilder<Tables, 'task'>) =>
  row.and([row('expires_at', '<=', now), row('alive_until', 'is', null)])

const isKept = (now: string) => (row: ExpressionBuilder<Tables, 'task'>) => row.not(isExpired(now)(row))

/** Deletes expired tasks, at most one batch. */
async function sweep(db: Database, now: string): Promise<void> {
  const over = db.selectFrom('task').select('id').where(isExpired(now)).limit(batch)
  await db.deleteFrom('task').where('id', 'in', over).execute()
}

/** Usage of one caller, or of all callers. */
async function usage(db: Database, counted_by?: string): Promise<TaskBounds> {
  const all = db.selectFrom('task')
  const counted = counted_by === undefined ? all : all.where('counted_by', '=', counted_by)
  const { total, unfinished, characters } = await counted
    .select(({ fn }) => [
      fn.countAll().as('total'),
      fn.sum('unfinished').as('unfinished'),
      fn.sum('characters').as('characters'),
    ])
    .executeTakeFirstOrThrow()
  return { total: Number(total), unfinished: Number(unfinished), characters: Number(characters) }
}

/** Deletes the oldest finished tasks until one more task fits; returns the usage after the deletion. */
async function evict(
  db: Database,
  bounds: TaskBounds,
  those: (query: ReturnType<typeof finished>) => ReturnType<typeof finished>,
  counted_by?: string,
): Promise<TaskBounds> {
  let left = await usage(db, counted_by)
  for (let round = 0; round < rounds; round++) {
    const excess = left.total - bounds.total + 1
    if (excess <= 0 && left.characters < bounds.characters) break
    const oldest = those(finished(db)).limit(Math.min(batch, Math.max(excess, 1)))
    if ((await changeRows(db.deleteFrom('task').where('id', 'in', oldest))) === 0) break
    left = await usage(db, counted_by)
  }
  return left
}

function finished(db: Database) {
  return db.selectFrom('task').select('id').where('unfinished', '=', 0).orderBy('updated_at')
}

/** What is no column of this version is kept in the document, also what another version has put there. */
function toRow(task: StoredTask): Omit<TaskTable, 'push'> {
  const own = Object.fromEntries(ownColumns.map((name) => [name, task[name]])) as OwnColumns
  const rest = Object.entries(task).filter(([name]) => !Object.hasOwn(own, name))
  const document = JSON.stringify(Object.fromEntries(rest))
  return { ...own, unfinished: isTerminal(task.state) ? 0 : 1, characters: document.length, document }
}

function toTask({ document, ...row }: Pick<TaskTable, (typeof columns)[number]>): StoredTask {
  return { ...row, ...JSON.parse(document) }
}

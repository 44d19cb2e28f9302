import type {
  PoolBounds,
  SessionPools,
  SessionStore,
  Step,
  StoredSession,
} from '../../../schemas/playground.ts'
import { chunksOf } from '../../common/chunks.ts'
import { fitting } from '../../common/fitting.ts'
import { changeRows, countRows } from '../sql/row-counts.ts'
import { type Database, maxRowsPerStatement, type PlaygroundSessionTable } from '../sql/tables.ts'
import type { Transact } from '../sql/transaction.ts'

/** Maximum number of sessions that one write deletes. */
const batch = 200
const rounds = 10

/** Reads through one connection, writes in transactions; `clock` in milliseconds since the epoch. */
export function createSessionStore(reader: Database, transact: Transact, clock: () => number): SessionStore {
  const now = () => new Date(clock()).toISOString()

  return {
    add: (session, pools) =>
      transact(async (db) => {
        await forget(db, expired(db, now()))
        await db
          .insertInto('playground_session')
          .values({ ...session, begun: 0, steps: 0, characters: 0 })
          .execute()
        await makeRoom(db, session, pools)
      }),

    async get(id) {
      const row = await living(reader, id, now()).selectAll().executeTakeFirst()
      return row && toSession(row)
    },

    count: (owner) =>
      countRows(
        reader.selectFrom('playground_session').where('owner', '=', owner).where('expires_at', '>', now()),
      ),

    reserve: (id, bounds) =>
      transact(async (db) => {
        const reservation = db
          .updateTable('playground_session')
          .set((row) => ({ begun: row('begun', '+', 1) }))
          .where('id', '=', id)
          .where('expires_at', '>', now())
          .where('begun', '<', bounds.steps)
          .where('characters', '<', bounds.characters)
        if ((await changeRows(reservation)) > 0) return 'reserved'
        const there = await living(db, id, now()).select('id').executeTakeFirst()
        return there ? 'full' : 'gone'
      }),

    append: (id, step, pools) =>
      transact(async (db) => {
        const document = JSON.stringify(step)
        const characters = document.length
        await db
          .updateTable('playground_session')
          .set((row) => ({
            steps: row('steps', '+', 1),
            characters: row('characters', '+', characters),
          }))
          .where('id', '=', id)
          .where('expires_at', '>', now())
          .execute()
        const session = await living(db, id, now())
          .select(['id', 'owner', 'counted_by', 'steps'])
          .executeTakeFirst()
        if (!session) return undefined
        const { steps: number } = session
        await db.insertInto('playground_step').values({ session: id, number, characters, document }).execute()
        await makeRoom(db, session, pools)
        return number
      }),

    async steps(id, after, characters) {
      const sizes = await living(reader, id, now())
        .innerJoin('playground_step', 'playground_step.session', 'playground_session.id')
        .select(['playground_step.number', 'playground_step.characters'])
        .where('playground_step.number', '>', after)
        .orderBy('playground_step.number')
        .execute()
      const last = fitting(sizes, characters).at(-1)
      if (!last) return []
      const rows = await reader
        .selectFrom('playground_step')
        .select(['number', 'document'])
        .where('session', '=', id)
        .where('number', '>', after)
        .where('number', '<=', last.number)
        .orderBy('number')
        .execute()
      return rows.map(({ number, document }): Step => ({ number, ...JSON.parse(document) }))
    },

    remove: (id) => transact((db) => removeSessions(db, [{ id }])),
  }
}

function living(db: Database, id: string, now: string) {
  return db
    .selectFrom('playground_session')
    .where('playground_session.id', '=', id)
    .where('playground_session.expires_at', '>', now)
}

function expired(db: Database, now: string) {
  return db.selectFrom('playground_session').select('id').where('expires_at', '<=', now).limit(batch)
}

async function forget(db: Database, those: ReturnType<typeof expired>): Promise<void> {
  await removeSessions(db, await those.execute())
}

/** Deletes sessions and their steps. */
export async function removeSessions(
  db: Database,
  sessions: readonly { readonly id: string }[],
): Promise<void> {
  const ids = sessions.map(({ id }) => id)
  for (const chunk of chunksOf(ids, maxRowsPerStatement)) {
    // Sessions first: a concurrent write of a step waits for its session, and then finds it deleted.
    await db.deleteFrom('playground_session').where('id', 'in', chunk).execute()
    await db.deleteFrom('playground_step').where('session', 'in', chunk).execute()
  }
}

type Pooled = Pick<StoredSession, 'id' | 'owner' | 'counted_by'>

/** Deletes other sessions of each pool of a session until the remaining ones are within its bounds. */
async function makeRoom(db: Database, session: Pooled, { own, anonymous }: SessionPools): Promise<void> {
  const { owner, counted_by } = session
  if (owner !== null) return await makeRoomIn(db, session.id, { owner }, own)
  if (counted_by !== null) await makeRoomIn(db, session.id, { owner, counted_by }, own)
  await makeRoomIn(db, session.id, { owner }, anonymous)
}

/** The sessions with these values. */
type Pool = Partial<Pick<PlaygroundSessionTable, 'owner' | 'counted_by'>>

function sessionsIn(db: Database, pool: Pool) {
  const all = db.selectFrom('playground_session')
  const values = Object.entries(pool) as [keyof Pool, string | null][]
  return values.reduce(
    (query, [column, value]) => query.where(column, value === null ? 'is' : '=', value),
    all,
  )
}

async function makeRoomIn(db: Database, id: string, pool: Pool, bounds: PoolBounds): Promise<void> {
  const others = sessionsIn(db, pool).select('id').where('id', '!=', id)
  for (let round = 0; round < rounds; round++) {
    const { sessions, characters } = await usage(db, pool)
    const excess = sessions - bounds.sessions
    if (excess > 0) {
      const idle = others.orderBy('steps').orderBy('created_at')
      await forget(db, idle.limit(Math.min(batch, excess)))
    } else if (characters > bounds.characters) {
      await forget(db, others.orderBy('characters', 'desc').limit(1))
    } else return
  }
}

async function usage(db: Database, pool: Pool): Promise<PoolBounds> {
  const { sessions, characters } = await sessionsIn(db, pool)
    .select(({ fn }) => [fn.countAll().as('sessions'), fn.sum('characters').as('characters')])
    .executeTakeFirstOrThrow()
  return { sessions: Number(sessions), characters: Number(characters) }
}

function toSession({ begun: _, characters: __, ...session }: PlaygroundSessionTable): StoredSession {
  return session
}

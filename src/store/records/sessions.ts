import type { Kysely } from 'kysely'
import type { PoolBounds, SessionStore, Step, StoredSession } from '../../../schemas/playground.ts'
import { within } from '../sql/page.ts'
import type { PlaygroundSessionTable, Tables } from '../sql/tables.ts'
import type { Transact } from '../sql/transaction.ts'

type Database = Kysely<Tables>

/** Maximum number of sessions that one write deletes. */
const batch = 200
const rounds = 10

/** Reads through one connection, writes in transactions; `clock` in milliseconds since the epoch. */
export function createSessionStore(reader: Database, transact: Transact, clock: () => number): SessionStore {
  const now = () => new Date(clock()).toISOString()

  return {
    add: (session, pool) =>
      transact(async (db) => {
        await forget(db, expired(db, now()))
        await db
          .insertInto('playground_session')
          .values({ ...session, begun: 0, steps: 0, characters: 0 })
          .execute()
        await makeRoom(db, session, pool)
      }),

    async get(id) {
      const row = await living(reader, id, now()).selectAll().executeTakeFirst()
      return row && toSession(row)
    },

    reserve: (id, bounds) =>
      transact(async (db) => {
        const { numUpdatedRows } = await db
          .updateTable('playground_session')
          .set((row) => ({ begun: row('begun', '+', 1) }))
          .where('id', '=', id)
          .where('expires_at', '>', now())
          .where('begun', '<', bounds.steps)
          .where('characters', '<', bounds.characters)
          .executeTakeFirst()
        if (numUpdatedRows > 0n) return 'reserved'
        const there = await living(db, id, now()).select('id').executeTakeFirst()
        return there ? 'full' : 'gone'
      }),

    append: (id, step, pool) =>
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
        const session = await living(db, id, now()).select(['id', 'owner', 'steps']).executeTakeFirst()
        if (!session) return undefined
        const { steps: number } = session
        await db.insertInto('playground_step').values({ session: id, number, characters, document }).execute()
        await makeRoom(db, session, pool)
        return number
      }),

    async steps(id, after, characters) {
      const sizes = await living(reader, id, now())
        .innerJoin('playground_step', 'playground_step.session', 'playground_session.id')
        .select(['playground_step.number', 'playground_step.characters'])
        .where('playground_step.number', '>', after)
        .orderBy('playground_step.number')
        .execute()
      const last = within(sizes, characters).at(-1)
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

    remove: (id) => transact((db) => forgetThese(db, [id])),
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
  const rows = await those.execute()
  await forgetThese(
    db,
    rows.map(({ id }) => id),
  )
}

async function forgetThese(db: Database, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  // Sessions first: a concurrent write of a step waits for its session, and then finds it deleted.
  await db.deleteFrom('playground_session').where('id', 'in', ids).execute()
  await db.deleteFrom('playground_step').where('session', 'in', ids).execute()
}

/** Deletes the oldest other sessions of the same owner until the remaining ones are within the bounds. */
async function makeRoom(
  db: Database,
  { id, owner }: Pick<StoredSession, 'id' | 'owner'>,
  bounds: PoolBounds,
): Promise<void> {
  const others = db
    .selectFrom('playground_session')
    .select('id')
    .where('owner', owner === null ? 'is' : '=', owner)
    .where('id', '!=', id)
  for (let round = 0; round < rounds; round++) {
    const { sessions, characters } = await usage(db, owner)
    const excess = sessions - bounds.sessions
    if (excess > 0) {
      const idle = others.orderBy('steps').orderBy('created_at')
      await forget(db, idle.limit(Math.min(batch, excess)))
    } else if (characters > bounds.characters) {
      await forget(db, others.orderBy('characters', 'desc').limit(1))
    } else return
  }
}

/** Usage of one owner, or of all anonymous callers. */
async function usage(db: Database, owner: string | null): Promise<PoolBounds> {
  const { sessions, characters } = await db
    .selectFrom('playground_session')
    .select(({ fn }) => [fn.countAll().as('sessions'), fn.sum('characters').as('characters')])
    .where('owner', owner === null ? 'is' : '=', owner)
    .executeTakeFirstOrThrow()
  return { sessions: Number(sessions), characters: Number(characters) }
}

function toSession({ begun: _, characters: __, ...session }: PlaygroundSessionTable): StoredSession {
  return session
}

import { sql } from 'kysely'
import { Failure } from '../../schemas/failure.ts'
import { chunksOf } from '../common/chunks.ts'
import { migrationNames } from './migrations/index.ts'
import { currentRevision } from './sql/counter.ts'
import { type Database, maxRowsPerStatement, type Tables } from './sql/tables.ts'
import type { Transact } from './sql/transaction.ts'

/** A stored row: its table and its columns, the same in every dialect. */
export type DumpedRow = readonly [table: string, row: Readonly<Record<string, string | number | null>>]

/** The contents of a registry at one moment. */
interface Contents {
  /** Migrations of the source. Only a store with the same migrations accepts the rows. */
  readonly migrations: readonly string[]
  readonly revision: number
  rows(): AsyncIterable<readonly DumpedRow[]>
}

export interface Dump {
  /** Calls `work` with the contents of one snapshot. */
  dump<T>(work: (contents: Contents) => Promise<T>): Promise<T>
}

/** Copies a whole registry from one store to another, with all ids, versions, owners, proofs and revisions. */
export interface DumpRestore extends Dump {
  /**
   * Writes the contents, all or nothing; returns the number of rows. Throws Failure `conflict` if the store has
   * other migrations, or has rows and `replace` is false, and `invalid_request` for rows of an unknown table.
   */
  restore(contents: Omit<Contents, 'revision'>, replace: boolean): Promise<number>
}

/** Runs reads in one transaction, on one snapshot. */
export type Snapshot = <T>(work: (db: Database) => Promise<T>) => Promise<T>
type Keys = { readonly [Table in keyof Tables]: readonly (keyof Tables[Table] & string)[] | null }

/** The primary key of every table that is dumped; null for derived and short-lived data. */
const keys: Keys = {
  entry: ['id'],
  owner_usage: ['account'],
  change: ['revision'],
  audit: ['id'],
  counter: ['name'],
  note: ['name'],
  api_key: ['id'],
  revocation: ['kind', 'issuer', 'name'],
  task: ['id'],
  playground_session: ['id'],
  playground_step: ['session', 'number'],
  credential: ['owner', 'entry_id', 'variable'],
  approval: ['id'],
  liveness: ['entry_id'],
  liveness_day: ['entry_id', 'day'],
  call_day: ['entry_id', 'day'],
  webhook: ['id'],
  version: ['entry_id', 'revision'],
  server: ['server_name', 'version'],
  mirror: ['name'],
  mirrored: ['mirror', 'key'],
  repeat: ['owner', 'action', 'key'],
  embedding: null,
  lease: null,
  // A restore revives no session and no token that was ended since.
  sign_in: null,
}

/** What was revoked after the dump stays revoked. */
const additive = 'revocation'

const page = 500

export function createDump(snapshot: Snapshot): Dump {
  return {
    dump: (work) =>
      snapshot(async (db) =>
        work({ migrations: migrationNames, revision: await currentRevision(db), rows: () => rowsOf(db) }),
      ),
  }
}

export function createDumpRestore(snapshot: Snapshot, transact: Transact): DumpRestore {
  return {
    ...createDump(snapshot),
    async restore({ migrations, rows }, replace) {
      assertSameSchema(migrations)
      return await transact(async (db) => {
        if (!replace && (await currentRevision(db)) > 0) throw notEmpty()
        const replaced = dumpedTables().filter(([table]) => table !== additive)
        for (const [table] of replaced) await sql`delete from ${sql.table(table)}`.execute(db)
        let count = 0
        for await (const batch of rows()) {
          await insert(db, batch)
          count += batch.length
        }
        return count
      })
    },
  }
}

function dumpedTables(): [table: string, key: readonly string[]][] {
  return Object.entries(keys).flatMap(([table, key]) => (key ? [[table, key]] : []))
}

async function* rowsOf(db: Database): AsyncGenerator<readonly DumpedRow[]> {
  for (const [table, key] of dumpedTables()) {
    const columns = sql.join(key.map((name) => sql.ref(name)))
    let after = sql`true`
    for (;;) {
      const { rows } = await sql<DumpedRow[1]>`
        select * from ${sql.table(table)} where ${after} order by ${columns} limit ${sql.lit(page)}`.execute(
        db,
      )
      if (rows.length > 0) yield rows.map((row) => [table, row] as const)
      const last = rows.at(-1)
      if (!last || rows.length < page) break
      after = sql`(${columns}) > (${sql.join(key.map((name) => last[name]))})`
    }
  }
}

async function insert(db: Database, rows: readonly DumpedRow[]): Promise<void> {
  const byTable = Map.groupBy(rows, ([table]) => table)
  for (const [table, tableRows] of byTable) {
    if (!Object.hasOwn(keys, table) || keys[table as keyof Tables] === null) throw unknownTable(table)
    for (const chunk of chunksOf(
      tableRows.map(([, row]) => row),
      maxRowsPerStatement,
    )) {
      const query = db.insertInto(table as 'note').values(chunk as never)
      await (table === additive ? query.onConflict((conflict) => conflict.doNothing()) : query).execute()
    }
  }
}

function assertSameSchema(migrations: readonly string[]): void {
  const isSame =
    migrations.length === migrationNames.length &&
    migrations.every((name, index) => name === migrationNames[index])
  if (isSame) return
  const newest = (names: readonly string[]) => names.at(-1) ?? 'none'
  throw new Failure(
    'conflict',
    `The dump comes from a store at migration ${newest(migrations)}; this store is at ${newest(migrationNames)}.`,
    {
      hint: 'Import it with the version that exported it, into an empty data folder, and start that folder with this version. If the exporting store is still there, start it once with the newer version and export it again.',
    },
  )
}

function notEmpty(): Failure {
  return new Failure('conflict', 'The target store is not empty.', {
    hint: 'Stop the gateways and import with --replace: it deletes what the store holds now.',
  })
}

function unknownTable(table: string): Failure {
  return new Failure('invalid_request', `A registry has no table ${table.slice(0, 60)}.`)
}

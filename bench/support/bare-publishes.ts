import type { SQLInputValue } from 'node:sqlite'
import pg from 'pg'
import { openStore } from '../../src/store/open-store.ts'
import { openDatabase } from '../../src/store/sqlite/open.ts'

export type Write = (number: number) => Promise<unknown>
export type BareWriter = { readonly commit: Write } & AsyncDisposable

type Row = Readonly<Record<string, unknown>>

/** The rows that one publish writes to each table. */
interface PublishedRows {
  readonly entry: Row
  readonly change: Row
  readonly audit: Row
  readonly embedding: readonly Row[]
}

/** The rows of the last publish. */
export async function rowsOfLast(query: (sql: string) => Promise<readonly Row[]>): Promise<PublishedRows> {
  const select = async (table: string, order: string) => {
    const [row] = await query(`select * from ${table} order by ${order} desc limit 1`)
    if (!row) throw new Error(`The table ${table} is empty.`)
    return row
  }
  const [total] = await query(
    'select (select count(*) from embedding) as vectors, (select count(*) from entry) as entries',
  )
  const each = Math.round(Number(total?.vectors) / Number(total?.entries))
  return {
    entry: await select('entry', 'revision'),
    change: await select('change', 'revision'),
    audit: await select('audit', 'id'),
    embedding: await query(`select * from embedding limit ${each}`),
  }
}

/** The statements by which a bare driver writes the same rows, and their parameters. */
function statements(rows: PublishedRows, number: number, placeholder: (at: number) => string) {
  const name = `com.bare.agent-${number}`
  const insert = (table: string, ...inserted: readonly Row[]) => {
    const names = Object.keys(inserted[0] ?? {}).map((column) => `"${column}"`)
    const values = inserted.flatMap((row) => Object.values(row))
    const marks = inserted.map(
      (_, row) => `(${names.map((_, at) => placeholder(row * names.length + at + 1))})`,
    )
    return { sql: `insert into "${table}" (${names}) values ${marks}`, values }
  }
  const take = (counter: string) => ({
    sql: `update counter set value = value + 1 where name = '${counter}' returning value`,
    values: [],
  })
  return {
    publish: [
      insert('entry', { ...rows.entry, id: name, package_name: name, skeleton: name, revision: number }),
      insert('change', { ...rows.change, revision: number, entry_id: name }),
      insert('audit', { ...rows.audit, id: number, entry_id: name, revision: number }),
      take('revision'),
      take('audit'),
    ],
    vectors: insert(
      'embedding',
      ...rows.embedding.map((row, index) => ({ ...row, content_hash: `${number}.${index}` })),
    ),
  }
}

/** Writes to a separate database with the same schema. */
export async function barePublishesOnSqlite(path: string, rows: PublishedRows): Promise<BareWriter> {
  await using _ = await openStore({ path }, { clock: Date.now, onError() {} })
  const database = openDatabase(path)
  const run = ({ sql, values }: { sql: string; values: readonly unknown[] }) =>
    prepare(sql).run(...(values as SQLInputValue[]))
  const prepared = new Map<string, ReturnType<typeof database.prepare>>()
  function prepare(sql: string) {
    const statement = prepared.get(sql) ?? database.prepare(sql)
    prepared.set(sql, statement)
    return statement
  }
  return {
    async commit(number) {
      const { publish, vectors } = statements(rows, number, () => '?')
      database.exec('begin immediate')
      publish.forEach(run)
      database.exec('commit')
      run(vectors)
    },
    async [Symbol.asyncDispose]() {
      database.close()
    },
  }
}

export async function barePublishesOnPostgres(
  url: string,
  connections: number,
  rows: PublishedRows,
): Promise<BareWriter> {
  await using _ = await openStore({ path: '', url }, { clock: Date.now, onError() {} })
  const pool = new pg.Pool({ connectionString: url, max: connections })
  return {
    async commit(number) {
      const { publish, vectors } = statements(rows, number, (at) => `$${at}`)
      const client = await pool.connect()
      await client.query('begin')
      for (const { sql, values } of publish) await client.query(sql, [...values])
      await client.query('commit')
      await client.query(vectors.sql, [...vectors.values])
      client.release()
    },
    [Symbol.asyncDispose]: () => pool.end(),
  }
}

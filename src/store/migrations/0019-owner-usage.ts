import { type ColumnDefinitionBuilder, type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { columnTypes } from './column-types.ts'

interface EntryRow {
  id: string
  owner: string | null
  owner_namespace: string | null
  revision: number
  document: string
  account: string | null
  staged: number
  bytes: number
}

const page = 500

/**
 * What the entries of an owner, or of a claimed namespace, take up: each row states what was counted for it, and a
 * table has the sums. A deleted entry counts for nobody.
 */
export const ownerUsage: Migration = {
  async up(db: Kysely<unknown>) {
    const { integer, text } = columnTypes(db)
    const zero = (column: ColumnDefinitionBuilder) => column.notNull().defaultTo(0)
    await db.schema.alterTable('entry').addColumn('account', text).execute()
    await db.schema.alterTable('entry').addColumn('staged', integer, zero).execute()
    await db.schema.alterTable('entry').addColumn('bytes', integer, zero).execute()
    await db.schema
      .createTable('owner_usage')
      .addColumn('account', text, (column) => column.primaryKey())
      .addColumn('entries', integer, zero)
      .addColumn('stage_entries', integer, zero)
      .addColumn('bytes', integer, zero)
      .addColumn('versions', integer, zero)
      .addColumn('versions_on', text, (column) => column.notNull().defaultTo(''))
      .addColumn('limits', text, (column) => column.notNull().defaultTo('{}'))
      .execute()
    await count(db as Kysely<{ entry: EntryRow }>)
    await sql`
      insert into owner_usage (account, entries, stage_entries, bytes)
      select account, count(*), sum(staged), sum(bytes) from entry
      where account is not null group by account`.execute(db)
  },
}

async function count(db: Kysely<{ entry: EntryRow }>): Promise<void> {
  for (let last = ''; ; ) {
    const rows = await db
      .selectFrom('entry')
      .select(['id', 'owner', 'owner_namespace', 'revision', 'document'])
      .where('owner', 'is not', null)
      .where('id', '>', last)
      .orderBy('id')
      .limit(page)
      .execute()
    for (const row of rows) {
      const counted = countedOf(row)
      if (counted) await db.updateTable('entry').set(counted).where('id', '=', row.id).execute()
    }
    const end = rows.at(-1)
    if (!end || rows.length < page) return
    last = end.id
  }
}

/** Undefined where the document cannot be read: such a row counts for nobody. */
function countedOf({
  owner,
  owner_namespace,
  revision,
  document,
}: Omit<EntryRow, 'account' | 'staged' | 'bytes'>) {
  try {
    const { state, deleted, hosted } = JSON.parse(document)
    if (deleted || hosted) return undefined
    return {
      account: owner_namespace ?? owner,
      staged: state === 'STAGE' ? 1 : 0,
      bytes: Buffer.byteLength(document) - String(revision).length,
    }
  } catch {
    return undefined
  }
}

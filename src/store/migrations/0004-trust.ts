import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { skeletonOf } from './0004-confusables.ts'
import { columnTypes } from './column-types.ts'

export const trust: Migration = {
  async up(db: Kysely<unknown>) {
    const { integer, text } = columnTypes(db)
    for (const column of ['owner', 'proved_namespace', 'check_at']) {
      await db.schema.alterTable('entry').addColumn(column, text).execute()
    }
    await db.schema
      .alterTable('entry')
      .addColumn('skeleton', text, (column) => column.notNull().defaultTo(''))
      .execute()
    await fill(db as Kysely<{ entry: Row }>)
    for (const column of ['proved_namespace', 'check_at', 'skeleton']) {
      await db.schema.createIndex(`entry_${column}`).on('entry').column(column).execute()
    }
    await db.schema
      .createTable('audit')
      .addColumn('id', integer, (column) => column.primaryKey())
      .addColumn('entry_id', text, (column) => column.notNull())
      .addColumn('revision', integer)
      .addColumn('at', text, (column) => column.notNull())
      .addColumn('action', text, (column) => column.notNull())
      .addColumn('actor', text)
      .addColumn('reason', text)
      .addColumn('before', text)
      .addColumn('after', text)
      .execute()
    await db.schema.createIndex('audit_entry').on('audit').columns(['entry_id', 'id']).execute()
    await db.schema
      .createTable('lease')
      .addColumn('name', text, (column) => column.primaryKey())
      .addColumn('holder', text, (column) => column.notNull())
      .addColumn('until', text, (column) => column.notNull())
      .execute()
    const counter = db as Kysely<{ counter: { name: string; value: number } }>
    await counter.insertInto('counter').values({ name: 'audit', value: 0 }).execute()
  },
}

interface Row {
  id: string
  package_name: string
  document: string
  owner: string | null
  skeleton: string
}

/** What entries of before say by their columns. */
async function fill(db: Kysely<{ entry: Row }>): Promise<void> {
  for (const { id, package_name, document } of await db.selectFrom('entry').selectAll().execute()) {
    const owner = ownerIn(document)
    await db
      .updateTable('entry')
      .set({ skeleton: skeletonOf(package_name), owner })
      .where('id', '=', id)
      .execute()
  }
}

/** Null where the document cannot be read: whoever reads the entry will hear of it. */
function ownerIn(document: string): string | null {
  try {
    const { owner } = JSON.parse(document)
    return owner ? JSON.stringify([owner.issuer, owner.subject]) : null
  } catch {
    return null
  }
}

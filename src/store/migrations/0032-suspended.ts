// Frozen: never edited after its release.
import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { columnTypes } from './column-types.ts'

interface EntryRow {
  id: string
  document: string
  suspended_at: string | null
  suspended_by: string | null
}

/**
 * Since when an entry is suspended, and whether an admin did it or its source removed the agent. The document alone
 * said so before. The index holds only suspended entries.
 */
export const suspended: Migration = {
  async up(db: Kysely<unknown>) {
    const { text } = columnTypes(db)
    await db.schema.alterTable('entry').addColumn('suspended_at', text).execute()
    await db.schema.alterTable('entry').addColumn('suspended_by', text).execute()
    const entries = db as Kysely<{ entry: EntryRow }>
    await entries.schema
      .createIndex('entry_suspended')
      .on('entry')
      .columns(['suspended_by', 'suspended_at', 'id'])
      .where('suspended_by', 'is not', null)
      .execute()
    const rows = await entries
      .selectFrom('entry')
      .select(['id', 'document'])
      .where('document', 'like', '%"suspended":{%')
      .execute()
    for (const { id, document } of rows) {
      const found = suspensionOf(document)
      if (found) await entries.updateTable('entry').set(found).where('id', '=', id).execute()
    }
  },
}

/** Undefined where the document cannot be read, or has another field of this name. */
function suspensionOf(document: string): Pick<EntryRow, 'suspended_at' | 'suspended_by'> | undefined {
  try {
    const { suspended, origin } = JSON.parse(document)
    return suspended && { suspended_at: suspended.at, suspended_by: origin?.removed ? 'source' : 'admin' }
  } catch {
    return undefined
  }
}

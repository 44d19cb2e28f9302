import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { type VersionRow, versionRow } from './0010-version-content.ts'
import { columnTypes } from './column-types.ts'

/** What was published, and when; what is listed already is its own first version. */
export const versions: Migration = {
  async up(db: Kysely<unknown>) {
    const { integer, text } = columnTypes(db)
    await db.schema
      .createTable('version')
      .addColumn('entry_id', text, (column) => column.notNull())
      .addColumn('revision', integer, (column) => column.notNull())
      .addColumn('version', text)
      .addColumn('precedence', text, (column) => column.notNull())
      .addColumn('published_at', text, (column) => column.notNull())
      .addColumn('sha256', text, (column) => column.notNull())
      .addColumn('document', text, (column) => column.notNull())
      .addPrimaryKeyConstraint('version_key', ['entry_id', 'revision'])
      .execute()
    await fill(db as Kysely<{ entry: Row; version: VersionRow }>)
  },
}

interface Row {
  id: string
  listed: number
  revision: number
  document: string
}

/** So many at a time, since documents may be long. */
const page = 500

async function fill(db: Kysely<{ entry: Row; version: VersionRow }>): Promise<void> {
  for (let last = ''; ; ) {
    const rows = await db
      .selectFrom('entry')
      .select(['id', 'revision', 'document'])
      .where('listed', '=', 1)
      .where('id', '>', last)
      .orderBy('id')
      .limit(page)
      .execute()
    const versions = rows.flatMap(versionIn)
    if (versions.length > 0) await db.insertInto('version').values(versions).execute()
    const end = rows.at(-1)
    if (!end) return
    last = end.id
  }
}

/** None where the document cannot be read: whoever reads the entry will hear of it. */
function versionIn({ revision, document }: Pick<Row, 'revision' | 'document'>): VersionRow[] {
  try {
    const entry = JSON.parse(document)
    return [versionRow(entry, revision, entry.updated_at)]
  } catch {
    return []
  }
}

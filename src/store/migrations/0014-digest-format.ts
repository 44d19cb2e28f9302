// Frozen: never edited after its release.
import { hash } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { columnTypes } from './column-types.ts'

/**
 * Digests of versions leave absent fields out and name their format. Format 1 hashed `null` for them, so that code with
 * one more field computed other digests of the same content. Rows that an older process still writes have format 1.
 */
export const digestFormat: Migration = {
  async up(db: Kysely<unknown>) {
    const { integer } = columnTypes(db)
    await db.schema
      .alterTable('version')
      .addColumn('digest_format', integer, (column) => column.notNull().defaultTo(1))
      .execute()
    await recompute(db as Kysely<{ version: VersionRow }>)
  },
}

interface VersionRow {
  entry_id: string
  revision: number
  version: string | null
  precedence: string
  published_at: string
  sha256: string
  digest_format: number
  document: string
}

/** Rows of one statement: documents may be long. */
const page = 100

async function recompute(db: Kysely<{ version: VersionRow }>): Promise<void> {
  let last = { entry_id: '', revision: 0 }
  for (;;) {
    const { entry_id, revision } = last
    const rows = await db
      .selectFrom('version')
      .selectAll()
      .where((row) =>
        row.or([
          row('entry_id', '>', entry_id),
          row.and([row('entry_id', '=', entry_id), row('revision', '>', revision)]),
        ]),
      )
      .orderBy('entry_id')
      .orderBy('revision')
      .limit(page)
      .execute()
    const end = rows.at(-1)
    if (!end) return
    await update(db, rows.flatMap(inFormat2))
    last = end
  }
}

async function update(db: Kysely<{ version: VersionRow }>, rows: readonly VersionRow[]): Promise<void> {
  if (rows.length === 0) return
  await db
    .insertInto('version')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['entry_id', 'revision']).doUpdateSet((row) => ({
        sha256: row.ref('excluded.sha256'),
        digest_format: row.ref('excluded.digest_format'),
      })),
    )
    .execute()
}

/** None where the document cannot be read: the row stays as it is. */
function inFormat2(row: VersionRow): VersionRow[] {
  try {
    return [{ ...row, sha256: digestOf(JSON.parse(row.document)), digest_format: 2 }]
  } catch {
    return []
  }
}

function digestOf(content: Readonly<Record<string, unknown>>): string {
  const present = Object.entries(content).filter(([, value]) => !isAbsent(value))
  return hash('sha256', orderedText(Object.fromEntries(present)), 'hex')
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0)
}

function orderedText(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member
    return Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)))
  })
}

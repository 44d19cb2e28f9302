// Frozen: never edited after its release.
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { columnTypes } from './column-types.ts'

/**
 * The versions of agents as the MCP registry lists them, under its own names, and the mirrors that write them. The
 * versions of the entries that exist are added.
 */
export const servers: Migration = {
  async up(db: Kysely<unknown>) {
    const { text, integer } = columnTypes(db)
    await db.schema
      .createTable('server')
      .addColumn('server_name', text, (column) => column.notNull())
      .addColumn('version', text, (column) => column.notNull())
      .addColumn('entry_id', text, (column) => column.notNull())
      .addColumn('revision', integer)
      .addColumn('mirror', text)
      .addColumn('is_listed', integer, (column) => column.notNull())
      .addColumn('is_bridged', integer, (column) => column.notNull())
      .addColumn('is_latest', integer, (column) => column.notNull())
      .addColumn('precedence', text, (column) => column.notNull())
      .addColumn('status', text, (column) => column.notNull())
      .addColumn('status_message', text)
      .addColumn('status_changed_at', text, (column) => column.notNull())
      .addColumn('published_at', text, (column) => column.notNull())
      .addColumn('updated_at', text, (column) => column.notNull())
      .addColumn('document', text)
      .addColumn('meta', text)
      .addPrimaryKeyConstraint('server_key', ['server_name', 'version'])
      .execute()
    for (const columns of [['entry_id'], ['mirror'], ['updated_at'], ['is_latest', 'server_name']]) {
      await db.schema.createIndex(`server_${columns[0]}`).on('server').columns(columns).execute()
    }
    await db.schema
      .createTable('mirror')
      .addColumn('name', text, (column) => column.primaryKey())
      .addColumn('document', text, (column) => column.notNull())
      .execute()
    await db.schema
      .createTable('mirrored')
      .addColumn('mirror', text, (column) => column.notNull())
      .addColumn('key', text, (column) => column.notNull())
      .addColumn('entry_id', text, (column) => column.notNull())
      .addColumn('run', integer, (column) => column.notNull())
      .addPrimaryKeyConstraint('mirrored_key', ['mirror', 'key'])
      .execute()
    await db.schema.createIndex('mirrored_entry').on('mirrored').column('entry_id').execute()
    await fill(db as Kysely<Tables>)
  },
}

interface Tables {
  entry: { id: string; package_name: string; listed: number; document: string }
  version: VersionRow
  server: ServerRow
}

interface VersionRow {
  entry_id: string
  revision: number
  version: string | null
  precedence: string
  published_at: string
  document: string
}

interface ServerRow {
  server_name: string
  version: string
  entry_id: string
  revision: number
  is_listed: number
  is_bridged: number
  is_latest: number
  precedence: string
  status: string
  status_message: string | null
  status_changed_at: string
  published_at: string
  updated_at: string
}

async function fill(db: Kysely<Tables>): Promise<void> {
  let last = ''
  for (;;) {
    const entries = await db
      .selectFrom('entry')
      .select(['id', 'package_name', 'document'])
      .where('id', '>', last)
      .where('listed', '=', 1)
      .orderBy('id')
      .limit(100)
      .execute()
    for (const { id, package_name, document } of entries) {
      await insert(db, rowsOf(id, package_name, read(document), await versionsOf(db, id)))
    }
    const end = entries.at(-1)
    if (!end) return
    last = end.id
  }
}

interface Document {
  readonly hosted?: boolean
  readonly packages?: readonly unknown[]
  readonly endpoints?: readonly { readonly protocol: string }[]
  readonly deprecated?: { readonly message?: string | null } | null
  readonly versions_after?: number
}

/** An entry that cannot be read has no rows until it is written again. */
function read(document: string): Document {
  try {
    return JSON.parse(document) as Document
  } catch {
    return {}
  }
}

function versionsOf(db: Kysely<Tables>, entryId: string): Promise<VersionRow[]> {
  return db
    .selectFrom('version')
    .select(['entry_id', 'revision', 'version', 'precedence', 'published_at', 'document'])
    .where('entry_id', '=', entryId)
    .where('document', '<>', '')
    .orderBy('revision', 'desc')
    .execute()
}

function rowsOf(id: string, name: string, document: Document, versions: readonly VersionRow[]): ServerRow[] {
  const { hosted = false, packages = [], endpoints = [], deprecated, versions_after = 0 } = document
  if (!hosted && packages.length + endpoints.length === 0) return []
  const isBridged = !hosted && packages.length === 0 && !endpoints.some(({ protocol }) => protocol === 'mcp')
  const byVersion = new Map<string, ServerRow>()
  for (const row of versions.filter(({ revision }) => revision > versions_after)) {
    const version = row.version ?? `0.0.0-r.${row.revision}`
    if (byVersion.has(version)) continue
    const at = `${new Date(row.published_at).toISOString().slice(0, -1)}000000Z`
    byVersion.set(version, {
      server_name: serverName(name),
      version,
      entry_id: id,
      revision: row.revision,
      is_listed: 1,
      is_bridged: isBridged ? 1 : 0,
      is_latest: 0,
      precedence: row.precedence,
      status: deprecated ? 'deprecated' : 'active',
      status_message: deprecated?.message ?? null,
      status_changed_at: at,
      published_at: at,
      updated_at: at,
    })
  }
  const rows = [...byVersion.values()]
  const latest = rows.reduce<ServerRow | undefined>(
    (highest, row) => (highest && highest.precedence >= row.precedence ? highest : row),
    undefined,
  )
  return rows.map((row) => ({ ...row, is_latest: row === latest ? 1 : 0 }))
}

function serverName(name: string): string {
  if (name.includes('/')) return name
  const dot = name.lastIndexOf('.')
  return dot < 1 ? `local/${name}` : `${name.slice(0, dot)}/${name.slice(dot + 1)}`
}

/** Of two entries with one name, the first has it. */
async function insert(db: Kysely<Tables>, rows: readonly ServerRow[]): Promise<void> {
  const [first] = rows
  if (!first) return
  const taken = await sql<{ entry_id: string }>`
    select entry_id from server where server_name = ${first.server_name} limit 1`.execute(db)
  const name = taken.rows.length === 0 ? first.server_name : `${first.server_name}-2`
  await db
    .insertInto('server')
    .values(rows.map((row) => ({ ...row, server_name: name })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

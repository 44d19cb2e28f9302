import type { ServerVersion } from '../../../schemas/server.ts'
import { chunksOf } from '../../common/chunks.ts'
import { sortableTime } from '../../common/sortable-time.ts'
import { parseServer, serverRow } from '../records/servers.ts'
import { type Database, maxRowsPerStatement, type ServerTable } from '../sql/tables.ts'
import type { StoredEntry } from '../stored-entry.ts'
import { isListed } from './version-content.ts'

/** A written entry, and whether it became a new version. */
interface WrittenEntry {
  /** The entry before, and whether the public saw it. */
  readonly before: { readonly entry?: StoredEntry; readonly listed: boolean }
  readonly entry: StoredEntry
  readonly revision: number
  readonly is_version: boolean
}

/**
 * Lists the new versions of entries under their names in the MCP registry, in the transaction that writes the entries,
 * and hides the versions of those that the public no longer sees. Mirrors write the versions of their entries
 * themselves.
 */
export async function listServers(db: Database, written: readonly WrittenEntry[], at: string): Promise<void> {
  const versions = written.filter(
    ({ entry, is_version }) => is_version && isServer(entry) && !isMirrored(entry),
  )
  const time = sortableTime(at) ?? at
  if (versions.length > 0) await addVersions(db, versions, time)
  for (const { before, entry } of written.filter(hasOtherStatus)) await setStatus(db, before, entry, time)
}

function isServer({ hosted, packages, endpoints, server }: StoredEntry): boolean {
  return hosted || server !== null || packages.length > 0 || endpoints.length > 0
}

function isMirrored({ origin, owner }: StoredEntry): boolean {
  return origin?.kind === 'mcp-registry' && owner === null
}

/** True if the entry was and is not, or was not and is, visible or deprecated. */
function hasOtherStatus({ before, entry }: WrittenEntry): boolean {
  if (!before.entry) return false
  return before.listed !== isListed(entry) || hasOtherDeprecation(before.entry, entry)
}

function hasOtherDeprecation({ deprecated: before }: StoredEntry, { deprecated }: StoredEntry): boolean {
  return !before !== !deprecated || before?.message !== deprecated?.message
}

async function addVersions(db: Database, written: readonly WrittenEntry[], at: string): Promise<void> {
  const names = await namesOf(
    db,
    written.map(({ entry }) => entry),
  )
  const rows = written.map(({ before, entry, revision }): ServerVersion => {
    const { packages, endpoints, hosted, version, deprecated, server } = entry
    const isServerHere = hosted || server !== null || packages.length > 0
    const speaksMcp = isServerHere || endpoints.some(({ protocol }) => protocol === 'mcp')
    return {
      server_name: names.get(entry.id) ?? entry.package_name,
      version: version ?? `0.0.0-r.${revision}`,
      entry_id: entry.id,
      revision,
      mirror: null,
      is_listed: true,
      is_bridged: !speaksMcp,
      is_latest: before.entry === undefined,
      status: deprecated ? 'deprecated' : 'active',
      status_message: deprecated?.message ?? null,
      status_changed_at: at,
      published_at: at,
      updated_at: at,
      document: server,
      meta: null,
    }
  })
  await putServers(db, rows, isOurs)
  const changed = rows.filter(({ is_latest }) => !is_latest)
  for (const name of new Set(changed.map(({ server_name }) => server_name))) await chooseLatest(db, name)
}

/** What a mirror wrote stays. */
const isOurs = { mirror: null }

/** The name of each entry, by its id: the one that it has, or the next one that is free. */
async function namesOf(db: Database, entries: readonly StoredEntry[]): Promise<ReadonlyMap<string, string>> {
  const preferred = new Map(entries.map((entry) => [entry.id, registeredName(entry)]))
  const rows: Pick<ServerTable, 'entry_id' | 'server_name'>[] = []
  for (const chunk of chunksOf([...preferred], maxRowsPerStatement)) {
    const found = await db
      .selectFrom('server')
      .select(['entry_id', 'server_name'])
      .distinct()
      .where((row) =>
        row.or([
          row(
            'entry_id',
            'in',
            chunk.map(([id]) => id),
          ),
          row(
            'server_name',
            'in',
            chunk.map(([, name]) => name),
          ),
        ]),
      )
      .execute()
    rows.push(...found)
  }
  const names = new Map(rows.map((row) => [row.entry_id, row.server_name]))
  const holders = new Map(rows.map((row) => [row.server_name, row.entry_id]))
  for (const [id, name] of preferred) {
    if (names.has(id)) continue
    const free = await freeName(db, name, holders)
    names.set(id, free)
    holders.set(free, id)
  }
  return names
}

async function freeName(db: Database, name: string, holders: ReadonlyMap<string, string>): Promise<string> {
  if (!holders.has(name)) return name
  for (let number = 2; ; number++) {
    const next = `${name}-${number}`
    const row = await db
      .selectFrom('server')
      .select('entry_id')
      .where('server_name', '=', next)
      .executeTakeFirst()
    if (!row && !holders.has(next)) return next
  }
}

/** A mirrored entry has the name of its origin, whoever owns it. */
function registeredName({ origin, package_name }: StoredEntry): string {
  return origin?.kind === 'mcp-registry' ? origin.name : serverName(package_name)
}

/** The name in the MCP registry of an entry that was published here: a namespace, one slash, and a name. */
function serverName(packageName: string): string {
  if (packageName.includes('/')) return packageName
  const dot = packageName.lastIndexOf('.')
  return dot < 1 ? `local/${packageName}` : `${packageName.slice(0, dot)}/${packageName.slice(dot + 1)}`
}

/** Living versions come before deleted ones, semantic ones before others, and later publications before earlier ones. */
async function chooseLatest(db: Database, name: string): Promise<void> {
  const latest = await db
    .selectFrom('server')
    .select('version')
    .where('server_name', '=', name)
    .orderBy((row) => row.case().when('status', '=', 'deleted').then(1).else(0).end())
    .orderBy('precedence', 'desc')
    .orderBy('published_at', 'desc')
    .executeTakeFirstOrThrow()
  await db
    .updateTable('server')
    .set((row) => ({ is_latest: row.case().when('version', '=', latest.version).then(1).else(0).end() }))
    .where('server_name', '=', name)
    .execute()
}

async function setStatus(
  db: Database,
  before: WrittenEntry['before'],
  entry: StoredEntry,
  at: string,
): Promise<void> {
  const { deprecated } = entry
  if (before.listed !== isListed(entry)) {
    await db
      .updateTable('server')
      .set({ is_listed: isListed(entry) ? 1 : 0, updated_at: at })
      .where('entry_id', '=', entry.id)
      .where((row) => row.or([row('revision', 'is', null), row('revision', '>', entry.versions_after)]))
      .execute()
  }
  if (!before.entry || !hasOtherDeprecation(before.entry, entry)) return
  await db
    .updateTable('server')
    .set({
      status: deprecated ? 'deprecated' : 'active',
      status_message: deprecated?.message ?? null,
      status_changed_at: at,
      updated_at: at,
    })
    .where('entry_id', '=', entry.id)
    .where('mirror', 'is', null)
    .where('status', '<>', 'deleted')
    .execute()
}

/** Inserts or replaces versions; of existing rows only those of the mirror, if one is named. */
export async function putServers(
  db: Database,
  servers: readonly ServerVersion[],
  only?: { readonly mirror: string | null },
): Promise<void> {
  for (const chunk of chunksOf(servers.map(serverRow), maxServerRows)) {
    await db
      .insertInto('server')
      .values(chunk)
      .onConflict((conflict) => {
        const update = conflict
          .columns(['server_name', 'version'])
          .doUpdateSet((row) =>
            Object.fromEntries(replaced.map((column) => [column, row.ref(`excluded.${column}`)])),
          )
        return only ? update.where('server.mirror', 'is', only.mirror) : update
      })
      .execute()
  }
}

/** 16 parameters a row. */
const maxServerRows = 500

const replaced = [
  'entry_id',
  'revision',
  'mirror',
  'is_listed',
  'is_bridged',
  'is_latest',
  'status',
  'status_message',
  'status_changed_at',
  'updated_at',
  'document',
  'meta',
] as const satisfies readonly (keyof ServerTable)[]

/** Makes the versions that a mirror wrote for an entry the entry's own, without what the origin states of them. */
export async function adoptServers(
  db: Database,
  mirror: string,
  { id, revision }: Pick<StoredEntry, 'id' | 'revision'>,
  at: string,
): Promise<void> {
  await db
    .updateTable('server')
    .set({ mirror: null, meta: null, revision, updated_at: sortableTime(at) ?? at })
    .where('mirror', '=', mirror)
    .where('entry_id', '=', id)
    .execute()
}

/** All versions of some names, also those that nobody sees. */
export async function serversNamed(db: Database, names: readonly string[]): Promise<ServerVersion[]> {
  const found: ServerTable[] = []
  for (const chunk of chunksOf(names, maxRowsPerStatement)) {
    found.push(...(await db.selectFrom('server').selectAll().where('server_name', 'in', chunk).execute()))
  }
  return found.map(parseServer)
}

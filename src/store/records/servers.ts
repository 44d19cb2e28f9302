import { type ExpressionBuilder, sql } from 'kysely'
import type { ServerStore, ServerVersion } from '../../../schemas/server.ts'
import { chunksOf } from '../../common/chunks.ts'
import { precedenceOf } from '../entries/semver-sort-key.ts'
import { contains } from '../sql/contains.ts'
import { type Database, maxRowsPerStatement, type ServerTable, type Tables } from '../sql/tables.ts'

type Expression = ExpressionBuilder<Tables, 'server'>

export function createServerStore(reader: Database): ServerStore {
  return {
    async list({ after, limit, is_latest, version, updated_since, name_contains, bridged, ...query }) {
      let select = reader.selectFrom('server').selectAll()
      if (!query.include_deleted) select = select.where(isShown)
      if (is_latest) select = select.where('is_latest', '=', 1)
      if (version !== undefined) select = select.where('version', '=', version)
      if (updated_since !== undefined) select = select.where('updated_at', '>', updated_since)
      if (bridged === false) select = select.where('is_bridged', '=', 0)
      if (name_contains) select = select.where(nameContains(name_contains))
      if (after) select = select.where(isAfter(after.server_name, after.version))
      const rows = await select.orderBy('server_name').orderBy('version').limit(limit).execute()
      return rows.map(parseServer)
    },
    async versions(serverName, includeDeleted) {
      let select = reader.selectFrom('server').selectAll().where('server_name', '=', serverName)
      if (!includeDeleted) select = select.where(isShown)
      const rows = await select.orderBy('published_at', 'desc').orderBy('version', 'desc').execute()
      return rows.map(parseServer)
    },
    async find(serverName, version, includeDeleted) {
      let select = reader.selectFrom('server').selectAll().where('server_name', '=', serverName)
      if (!includeDeleted) select = select.where(isShown)
      select =
        version === 'latest' ? select.where('is_latest', '=', 1) : select.where('version', '=', version)
      const row = await select.executeTakeFirst()
      return row && parseServer(row)
    },
    async latestOf(entryIds) {
      const found = new Map<string, ServerVersion>()
      for (const chunk of chunksOf(entryIds, maxRowsPerStatement)) {
        const rows = await reader
          .selectFrom('server')
          .selectAll()
          .where('entry_id', 'in', chunk)
          .where('is_latest', '=', 1)
          .where(isShown)
          .execute()
        for (const row of rows) found.set(row.entry_id, parseServer(row))
      }
      return found
    },
  }
}

function isShown(row: Expression) {
  return row.and([row('is_listed', '=', 1), row('status', '<>', 'deleted')])
}

/** Row values are compared in the order of the primary key. */
function isAfter(name: string, version: string) {
  return sql<boolean>`(server_name, version) > (${name}, ${version})`
}

function nameContains(text: string) {
  return contains('server_name', text.toLowerCase(), { caseless: true })
}

export function parseServer({ precedence: _, ...row }: ServerTable): ServerVersion {
  return {
    ...row,
    is_listed: row.is_listed === 1,
    is_bridged: row.is_bridged === 1,
    is_latest: row.is_latest === 1,
    document: row.document === null ? null : JSON.parse(row.document),
    meta: row.meta === null ? null : JSON.parse(row.meta),
  }
}

export function serverRow(server: ServerVersion): ServerTable {
  return {
    ...server,
    precedence: precedenceOf(server.version),
    is_listed: server.is_listed ? 1 : 0,
    is_bridged: server.is_bridged ? 1 : 0,
    is_latest: server.is_latest ? 1 : 0,
    document: server.document && JSON.stringify(server.document),
    meta: server.meta && JSON.stringify(server.meta),
  }
}

import { z } from 'zod'

/** The life of a version in the MCP registry. */
export const ServerStatus = z.enum(['active', 'deprecated', 'deleted'])
export type ServerStatus = z.infer<typeof ServerStatus>

/** A version of an agent as the MCP registry lists it. Times are RFC 3339 with nine digits of a second. */
export interface ServerVersion {
  /** A reverse domain name, one slash, and a name. */
  readonly server_name: string
  readonly version: string
  readonly entry_id: string
  /** Revision of the version of the entry; null for a version of a mirror. */
  readonly revision: number | null
  /** The mirror that wrote it; null for a version that was published here. */
  readonly mirror: string | null
  /** Whether the public sees it. */
  readonly is_listed: boolean
  /** Whether the agent has neither an MCP endpoint nor a package, so that this gateway speaks MCP for it. */
  readonly is_bridged: boolean
  readonly is_latest: boolean
  readonly status: ServerStatus
  readonly status_message: string | null
  readonly status_changed_at: string
  readonly published_at: string
  readonly updated_at: string
  /** The server.json as its origin or its publisher stated it; null: it is rendered from the version. */
  readonly document: Readonly<Record<string, unknown>> | null
  /** What the origin states of the version, in its own form. */
  readonly meta: Readonly<Record<string, unknown>> | null
}

/** Where a page of versions ends. */
export type ServerPosition = Pick<ServerVersion, 'server_name' | 'version'>

export interface ServerQuery {
  /** The last version of the page before. */
  readonly after?: ServerPosition | undefined
  readonly limit: number
  /** Only the latest version of each name. */
  readonly is_latest?: boolean | undefined
  readonly version?: string | undefined
  /** A sortable time; only what changed later. */
  readonly updated_since?: string | undefined
  /** With versions that are deleted or that the public no longer sees. */
  readonly include_deleted?: boolean | undefined
  /** Part of the name, compared without case. */
  readonly name_contains?: string | undefined
  /** False leaves agents out for which this gateway speaks MCP. */
  readonly bridged?: boolean | undefined
}

/** The versions of agents under their names in the MCP registry. */
export interface ServerStore {
  /** In the order of names and versions, as texts by their bytes. */
  list(query: ServerQuery): Promise<readonly ServerVersion[]>
  /** The versions of a name, the newest publication first. */
  versions(serverName: string, includeDeleted: boolean): Promise<readonly ServerVersion[]>
  /** A version of a name; `latest` is the latest one. */
  find(serverName: string, version: string, includeDeleted: boolean): Promise<ServerVersion | undefined>
  /** The latest versions of entries, by entry id. */
  latestOf(entryIds: readonly string[]): Promise<ReadonlyMap<string, ServerVersion>>
}

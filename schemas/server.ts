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

/** The member of `_meta` in which a registry states the official facts of a version, by the MCP registry's API. */
export const officialKey = 'io.modelcontextprotocol.registry/official'
/** The member of `_meta` in which this registry states what it found out. */
export const ownKey = 'io.github.dragoman/registry'

const name = z.string().min(1).max(300).describe('Name in the MCP registry: a namespace, one slash, a name.')
const include_deleted = z
  .boolean()
  .default(false)
  .describe('With versions that are deleted or no longer listed.')

export const ListServersInput = z.strictObject({
  query: z
    .string()
    .trim()
    .min(1)
    .max(1000)
    .optional()
    .describe(
      'Finds servers by words and meaning, the best first, the latest version of each. With `version` or `updated_since`: a part of the name.',
    ),
  limit: z.int().min(1).max(100).default(30),
  cursor: z
    .string()
    .max(4000)
    .optional()
    .describe('nextCursor of the previous page. It holds its filters; others are ignored.'),
  version: z.string().min(1).max(255).optional().describe('`latest`, or one exact version.'),
  updated_since: z.iso
    .datetime({ offset: true })
    .optional()
    .describe('Only what changed later; includes deleted versions.'),
  include_deleted: z.boolean().optional().describe('With versions that are deleted or no longer listed.'),
  bridged: z.boolean().optional().describe('False leaves out agents for which this gateway speaks MCP.'),
})
export type ListServersInput = z.output<typeof ListServersInput>

export const ServerVersionsInput = z.strictObject({ name, include_deleted })
export const GetServerInput = z.strictObject({
  name,
  version: z.string().min(1).max(300).default('latest').describe('`latest`, or one exact version.'),
  include_deleted,
})

/** A version as the API of the MCP registry shows it, schema 2025-12-01. */
export const ListedServer = z.object({
  server: z.looseObject({ name: z.string(), description: z.string(), version: z.string() }),
  _meta: z.record(z.string(), z.unknown()),
})
export type ListedServer = z.infer<typeof ListedServer>

export const ServerPage = z.object({
  servers: z.array(ListedServer),
  metadata: z.object({
    nextCursor: z.string().optional().describe('Absent on the last page.'),
    count: z.int().describe('Number of versions on this page.'),
  }),
})
export type ServerPage = z.infer<typeof ServerPage>

const ServerIssue = z.object({
  type: z.enum(['json', 'schema', 'semantic', 'linter']),
  path: z.string().describe('Such as `packages[0].transport.url`.'),
  message: z.string(),
  severity: z.enum(['error', 'warning', 'info']),
  reference: z.string().describe('The rule.'),
})
export type ServerIssue = z.infer<typeof ServerIssue>

export const ServerValidation = z.object({ valid: z.boolean(), issues: z.array(ServerIssue) })
export type ServerValidation = z.infer<typeof ServerValidation>

/** A server.json, whatever it holds: the validation says what is wrong. */
export const AnyServer = z.looseObject({})
export type AnyServer = z.infer<typeof AnyServer>
export const ServerInput = z.strictObject({ server: AnyServer.describe('A server.json document.') })
export type ServerInput = z.infer<typeof ServerInput>

export const ServerStatusInput = z.strictObject({
  name,
  version: z.string().min(1).max(300).optional().describe('All versions when absent.'),
  status: ServerStatus,
  statusMessage: z.string().max(500).optional().describe('Why; not with the status active.'),
})
export type ServerStatusInput = z.output<typeof ServerStatusInput>

export const ChangedServers = z.object({
  updatedCount: z.int(),
  servers: z.array(ListedServer).describe('The versions that were changed.'),
})
export type ChangedServers = z.infer<typeof ChangedServers>

export const DomainLogin = z.strictObject({
  method: z.enum(['dns', 'http', 'none']),
  domain: z.string().max(253).optional().describe('With dns and http.'),
  timestamp: z.iso.datetime({ offset: true }).optional().describe('The present time, to the second.'),
  signed_timestamp: z
    .string()
    .max(400)
    .optional()
    .describe('Signature of the text of `timestamp` by the key in the record of the domain, in hex.'),
})
export type DomainLogin = z.output<typeof DomainLogin>

export const RegistryToken = z.object({
  registry_token: z.string(),
  expires_at: z.int().describe('Seconds since the epoch.'),
})
export type RegistryToken = z.infer<typeof RegistryToken>

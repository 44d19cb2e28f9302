import { z } from 'zod'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'
import {
  type ListedServer,
  ListServersInput,
  type ServerPage,
  type ServerPosition,
  type ServerQuery,
  type ServerStore,
} from '../../../schemas/server.ts'
import { decodeCursor, encodeCursor } from '../../common/cursor.ts'
import { sortableTime } from '../../common/sortable-time.ts'
import { takePage } from '../queries/cursor.ts'
import type { SearchService } from '../queries/search-service.ts'
import type { RenderServers, ServerHit } from './render-server.ts'

interface ServerCatalogOptions {
  readonly servers: ServerStore
  readonly search: SearchService['search']
  readonly render: RenderServers
}

/** Searches for agents that no page of a search may exceed, so that a page that lists few of them ends. */
const maxRounds = 5
/** Shortest part of a name that the official registry searches for. */
const minNamePart = 3

/** The agents as the API of the MCP registry lists them: what the public sees, to every caller the same. */
export class ServerCatalog {
  readonly #servers: ServerStore
  readonly #search: ServerCatalogOptions['search']
  readonly #render: RenderServers

  constructor({ servers, search, render }: ServerCatalogOptions) {
    this.#servers = servers
    this.#search = search
    this.#render = render
  }

  async list({ limit, cursor, ...stated }: ListServersInput, signal: AbortSignal): Promise<ServerPage> {
    const { filters, after } = cursor === undefined ? { filters: stated, after: undefined } : read(cursor)
    if (filters.updated_since !== undefined && filters.include_deleted === false) {
      throw refused('/updated_since', 'What changed since a time includes deleted versions.')
    }
    return searchesByMeaning(filters)
      ? await this.#found(filters, limit, typeof after === 'string' ? after : undefined, signal)
      : await this.#listed(filters, limit, typeof after === 'string' ? undefined : after)
  }

  async versions(name: string, includeDeleted: boolean): Promise<ServerPage> {
    const rows = await this.#servers.versions(name, includeDeleted)
    if (rows.length === 0) throw unknownServer(name)
    const servers = await this.#render(rows.map((row) => ({ row })))
    return { servers, metadata: { count: servers.length } }
  }

  async get(name: string, version: string, includeDeleted: boolean): Promise<ListedServer> {
    const row = await this.#servers.find(name, version, includeDeleted)
    const [server] = row ? await this.#render([{ row }]) : []
    if (!server) throw unknownServer(name)
    return server
  }

  /** The rows of the store, in their order, with the semantics of the official registry. */
  async #listed(filters: Filters, limit: number, after: ServerPosition | undefined): Promise<ServerPage> {
    const rows = await this.#servers.list({ ...toQuery(filters), after, limit: limit + 1 })
    const { page, last } = takePage(rows, limit)
    const servers = await this.#render(page.map((row) => ({ row })))
    return toPage(servers, last && cursorOf(filters, [last.server_name, last.version]))
  }

  /** The latest versions of the agents that a search finds, the best first. */
  async #found(
    filters: Filters,
    limit: number,
    after: string | undefined,
    signal: AbortSignal,
  ): Promise<ServerPage> {
    const found: ServerHit[] = []
    let cursor = after
    for (let round = 0; round < maxRounds && found.length < limit; round++) {
      const input = {
        query: filters.query,
        limit: limit - found.length,
        sort: 'relevance',
        facets: false,
        ...(cursor !== undefined && { cursor }),
      } as const
      const { agents, next_cursor } = await this.#search(input, null, signal)
      const latest = await this.#servers.latestOf(agents.map(({ id }) => id))
      for (const { id, score, match } of agents) {
        const row = latest.get(id)
        if (row && !(filters.bridged === false && row.is_bridged)) found.push({ row, score, match })
      }
      cursor = next_cursor ?? undefined
      if (cursor === undefined) break
    }
    return toPage(await this.#render(found), cursor === undefined ? undefined : cursorOf(filters, cursor))
  }
}

const Filters = ListServersInput.omit({ limit: true, cursor: true })
type Filters = z.output<typeof Filters>
/** No name holds NUL, which PostgreSQL refuses. */
const part = z.string().refine((text) => !text.includes('\0'))
const Position = z.union([z.string(), z.tuple([part, part])])

/** By words and meaning, unless a version or a time is requested: then the name counts, as at the official registry. */
function searchesByMeaning({ query, version, updated_since, include_deleted }: Filters): boolean {
  if (query === undefined || updated_since !== undefined || include_deleted) return false
  return version === undefined || version === 'latest'
}

function toQuery({
  query,
  version,
  updated_since,
  include_deleted,
  bridged,
}: Filters): Omit<ServerQuery, 'limit'> {
  if (query !== undefined && query.length < minNamePart) {
    throw refused('/query', `Give at least ${minNamePart} characters of the name.`)
  }
  return {
    ...(query !== undefined && { name_contains: query }),
    ...(version === 'latest' && { is_latest: true }),
    ...(version !== undefined && version !== 'latest' && { version }),
    ...(updated_since !== undefined && { updated_since: sortableTime(updated_since) }),
    include_deleted: include_deleted ?? updated_since !== undefined,
    bridged,
  }
}

function toPage(servers: ListedServer[], nextCursor: string | undefined): ServerPage {
  return { servers, metadata: { ...(nextCursor !== undefined && { nextCursor }), count: servers.length } }
}

/** The position with the filters: clients leave them out when they ask for the next page. */
function cursorOf(filters: Filters, position: unknown): string {
  return encodeCursor({ filters, after: position })
}

function read(cursor: string): { filters: Filters; after: string | ServerPosition } {
  const decoded = decodeCursor(cursor)
  const { filters, after } = isRecord(decoded) ? decoded : {}
  const parsed = Filters.safeParse(filters)
  const position = Position.safeParse(after)
  if (!parsed.success || !position.success) {
    throw refused('/cursor', 'Send nextCursor of the previous page unchanged.')
  }
  const place = position.data
  return {
    filters: parsed.data,
    after: typeof place === 'string' ? place : { server_name: place[0], version: place[1] },
  }
}

function refused(pointer: string, detail: string): Failure {
  return new Failure('invalid_request', detail, { errors: [{ pointer, detail }] })
}

function unknownServer(name: string): Failure {
  return new Failure('not_found', `No such version of ${name} is listed.`, {
    hint: 'list_servers finds the names; a name is a namespace, one slash and a name, case-sensitive.',
  })
}

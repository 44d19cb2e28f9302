import type { IncomingMessage, ServerResponse } from 'node:http'
import { compare, parse } from 'semver'
import type { Json } from '../../schemas/json.ts'
import { serve } from '../net/support.ts'

/** The documents and their facts, as the official MCP registry lists them. */
export interface OfficialRow {
  readonly server: ServerJson
  readonly _meta: { readonly 'io.modelcontextprotocol.registry/official': OfficialFacts }
}
export type ServerJson = { readonly name: string; readonly version: string } & Readonly<Record<string, Json>>
interface OfficialFacts {
  readonly status: OfficialStatus
  readonly statusChangedAt: string
  readonly statusMessage?: string
  readonly publishedAt: string
  readonly updatedAt: string
  readonly isLatest: boolean
}
type OfficialStatus = 'active' | 'deprecated' | 'deleted'

/** A registry that holds documents, and is changed by its publishers while others read it. */
export interface OfficialRegistry extends AsyncDisposable {
  /** Its paths begin with `/v0.1` and `/v0`. */
  readonly url: string
  /** Adds a version. */
  publish(document: ServerJson): Promise<void>
  /** Replaces the document of a version, as its administrators may. */
  edit(document: ServerJson): Promise<void>
  setStatus(name: string, version: string, status: OfficialStatus, message?: string): Promise<void>
}

export const official = 'io.modelcontextprotocol.registry/official'

/** The versions of each name. */
type Rows = Map<string, Held[]>

interface Held {
  server: ServerJson
  facts: OfficialFacts
}

/**
 * The reading side of the official registry v1.8.5, in memory. `test/conformance/mcp-registry` compares its answers
 * with those of the original. `interfere` may answer a request itself, as a registry with a fault does; it returns
 * true if it did.
 */
export async function startRegistryReplay(
  documents: readonly ServerJson[],
  interfere: (request: IncomingMessage, response: ServerResponse) => boolean = () => false,
): Promise<OfficialRegistry & { readonly requests: readonly string[] }> {
  const rows: Rows = new Map()
  const requests: string[] = []
  const now = createClock()

  const publish: OfficialRegistry['publish'] = async (server) => {
    const time = now()
    const versions = rows.get(server.name) ?? []
    rows.set(server.name, versions)
    versions.push({
      server,
      facts: { status: 'active', statusChangedAt: time, publishedAt: time, updatedAt: time, isLatest: true },
    })
    markLatest(versions)
  }
  for (const document of documents) await publish(document)

  const server = await serve((request, response) => {
    requests.push(request.url ?? '')
    if (interfere(request, response)) return
    const { status, body } = answer(rows, new URL(request.url ?? '', 'http://registry.test'))
    response.writeHead(status, {
      'Content-Type': status === 200 ? 'application/json' : 'application/problem+json',
    })
    response.end(JSON.stringify(body))
  })

  return {
    url: server.origin,
    requests,
    publish,
    async edit(document) {
      const held = heldOf(rows, document.name, document.version)
      held.server = document
      held.facts = { ...held.facts, updatedAt: now() }
    },
    async setStatus(name, version, status, message) {
      const held = heldOf(rows, name, version)
      const time = now()
      const { statusMessage: _, ...facts } = held.facts
      held.facts = {
        ...facts,
        status,
        statusChangedAt: status === facts.status ? facts.statusChangedAt : time,
        ...(message !== undefined && { statusMessage: message }),
        updatedAt: time,
      }
      markLatest(rows.get(name) ?? [])
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

interface Answer {
  readonly status: number
  readonly body: unknown
}

const titles: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  404: 'Not Found',
  422: 'Unprocessable Entity',
}

function problem(status: number, detail: string): Answer {
  return { status, body: { title: titles[status], status, detail } }
}

function answer(rows: Rows, { pathname, searchParams }: URL): Answer {
  const path = /^\/v0(?:\.1)?\/servers(?:\/([^/]+)\/versions(?:\/([^/]+))?)?$/.exec(pathname)
  if (!path) return problem(404, 'Endpoint not found. See /docs for the API documentation.')
  const [name, version] = path.slice(1).map((part) => part && decodeURIComponent(part))
  if (name === undefined) return list(rows, searchParams)
  const showsDeleted = searchParams.get('include_deleted') === 'true'
  const found = (rows.get(name) ?? [])
    .filter(({ facts }) => showsDeleted || facts.status !== 'deleted')
    .toSorted(byPublication)
  if (version === undefined) {
    return found.length > 0 ? page(found.map(toRow)) : problem(404, 'Server not found')
  }
  const match = found.find(({ server, facts }) =>
    version === 'latest' ? facts.isLatest : server.version === version,
  )
  return match ? { status: 200, body: toRow(match) } : problem(404, 'Server not found')
}

function list(rows: Rows, query: URLSearchParams): Answer {
  const limit = Number(query.get('limit') ?? 30)
  if (!(limit >= 1 && limit <= 100)) return problem(422, 'validation failed')
  const since = query.get('updated_since')
  if (since && !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(since)) {
    return problem(
      400,
      'Invalid updated_since format: expected RFC3339 timestamp (e.g., 2025-08-07T13:15:04.280Z)',
    )
  }
  if (since && query.get('include_deleted') === 'false') {
    return problem(
      400,
      'Cannot set include_deleted=false when using updated_since (incremental sync requires deleted servers)',
    )
  }
  const showsDeleted = since || query.get('include_deleted') === 'true'
  const version = query.get('version')
  const search = query.get('search')?.toLowerCase()
  const cursor = query.get('cursor')
  const [cursorName = '', ...cursorVersion] = cursor?.split(':') ?? []
  const found = [...rows.values()]
    .flat()
    .filter(({ server, facts }) => {
      if (!showsDeleted && facts.status === 'deleted') return false
      if (since && toNanoseconds(facts.updatedAt) <= toNanoseconds(since)) return false
      if (search && !server.name.toLowerCase().includes(search)) return false
      if (version === 'latest' && !facts.isLatest) return false
      if (version && version !== 'latest' && server.version !== version) return false
      if (!cursor) return true
      if (cursorVersion.length === 0) return server.name > cursorName
      return byNameAndVersion(server, { name: cursorName, version: cursorVersion.join(':') }) > 0
    })
    .toSorted((left, right) => byNameAndVersion(left.server, right.server))
    .slice(0, limit)
  const last = found.at(-1)?.server
  return page(found.map(toRow), found.length === limit && last ? `${last.name}:${last.version}` : undefined)
}

function page(servers: readonly OfficialRow[], nextCursor?: string): Answer {
  return {
    status: 200,
    body: { servers, metadata: { ...(nextCursor && { nextCursor }), count: servers.length } },
  }
}

function toRow({ server, facts }: Held): OfficialRow {
  return { server, _meta: { [official]: facts } }
}

function heldOf(rows: Rows, name: string, version: string): Held {
  const found = rows.get(name)?.find(({ server }) => server.version === version)
  if (!found) throw new Error(`There is no version ${version} of ${name}.`)
  return found
}

type Named = Pick<ServerJson, 'name' | 'version'>

function byNameAndVersion(left: Named, right: Named): number {
  const [before, after] = left.name === right.name ? [left.version, right.version] : [left.name, right.name]
  if (before === after) return 0
  return before < after ? -1 : 1
}

/** The highest version that is not deleted is the latest one; a version that is no semantic version is lower. */
function markLatest(versions: readonly Held[]): void {
  const living = versions.filter(({ facts }) => facts.status !== 'deleted')
  const [latest] = (living.length > 0 ? living : versions).toSorted(byPrecedence)
  for (const version of versions) version.facts = { ...version.facts, isLatest: version === latest }
}

function byPrecedence(left: Held, right: Held): number {
  const [version, other] = [parse(left.server.version), parse(right.server.version)]
  if (version && other) return compare(other, version)
  if (version || other) return version ? -1 : 1
  return byPublication(left, right)
}

function byPublication(left: Held, right: Held): number {
  return toNanoseconds(left.facts.publishedAt) < toNanoseconds(right.facts.publishedAt) ? 1 : -1
}

/** RFC 3339 times in microseconds, each later than the one before. */
function createClock(): () => string {
  let last = 0n
  return () => {
    const present = BigInt(Date.now()) * 1000n
    last = present > last ? present : last + 1n
    const micros = (last % 1_000_000n).toString().padStart(6, '0').replace(/0+$/, '')
    const seconds = new Date(Number(last / 1_000_000n) * 1000).toISOString().slice(0, 19)
    return `${seconds}${micros && `.${micros}`}Z`
  }
}

/** Of an RFC 3339 time, whose fraction has any number of digits. */
export function toNanoseconds(time: string): bigint {
  const [, head = '', fraction = '', zone = ''] = /^([^.]*?)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/.exec(time) ?? []
  return BigInt(Date.parse(head + zone)) * 1_000_000n + BigInt(fraction.slice(0, 9).padEnd(9, '0'))
}

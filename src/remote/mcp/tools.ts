import { randomUUID } from 'node:crypto'
import type { Client, RequestOptions, Tool } from '@modelcontextprotocol/client'
import { LRUCache } from 'lru-cache'
import { type Capability, capabilityOptions } from '../../../schemas/entry-parts.ts'
import { Failure } from '../../../schemas/failure.ts'
import { type Clock, monotonic } from '../../common/clock.ts'
import { jsonBytes } from '../../common/json.ts'
import { maxTimeout_ms } from './sdk.ts'

interface ToolListing {
  readonly tools: readonly Tool[]
  /** Milliseconds for which the list is valid, if the server states it. */
  readonly ttl_ms?: number
  /** True if the list is the same for all callers. */
  readonly is_public: boolean
}

/** The tools of a server as capabilities, until a time in milliseconds since the epoch. */
interface ToolList {
  readonly capabilities: readonly Capability[]
  /** Those that require some of their params in headers too (SEP-2243). */
  readonly mirrored: ReadonlyMap<string, Tool>
  readonly until: number
}

/** The tool lists of all servers. */
type ToolListCache = LRUCache<string, ToolList>

const defaultTtl_ms = 60_000
const maxTtl_ms = 3_600_000
/** Maximum characters of all cached tool lists. */
const maxCachedCharacters = 32 * 1024 * 1024
/** Replaces the caller in keys of tool lists that are the same for all callers. */
const allCallers = ''

export function createToolListCache(): ToolListCache {
  return new LRUCache({
    maxSize: maxCachedCharacters,
    sizeCalculation: ({ capabilities }) => JSON.stringify(capabilities).length + 1,
  })
}

/** The lists of tools that one server shows: to all callers, or to each caller its own. */
export class ToolLists {
  readonly #cache: ToolListCache
  readonly #clock: Clock
  readonly #id = randomUUID()
  /** Counts changes of the list. It is part of the key, so that older lists are not found. */
  #generation = 0

  constructor(cache: ToolListCache, clock: Clock) {
    this.#cache = cache
    this.#clock = monotonic(clock)
  }

  /** The tools that the server shows the caller; undefined if they are to be read again. */
  fresh(caller: string): readonly Capability[] | undefined {
    const now = this.#clock()
    return this.#cached(caller).find(({ until }) => until > now)?.capabilities
  }

  /** An old list will do: a server that wants other headers now refuses the call, and is asked for its list. */
  mirroredTool(name: string, caller: string): Tool | undefined {
    const lists = this.#cached(caller)
    return lists.findLast(({ mirrored }) => mirrored.has(name))?.mirrored.get(name)
  }

  /** Reads the list that the server shows the caller, and keeps it. */
  async read(client: Client, signal: AbortSignal, caller: string): Promise<ToolList> {
    // Made before the list is read: it may change while it is on its way.
    const shared = this.#keyOf(allCallers)
    const own = this.#keyOf(caller)
    const { tools, ttl_ms, is_public } = await listTools(client, { signal, timeout: maxTimeout_ms })
    const capabilities = capabilitiesOf(tools)
    const until = this.#clock() + Math.min(ttl_ms ?? defaultTtl_ms, maxTtl_ms)
    const list = { capabilities, mirrored: mirroredIn(capabilities), until }
    this.#cache.set(is_public ? shared : own, list)
    return list
  }

  /** The server has told that its list has changed. */
  forget(): void {
    this.#generation++
  }

  #cached(caller: string): readonly ToolList[] {
    const keys = [allCallers, caller].map((whose) => this.#keyOf(whose))
    return keys.flatMap((key) => this.#cache.get(key) ?? [])
  }

  #keyOf(caller: string): string {
    return `${this.#id} ${this.#generation} ${caller}`
  }
}

/** The tools whose schemas name headers; the schemas are those of the capabilities, so that they are kept once. */
function mirroredIn(capabilities: readonly Capability[]): ReadonlyMap<string, Tool> {
  const mirrored = capabilities.filter(({ input_schema }) =>
    JSON.stringify(input_schema ?? {}).includes('"x-mcp-header"'),
  )
  return new Map(
    mirrored.map(({ name, input_schema }) => [
      name,
      { name, inputSchema: input_schema as Tool['inputSchema'] },
    ]),
  )
}

const maxPages = 10
const maxTools = 1_000
const maxBytes = 1024 * 1024
const maxNameLength = 200
const maxDescriptionLength = 4_000

/**
 * Reads all pages of `tools/list`. Throws Failure `upstream_invalid` for a list that is too long, and errors of the
 * SDK.
 */
async function listTools(client: Client, options: RequestOptions): Promise<ToolListing> {
  const { is_cut, ...listing } = await readTools(client, options)
  if (!is_cut) return listing
  throw new Failure(
    'upstream_invalid',
    `The agent lists more than ${maxTools} tools, ${maxPages} pages or ${maxBytes} bytes of them.`,
  )
}

/** The first tools of a server, and whether it lists more. Throws errors of the SDK. */
export async function readTools(
  client: Client,
  options: RequestOptions,
): Promise<ToolListing & { readonly is_cut: boolean }> {
  const tools: Tool[] = []
  let cursor: string | undefined
  let bytes = 0
  for (let page = 0; page < maxPages; page++) {
    const params = cursor === undefined ? {} : { cursor }
    const {
      tools: more,
      nextCursor,
      ...hints
    } = await client.request({ method: 'tools/list', params }, options)
    tools.push(...more)
    bytes += jsonBytes(more)
    if (tools.length > maxTools || bytes > maxBytes) break
    if (nextCursor === undefined) return { tools, is_cut: false, ...lifetime(hints) }
    cursor = nextCursor
  }
  return { tools: tools.slice(0, maxTools), is_cut: true, is_public: false }
}

/** SEP-2549; servers of a legacy protocol version send neither field. */
function lifetime({ ttlMs, cacheScope }: { readonly [hint: string]: unknown }): Omit<ToolListing, 'tools'> {
  return { is_public: cacheScope === 'public', ...(typeof ttlMs === 'number' && { ttl_ms: ttlMs }) }
}

/** Tools as capabilities of an entry. */
export function capabilitiesOf(tools: readonly Tool[]): Capability[] {
  return tools
    .filter(({ name }) => name.length > 0 && name.length <= maxNameLength)
    .map(({ name, description = '', inputSchema, outputSchema, annotations, ...stated }) => ({
      name,
      description: description.slice(0, maxDescriptionLength),
      ...capabilityOptions({
        title: stated.title?.slice(0, maxNameLength),
        input_schema: inputSchema,
        output_schema: outputSchema,
        read_only: annotations?.readOnlyHint,
        annotations,
        icons: stated.icons,
        _meta: stated._meta,
      }),
    }))
}

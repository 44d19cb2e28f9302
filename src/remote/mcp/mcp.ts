import { AsyncLocalStorage } from 'node:async_hooks'
import { LRUCache } from 'lru-cache'
import type { Endpoint } from '../../../schemas/entry-parts.ts'
import type { Clock } from '../../common/clock.ts'
import type { Connect, RemoteCall } from '../remote-agent.ts'
import { createMcpAgent, type Described } from './agent.ts'
import type { ConnectionOptions } from './connection.ts'
import type { Exchange } from './exchange.ts'

export interface McpOptions extends Pick<ConnectionOptions, 'open' | 'dial' | 'client'> {
  /** The system's when absent. */
  readonly clock?: Clock
  /** How long a session of the 2025 era is kept that its caller does not use; 5 minutes when absent. */
  readonly session_idle_ms?: number
  /** The same for a WebSocket; 1 minute when absent. */
  readonly socket_idle_ms?: number
  /** Sessions or sockets kept an endpoint; 32 when absent. */
  readonly most_kept?: number
  /**
   * Headers that differ from call to call of one caller, as an assertion does; names in lower case. A WebSocket can say
   * them only when it is opened, so it is used for calls whose other headers are the same.
   */
  readonly fleeting_headers?: readonly string[]
}

/** Characters of what servers say that they can do. */
const mostDescribed = 32 * 1024 * 1024

const bindings: ReadonlySet<string | undefined> = new Set([undefined, 'streamable-http', 'sse'])

/**
 * Calls MCP servers: 2026-07-28 and the revisions before it, over Streamable HTTP, HTTP+SSE and WebSocket. `open` and
 * `dial` are of one safe-fetch, whose `idle_ms` should be as long as a call may take: a tool may be silent that long.
 */
export function createMcpConnect({
  clock = Date.now,
  session_idle_ms = 300_000,
  socket_idle_ms = 60_000,
  most_kept = 32,
  fleeting_headers = [],
  ...options
}: McpOptions): Connect {
  const current = new AsyncLocalStorage<Exchange>()
  const described = new LRUCache<string, Described>({
    maxSize: mostDescribed,
    sizeCalculation: ({ capabilities }) => JSON.stringify(capabilities).length + 1,
  })
  return (endpoint) => {
    if (endpoint.protocol !== 'mcp' || !isSpoken(endpoint)) return undefined
    const kept = isSocket(endpoint)
      ? { idle_ms: socket_idle_ms, keeper: keeperOfSockets(fleeting_headers) }
      : { idle_ms: session_idle_ms, keeper: keeperOfSessions }
    return createMcpAgent(endpoint, { ...options, ...kept, clock, current, described, most: most_kept })
  }
}

function keeperOfSessions({ caller }: RemoteCall): string {
  return caller
}

function keeperOfSockets(fleeting: readonly string[]): (call: RemoteCall) => string {
  return ({ caller, headers }) => {
    const lasting = Object.entries(headers).filter(([name]) => !fleeting.includes(name))
    return JSON.stringify([caller, lasting.sort()])
  }
}

function isSpoken(endpoint: Endpoint): boolean {
  return URL.canParse(endpoint.url) && (isSocket(endpoint) || bindings.has(endpoint.binding))
}

function isSocket({ url }: Endpoint): boolean {
  return /^wss?:/i.test(url)
}

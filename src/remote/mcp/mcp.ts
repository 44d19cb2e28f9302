import { AsyncLocalStorage } from 'node:async_hooks'
import { LRUCache } from 'lru-cache'
import { isSpoken } from '../../../schemas/callable.ts'
import type { Endpoint } from '../../../schemas/entry-parts.ts'
import { Failure } from '../../../schemas/failure.ts'
import { isPackageUrl } from '../../../schemas/package.ts'
import type { Clock } from '../../common/clock.ts'
import type { Connect, RemoteCall } from '../remote-agent.ts'
import { type Description, McpAgent } from './agent.ts'
import type { ConnectionOptions, McpConnection } from './connection.ts'
import type { McpExchange } from './exchange.ts'
import { Listeners } from './listen.ts'
import { OpenCalls } from './open-calls.ts'
import { Pool } from './pool.ts'

export interface McpOptions extends Pick<ConnectionOptions, 'open' | 'dial' | 'client'> {
  /** The system clock when absent. */
  readonly clock?: Clock
  /** Milliseconds for which an unused session of a legacy protocol version is kept; 5 minutes when absent. */
  readonly session_idle_ms?: number
  /** Milliseconds for which an unused WebSocket is kept; 1 minute when absent. */
  readonly socket_idle_ms?: number
  /** Pooled sessions or sockets per endpoint; 32 when absent. */
  readonly max_pooled?: number
  /**
   * Headers that differ between calls of one caller, such as an assertion; names in lower case. A WebSocket sends
   * headers only when it is opened, so calls share a socket if their other headers are the same.
   */
  readonly per_call_headers?: readonly string[]
  /** Origins of this gateway: no agent may send a user there. */
  readonly own_origins?: () => readonly string[]
  /** The running packages, of all agents. */
  readonly processes?: ProcessPool
  /** Called when a server tells that its list of tools has changed. */
  readonly onToolsChanged?: (packageName: string) => void
}

/** Running packages by the keys of their launches. */
export type ProcessPool = Pool<McpConnection>

/** At most `max` processes: beyond that an idle one ends first, and if there is none, calls are refused. */
export function createProcessPool({
  max,
  idle_ms,
}: {
  readonly max: number
  readonly idle_ms: number
}): ProcessPool {
  const refuse = () =>
    new Failure('unavailable', `All ${max} processes of packages are in use.`, {
      hint: 'Try again later; DRAGOMAN_RUN_MAX sets their number.',
      retry_after_s: 5,
    })
  return new Pool({ max_items: max, idle_ms, refuse })
}

/** Subscriptions to all servers: each holds a connection. */
const maxListeners = 256
const maxListenersPerCaller = 16
/** Maximum characters of all cached tool lists. */
const maxDescriptionCharacters = 32 * 1024 * 1024

/**
 * Calls MCP servers of protocol version 2026-07-28 and older ones, over Streamable HTTP, HTTP+SSE and WebSocket.
 * `open` and
 * `dial` come from one SafeFetch, whose `idle_ms` should cover a whole call: a tool may be silent for that time.
 */
export function createMcpConnect({
  clock = Date.now,
  session_idle_ms = 300_000,
  socket_idle_ms = 60_000,
  max_pooled = 32,
  per_call_headers = [],
  own_origins = () => [],
  processes = createProcessPool({ max: 8, idle_ms: 300_000 }),
  onToolsChanged = () => {},
  ...options
}: McpOptions): Connect {
  const current = new AsyncLocalStorage<McpExchange>()
  const descriptions = new LRUCache<string, Description>({
    maxSize: maxDescriptionCharacters,
    sizeCalculation: ({ capabilities }) => JSON.stringify(capabilities).length + 1,
  })
  const openCalls = new OpenCalls()
  const listeners = new Listeners(maxListeners, maxListenersPerCaller)
  return (endpoint, { package_name }) => {
    if (endpoint.protocol !== 'mcp' || !isSpoken(endpoint)) return undefined
    const isLasting = isSocket(endpoint)
    const poolKey = isLasting ? socketKey(per_call_headers) : ({ caller }: RemoteCall) => caller
    const idle_ms = isLasting ? socket_idle_ms : session_idle_ms
    const pool = isPackageUrl(endpoint.url)
      ? processes
      : new Pool<McpConnection>({ max_items: max_pooled, idle_ms })
    return new McpAgent(endpoint, {
      ...options,
      pool,
      poolKey,
      clock,
      current,
      descriptions,
      openCalls,
      listeners,
      package_name,
      own_origins,
      onToolsChanged: () => onToolsChanged(package_name),
    })
  }
}

function socketKey(perCallHeaders: readonly string[]): (call: RemoteCall) => string {
  return ({ caller, headers }) => {
    const constantHeaders = Object.entries(headers).filter(([name]) => !perCallHeaders.includes(name))
    return JSON.stringify([caller, constantHeaders.sort()])
  }
}

function isSocket({ url }: Endpoint): boolean {
  return /^wss?:/i.test(url)
}

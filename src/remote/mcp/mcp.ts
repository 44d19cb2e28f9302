import { AsyncLocalStorage } from 'node:async_hooks'
import { isSpoken } from '../../../schemas/callable.ts'
import type { Clock } from '../../common/clock.ts'
import type { Connect } from '../remote-agent.ts'
import { McpAgent } from './agent.ts'
import { Audience } from './changes.ts'
import { Connections, createProcessPool, type ProcessPool, type SharingOptions } from './connections.ts'
import type { ConnectorOptions } from './connector.ts'
import type { McpExchange } from './exchange.ts'
import { Listeners } from './listen.ts'
import { OpenCalls } from './open-calls.ts'
import { createToolListCache, ToolLists } from './tools.ts'

export interface McpOptions extends Pick<ConnectorOptions, 'open' | 'dial' | 'client'>, SharingOptions {
  /** The system clock when absent. */
  readonly clock?: Clock
  /** Origins of this gateway: no agent may send a user there. */
  readonly own_origins?: () => readonly string[]
  /** The running packages, of all agents. */
  readonly processes?: ProcessPool
  /** Called when a server tells that its list of tools has changed. */
  readonly onToolsChanged?: (packageName: string) => void
}

/** Subscriptions to all servers: each holds a connection. */
const maxListeners = 256
const maxListenersPerCaller = 16

/**
 * Calls MCP servers of protocol version 2026-07-28 and older ones, over Streamable HTTP, HTTP+SSE and WebSocket.
 * `open` and `dial` come from one SafeFetch, whose `idle_ms` should cover a whole call: a tool may be silent for that time.
 */
export function createMcpConnect({
  clock = Date.now,
  own_origins = () => [],
  processes = createProcessPool({ max: 8, idle_ms: 300_000 }),
  onToolsChanged = () => {},
  ...options
}: McpOptions): Connect {
  const current = new AsyncLocalStorage<McpExchange>()
  const toolLists = createToolListCache()
  const openCalls = new OpenCalls()
  const listeners = new Listeners(maxListeners, maxListenersPerCaller)
  return (endpoint, { package_name }) => {
    if (endpoint.protocol !== 'mcp' || !isSpoken(endpoint)) return undefined
    const tools = new ToolLists(toolLists, clock)
    const toolsChanged = () => {
      tools.forget()
      onToolsChanged(package_name)
    }
    const audience = new Audience()
    const listens = (caller: string) => audience.has(caller)
    const shared = { ...options, clock, current, processes, listens }
    const connections = new Connections(endpoint, toolsChanged, shared)
    const everyCall = { current, openCalls, listeners, package_name, own_origins }
    return new McpAgent({ connections, tools, audience, ...everyCall })
  }
}

import type { Exchange } from '../protocol-2026/protocol.ts'
import type { Freshness } from '../protocol-2026/result.ts'

/**
 * One method of MCP that reads from the registry, for every protocol version. The text of a frozen result is cached.
 */
export interface McpView {
  /** Maximum time for which the result may be cached; absent if the method's result has no such member. */
  readonly freshness?: Freshness
  /** Throws Fault. */
  answer(params: Readonly<Record<string, unknown>>, exchange: Exchange): object | Promise<object>
}

export type McpViews = Readonly<Record<string, McpView>>

import type { Exchange } from '../protocol-2026/protocol.ts'
import type { Freshness } from '../protocol-2026/result.ts'

/**
 * One method of MCP that shows something of the registry, for both eras. A frozen result is the same until it is
 * replaced, and is written once.
 */
export interface View {
  /** How long the result may be kept; absent where the method's result does not say. */
  readonly freshness?: Freshness
  /** Throws Fault. */
  answer(params: Readonly<Record<string, unknown>>, exchange: Exchange): object | Promise<object>
}

export type Views = Readonly<Record<string, View>>

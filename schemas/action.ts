import type { Content, RequestContent } from './content.ts'
import type { Deprecation } from './deprecation.ts'
import type { Endpoint } from './entry-parts.ts'
import type { Envelope } from './envelope.ts'
import type { Json, JsonObject } from './json.ts'
import type { Principal, Scope } from './scope.ts'
import type { Shape } from './shape.ts'

export type Access = 'public' | 'bearer' | { readonly scope: Scope }

/** How a tool shows an action to language models, where the action's own description and input do not serve them. */
interface ToolForm {
  /** When to use the tool, with an example. */
  readonly description?: string
  /** The part of the input that models see. The action takes all of its input. */
  readonly input?: Shape<unknown>
  /** The output for these defaults; a call that states another form gets another one. */
  readonly output?: Shape<unknown>
  /** Values of fields that a call leaves out. */
  readonly defaults?: Readonly<Record<string, unknown>>
  /** A call without any of these fields is refused with this request. */
  readonly asks?: { readonly for: readonly string[]; readonly text: string }
}

/** One operation of an agent. It is declared once, and every protocol derives its form from it. */
export interface Action<Input = unknown, Output = unknown, Part = unknown> {
  /** The name on the wire: `search_agents`. */
  readonly name: string
  readonly aliases?: readonly string[]
  readonly title: string
  readonly description: string
  readonly input: Shape<Input>
  readonly output: Shape<Output>
  /** Present when the action streams parts before its output. */
  readonly part?: Shape<Part>
  readonly access: Access
  /** MCP annotations, cache headers, retries and idempotency are derived from this. */
  readonly effect: 'read' | 'write' | 'call'
  /**
   * Not idempotent by itself: its input has an `idempotency_key`, and the router runs the action once for each key.
   */
  readonly idempotency?: 'key'
  /** Its input or output holds a secret that is shown once: callers that store their calls cannot use it. */
  readonly secret?: true
  /** True if cards, skills and tools/list show the action. */
  readonly advertised: boolean
  /** False if the card shows the action without its input schema. */
  readonly card_input?: false
  readonly tool?: ToolForm
  /** Milliseconds the action may run; 10,000 when absent, `none` for subscriptions ended by the signal. */
  readonly deadline_ms?: number | 'none'
  run(input: Input, context: Context<Part>): Promise<Output>
  /** True for an output with texts of another registry or agent: every caller receives it with a mark. */
  hasForeign?(output: Output): boolean
  /**
   * The answer of a subscription for callers that cannot receive a stream or would store the whole stream, under the
   * usual deadline. Without a fallback they get `not_callable`.
   */
  fallback?(input: Input, context: Context<Part>): Promise<Output>
}

/** A set of actions under one package name. */
export interface Agent {
  readonly package_name: string
  readonly name: string
  readonly description: string
  readonly tags: readonly string[]
  readonly category?: string
  readonly target?: string
  readonly version?: string
  /** False keeps a hosted agent out of the registry's lists; the agent stays callable. */
  readonly listed?: boolean
  /** The protocol in which the agent itself is called; absent for hosted agents. */
  readonly protocol?: Endpoint['protocol']
  /** Its outputs come from a third party: every caller receives them with a mark. */
  readonly third_party?: true
  /** Every caller receives this. */
  readonly deprecated?: Deprecation
  // biome-ignore lint/suspicious/noExplicitAny: an agent holds actions of every input and output; run is contravariant in both
  readonly actions: readonly Action<any, any, any>[]
  /** For an agent without a list of its actions: creates an action for any name. */
  readonly open?: (name: string) => Action
}

export type Update<Part = unknown> =
  | { readonly progress: number; readonly total?: number; readonly message?: string }
  | { readonly part: Part }

/** Sends a notification of MCP; resolves when the caller can take more. */
export type Notify = (method: string, params: JsonObject) => Promise<void>

/** The facts of one call. */
export interface Context<Part = unknown> {
  /** The request's id, as in logs and in problem bodies. */
  readonly id: string
  readonly principal: Principal | null
  /** The key that limits count by: the subject of the token, else a network address; absent for a local process. */
  readonly counted_as?: string
  /** Aborts when the caller cancels or the deadline passes. */
  readonly signal: AbortSignal
  /** Milliseconds since the epoch; Infinity for actions without a deadline. */
  readonly deadline: number
  /** The agents that the call has already passed, the first one first. */
  readonly via: readonly string[]
  /** What the caller sent beside the params; absent for calls by other agents. */
  readonly content?: RequestContent
  /** Sets what the reply carries beside the output. */
  attach(content: Content): void
  /**
   * Resolves when the caller can take more. Has no effect if the transport cannot stream. `content`: what a listed agent
   * said, in its own protocol.
   */
  emit(update: Update<Part>, content?: Content): Promise<void>
  /** Sends the caller a notification of its own protocol, MCP; absent for every other caller. */
  readonly notifyClient?: Notify
  /** Calls another agent as the same principal, under the same signal; `kept` if the caller stores the call. */
  call(envelope: Envelope, record?: 'kept'): Promise<Json>
}

/** Types an action; adds nothing at run time. */
export function defineAction<Input, Output, Part = never>(
  action: Action<Input, Output, Part>,
): Action<Input, Output, Part> {
  return action
}

/** Types an agent; adds nothing at run time. */
export function defineAgent(agent: Agent): Agent {
  return agent
}

import type { Action, Agent, Notify, Update } from '../../schemas/action.ts'
import type { Content, RequestContent } from '../../schemas/content.ts'
import type { ContentMark } from '../../schemas/content-mark.ts'
import type { Deprecation } from '../../schemas/deprecation.ts'
import type { Envelope } from '../../schemas/envelope.ts'
import type { Allowance, Failure } from '../../schemas/failure.ts'
import type { Json } from '../../schemas/json.ts'
import type { Principal } from '../../schemas/scope.ts'
import type { Eventual } from '../common/eventual.ts'

/** The client of a request. */
export interface Client {
  /** The network address that an anonymous call is counted against. */
  readonly address: string
  /** The agents that the call has already passed elsewhere, by the client's own account. */
  readonly via: readonly string[]
}

/** How a call reached the gateway, beside its envelope. */
export interface Call {
  readonly principal: Principal | null
  readonly signal: AbortSignal
  readonly id?: string
  /** The agents that nested calls have already passed, the first one first. */
  readonly via?: readonly string[]
  /** When the calling call ends, in milliseconds since the epoch. */
  readonly deadline?: number
  /** `local` for a local process and for calls by hosted agents: those have no rate limit. */
  readonly client: Client | 'local'
  /** The key that the calling call is counted by, for upstreams: nested calls have the client `local`. */
  readonly counted_as?: string
  readonly emit?: (update: Update, content?: Content) => Promise<void>
  /** Restricts `emit`: `progress` drops parts; `kept` stores everything, so the stream must end. */
  readonly receives?: 'progress' | 'kept'
  /** Ends endless streams when the gateway stops. */
  readonly ending?: AbortSignal
  /** What the caller sent beside the params. */
  readonly content?: RequestContent
  /** Sends the caller a notification of MCP, if that is the protocol of the caller. */
  readonly notifyClient?: Notify
  /**
   * Called once with the agent, when the call is authorised and its input parsed, before its action runs; what it
   * throws ends the call.
   */
  readonly accepted?: (agent: Agent) => Promise<void>
  /** Present if a language model makes the call: it only reads and calls, or its user lets it manage what is stored. */
  readonly model?: 'reads' | 'manages'
}

export interface Reply {
  readonly output: Json
  /** What the agent said beside the output. */
  readonly content?: Content
  readonly action: Action
  /** For reads: the registry revision that the output is at least as new as. */
  readonly revision?: number
  readonly allowance?: Allowance
  /** Present if a listed agent answered, or if a listed agent was called on the way to the answer. */
  readonly mark?: ContentMark
  /** Of the agent that answered. */
  readonly deprecated?: Deprecation
}

/**
 * Calls `end` once, when the token of the caller is revoked or, for what only listens, has expired; the returned function
 * stops it.
 */
type WatchCaller = (
  caller: Principal | null,
  end: (reason: Failure) => void,
  until: 'listens' | 'works',
) => () => void

/** The agent with a name, or undefined. May throw a more specific Failure. */
type Resolve = (to: string, call: Call) => Eventual<Agent | undefined>

export interface Router {
  /** Routes one envelope to its action and returns its output. Throws only Failure. */
  dispatch(envelope: Envelope, call: Call): Promise<Reply>
  /** Fails all running calls, and later ones, with this reason: the gateway stops. */
  endCalls(reason: Failure): void
  /** The names of the listed agents that are called now. */
  calledAgents(): ReadonlySet<string>
  /** Fails the running calls to a listed agent. */
  endCallsTo(agent: string, reason: Failure): void
}

export interface Observation {
  readonly id: string
  readonly to: string
  readonly action: string
  readonly principal: Principal | null
  readonly failure?: Failure
}

export interface RouterOptions {
  readonly resolve: Resolve
  /** Counts the call against its caller's limit. Throws Failure `rate_limited`. */
  readonly admit: (envelope: Envelope, call: Call) => Eventual<Allowance | undefined>
  /** Called with the output of each successful write. */
  readonly chargeWrite: (output: Json, call: Call) => void
  /** Called with the milliseconds for which params were checked by the schema of a listed agent. */
  readonly chargeCheck: (milliseconds: number, call: Call) => void
  /** Called at the start of each call; the returned function is called at its end. */
  readonly observe: (envelope: Envelope, id: string) => (observation: Observation) => void
  /** The registry revision that reads are made at. */
  readonly revision: () => number
  /** Ends the running calls of a caller whose token ends. */
  readonly standing: { readonly watch: WatchCaller }
  readonly clock: () => number
  readonly createId: () => string
  /** Also validates outputs: in tests and in development. */
  readonly check_outputs: boolean
  /** Does the work of a call with an idempotency key once. */
  readonly once: Idempotency
}

/** A call whose input may hold an `idempotency_key`. */
interface KeyedCall {
  readonly agent: Pick<Agent, 'package_name'>
  readonly action: Pick<Action, 'name' | 'idempotency'>
  readonly principal: Principal | null
}

/** Does the work of a call, or returns what it returned when the call was sent before. */
export type Idempotency = (
  call: KeyedCall,
  input: unknown,
  work: (input: unknown) => Promise<unknown>,
) => Promise<unknown>

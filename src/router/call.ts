import type { Action, Agent, Update } from '../../schemas/action.ts'
import type { Deprecation } from '../../schemas/deprecation.ts'
import type { Envelope } from '../../schemas/envelope.ts'
import type { Failure } from '../../schemas/failure.ts'
import type { Json } from '../../schemas/json.ts'
import type { Principal } from '../../schemas/scope.ts'

/** Who is at the other end of the wire. */
export interface Client {
  /** The network address that an anonymous call is counted against. */
  readonly address: string
  /** The agents that it says the call has passed already, in other places. */
  readonly via: readonly string[]
}

/** How a call reached the gateway, beside its envelope. */
export interface Call {
  readonly principal: Principal | null
  readonly signal: AbortSignal
  readonly id?: string
  /** The agents that calls within this one have passed already, the first one first. */
  readonly via?: readonly string[]
  /** Milliseconds since the epoch at which the call that made this one ends. */
  readonly deadline?: number
  /** At the other end of the wire; absent for a local process and for calls that agents make here, never limited. */
  readonly client?: Client
  readonly emit?: (update: Update) => Promise<void>
  /** Of what is emitted: `progress` alone, and no parts; or all of it, which is `kept`, so that it must have an end. */
  readonly hears?: 'progress' | 'kept'
  /** Ends what would not end by itself, when the gateway stops. */
  readonly ending?: AbortSignal
  /** Called once, when the call is let in and its input read, before its action runs; what it throws ends the call. */
  readonly accepted?: () => Promise<void>
}

export interface Reply {
  readonly output: Json
  readonly action: Action
  /** For reads: the registry revision that the output is at least as new as. */
  readonly revision?: number
  readonly allowance?: Allowance
  /** Of the agent that answered. */
  readonly deprecated?: Deprecation
}

/** What is left of a caller's rate limit. */
export interface Allowance {
  readonly policy: string
  readonly limit: number
  readonly remaining: number
  readonly reset_s: number
}

/** The agent behind a name, or undefined. May throw the Failure that says more than that there is none. */
export type Resolve = (to: string, call: Call) => Promise<Agent | undefined>

export interface Router {
  /** Routes one envelope to its action and answers with its output. Throws Failure and nothing else. */
  dispatch(envelope: Envelope, call: Call): Promise<Reply>
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
  readonly admit: (envelope: Envelope, call: Call) => Allowance | undefined | Promise<Allowance>
  /** Called once at the start of each call; what it returns is called once at its end. */
  readonly observe: (envelope: Envelope, id: string) => (observation: Observation) => void
  /** The registry revision that reads are made at. */
  readonly revision: () => number
  readonly clock: () => number
  readonly createId: () => string
  /** Parse our own outputs too: in tests and in development. */
  readonly check_outputs: boolean
  /** Does the work of a call once, however often it is sent. */
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

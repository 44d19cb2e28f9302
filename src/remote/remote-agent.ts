import type { Update } from '../../schemas/action.ts'
import type { Capability, Endpoint } from '../../schemas/entry-parts.ts'
import type { Failure } from '../../schemas/failure.ts'
import type { Json, JsonObject } from '../../schemas/json.ts'

/** What a call to another agent takes along, beside what is asked. */
export interface RemoteCall {
  /** Aborts when the caller goes away or the time is up. */
  readonly signal: AbortSignal
  /** Sent with every request of this call and with none of another; names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Tells callers apart: what outlasts a call (a session, a socket) serves one of them alone. */
  readonly caller: string
  /** The task that this call goes on with. */
  readonly task?: RemoteTask
  /** Resolves when the caller can take more. */
  emit(update: Update): Promise<void>
}

/** A task of the other side, by the names that it has there. */
export interface RemoteTask {
  readonly task_id: string
  readonly context_id?: string
}

/**
 * The output; what the other side wants to be told before it goes on; or what the agent refuses in good order, which
 * says nothing against it.
 */
export type RemoteAnswer =
  | { readonly output: Json }
  | { readonly waits: RemoteTask; readonly question: Json | null }
  | { readonly refused: Failure }

/**
 * One agent that somebody else runs, whatever protocol it speaks. Adapters speak it and nothing more: time-outs,
 * breaker, bounds and repetition are wrapped around this port once. Everything throws Failure.
 */
export interface RemoteAgent extends AsyncDisposable {
  /** Throws `upstream_timeout`, `upstream_failed`, `upstream_invalid` and `blocked_address`, which count against it. */
  call(action: string, params: JsonObject, call: RemoteCall): Promise<RemoteAnswer>
  /**
   * Resolves where the agent answers in its protocol, if only to say that there is no such thing; with its refusal, where
   * it refused. Changes nothing.
   */
  probe(call: Pick<RemoteCall, 'signal' | 'headers'>): Promise<Failure | undefined>
  /** What it says that it can do, in protocols that have a way to ask. */
  describe?(call: RemoteCall): Promise<readonly Capability[]>
}

/** What of a listed agent its adapter has to know. */
export interface RemoteFacts {
  readonly package_name: string
  /** What it calls itself, where envelopes are addressed. */
  readonly address: string
  /** Its card, as its publisher wrote it or as the registry renders it. */
  readonly card: Readonly<Record<string, unknown>>
}

/** The adapter for an endpoint; undefined where the protocol is not spoken here. Nothing is sent by connecting. */
export type Connect = (endpoint: Endpoint, agent: RemoteFacts) => RemoteAgent | undefined

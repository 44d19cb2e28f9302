import type { AsyncLocalStorage } from 'node:async_hooks'
import type { Notify } from '../../../schemas/action.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { JsonObject } from '../../../schemas/json.ts'
import type { AskCaller, Launch } from '../remote-agent.ts'

/** One call to a server: the headers and the signal of all its requests, and the outcome of its last request. */
export interface McpExchange {
  /** Aborts when the caller cancels and when the call is over, so that the call leaves no open request. */
  readonly signal: AbortSignal
  readonly headers: Readonly<Record<string, string>>
  /** The client capabilities that the server sees. */
  readonly capabilities: JsonObject
  /** True for a caller of a legacy protocol version: a session with the server suits it best. */
  readonly is_legacy?: boolean
  /** True for a subscription: it receives every notification of its connection. */
  readonly is_listening?: boolean
  /** The level from which on the caller wants log messages. */
  readonly log_level?: string
  /** Answers a question that the server asks during the call; absent where nobody can. */
  readonly ask?: AskCaller
  /** How the server is started, if it is a package. */
  readonly launch?: Launch
  /** Called when the server has sent something. */
  readonly onActivity?: () => void
  /** Receives the server's notifications that belong to the call. */
  readonly notifyClient?: Notify
  /** Receives the changes that the server tells of outside a subscription: sessions have lists of their own. */
  readonly announce?: Notify
  /** The Failure of the last HTTP request; the SDK may pass on only its text. */
  failure?: Failure | undefined
  /** The last HTTP answer, if its status was an error. */
  refused?: HttpRefusal | undefined
  /** Status of the last HTTP answer. */
  status?: number | undefined
}

interface HttpRefusal {
  readonly status: number
  readonly retry_after_s?: number
  readonly challenge?: string | undefined
}

/**
 * The exchange of the running code. The SDK's client of a session serves several calls at once and takes no
 * headers per call. The exchange therefore follows the asynchronous context of the call down to the fetch.
 */
export type Current = AsyncLocalStorage<McpExchange>

/** Time-out for a message after the call (a cancellation, the end of a session), in milliseconds. */
const afterCall_ms = 2_000

/** Why the signal of a call aborts that has ended well. One object for all calls: to make an error takes longer than to parse an answer. */
export const callOver = new Failure('cancelled', 'The call is over.')

/** The facts of a call that its exchange has. */
export type ExchangeFacts = Pick<
  McpExchange,
  | 'signal'
  | 'headers'
  | 'capabilities'
  | 'is_legacy'
  | 'is_listening'
  | 'log_level'
  | 'ask'
  | 'launch'
  | 'onActivity'
  | 'notifyClient'
  | 'announce'
>

/** Runs `work` as the exchange of a call. */
export function runExchange<Value>(
  current: Current,
  { signal, ...facts }: ExchangeFacts,
  work: (exchange: McpExchange) => Promise<Value>,
): Promise<Value> {
  // A process has no streams, which the end of its call would have to end.
  if (facts.launch) {
    const exchange: McpExchange = { ...facts, signal }
    return current.run(exchange, work, exchange)
  }
  const over = new AbortController()
  const exchange: McpExchange = { ...facts, signal: over.signal }
  return current.run(exchange, async () => {
    // The SDK sends a cancellation during this abort, which must run in the context of this call.
    const abort = () => current.run(exchange, () => over.abort(signal.reason))
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    try {
      return await work(exchange)
    } finally {
      signal.removeEventListener('abort', abort)
      over.abort(callOver)
    }
  })
}

/** Sends a message for a call that is over, with the headers of that call. */
export function runAfterCall<Value>(
  current: Current,
  headers: McpExchange['headers'],
  work: () => Promise<Value>,
): Promise<Value> {
  return current.run({ headers, capabilities: {}, signal: AbortSignal.timeout(afterCall_ms) }, work)
}

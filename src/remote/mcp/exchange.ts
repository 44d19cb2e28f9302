import { AsyncLocalStorage } from 'node:async_hooks'
import type { Failure } from '../../../schemas/failure.ts'
import type { RemoteCall } from '../remote-agent.ts'

/** One call to a server: what all its requests carry, and the outcome of the last one. */
export interface McpExchange {
  /** Aborts when the caller goes away and when the call is over, so that nothing of it stays open. */
  readonly signal: AbortSignal
  readonly headers: Readonly<Record<string, string>>
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
}

/**
 * The exchange that the running code belongs to. The SDK's client of a session serves several calls at once and takes no
 * headers per call, so they follow the asynchronous context of the call down to the fetch.
 */
export type Current = AsyncLocalStorage<McpExchange>

/** Milliseconds for a message after the call (a cancellation, the end of a session). */
const afterCall_ms = 2_000

/** Runs the work as the exchange of a call. */
export async function runExchange<Value>(
  current: Current,
  { signal, headers }: Pick<RemoteCall, 'signal' | 'headers'>,
  work: (exchange: McpExchange) => Promise<Value>,
): Promise<Value> {
  const over = new AbortController()
  const exchange: McpExchange = { signal: over.signal, headers }
  return current.run(exchange, async () => {
    // The SDK sends a cancellation here, which must run in the context of this call.
    const abort = AsyncLocalStorage.bind(() => over.abort(signal.reason))
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    try {
      return await work(exchange)
    } finally {
      signal.removeEventListener('abort', abort)
      over.abort()
    }
  })
}

/** Sends something for a call that is over already, with its headers. */
export function runAfterCall<Value>(
  current: Current,
  headers: McpExchange['headers'],
  work: () => Promise<Value>,
): Promise<Value> {
  return current.run({ headers, signal: AbortSignal.timeout(afterCall_ms) }, work)
}

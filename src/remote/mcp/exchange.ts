import { AsyncLocalStorage } from 'node:async_hooks'
import type { Failure } from '../../../schemas/failure.ts'
import type { RemoteCall } from '../remote-agent.ts'

/** One call to the other side: what all its requests take along, and what became of the last of them. */
export interface Exchange {
  /** Aborts when the caller goes away, and once the call is over: nothing of it stays open. */
  readonly signal: AbortSignal
  readonly headers: Readonly<Record<string, string>>
  /** What the last HTTP request failed by, which the SDK may tell in words alone. */
  failure?: Failure | undefined
  /** What the last HTTP request was answered with, where that was no success. */
  refused?: Refusal | undefined
  /** Status of the last HTTP answer. */
  status?: number | undefined
}

export interface Refusal {
  readonly status: number
  readonly retry_after_s?: number
}

/**
 * Tells for which call something is sent. The SDK's client of a session serves several calls at once and takes no
 * headers for one of them, so they follow the call's own asynchronous context down to the fetch.
 */
export type Current = AsyncLocalStorage<Exchange>

/** How long a word of parting (a cancellation, the end of a session) may take, in milliseconds. */
const parting = 2_000

/** Runs the work as the exchange of a call. */
export async function during<Value>(
  current: Current,
  { signal, headers }: Pick<RemoteCall, 'signal' | 'headers'>,
  work: (exchange: Exchange) => Promise<Value>,
): Promise<Value> {
  const over = new AbortController()
  const exchange: Exchange = { signal: over.signal, headers }
  return current.run(exchange, async () => {
    // A cancellation is said in the name of this call, whoever it was that aborted.
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

/** Runs what is said when a call is over already, in its name. */
export function afterwards<Value>(
  current: Current,
  headers: Exchange['headers'],
  work: () => Promise<Value>,
): Promise<Value> {
  return current.run({ headers, signal: AbortSignal.timeout(parting) }, work)
}

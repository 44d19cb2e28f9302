import { retryAfter } from '../../common/retry-after.ts'

export interface RetryOptions {
  /** Maximum number of retries of one call; 2 when absent, 0 for none. */
  readonly retries?: number
  /** A call that would have to wait longer is not repeated; 30 seconds when absent. */
  readonly max_wait_ms?: number
}

export type Fetch = (request: Request) => Promise<Response>

/**
 * Repeats a call that the gateway refused with 429 or 503 and Retry-After, after that time. A call that is refused with
 * 429 has not begun. After 503 only calls that may run twice are repeated: those of an idempotent method (RFC 9110
 * section 9.2.2), and those with an Idempotency-Key.
 */
export function withRetries(send: Fetch, { retries = 2, max_wait_ms = 30_000 }: RetryOptions = {}): Fetch {
  return async (request) => {
    for (let left = retries; ; left--) {
      // A body can be sent once, so that the last attempt alone uses the request itself.
      const response = await send(left > 0 ? request.clone() : request)
      const wait = left > 0 ? waitFor(request, response) : undefined
      if (wait === undefined || wait > max_wait_ms) return response
      await response.body?.cancel()
      await sleep(wait, request.signal)
    }
  }
}

const idempotent = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'])

/** Milliseconds to wait before the call may be repeated; undefined if it may not. */
function waitFor({ method, headers }: Request, response: Response): number | undefined {
  const mayRunTwice = idempotent.has(method) || headers.has('Idempotency-Key')
  const isRefused = response.status === 429 || (response.status === 503 && mayRunTwice)
  if (!isRefused) return undefined
  const seconds = retryAfter(response.headers.get('Retry-After') ?? undefined, Date.now())
  return seconds === undefined ? undefined : seconds * 1000
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const abort = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort)
      resolve()
    }, milliseconds)
    signal.addEventListener('abort', abort, { once: true })
  })
}

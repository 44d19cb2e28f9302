import { Failure } from '../../../../schemas/failure.ts'
import type { Wait } from '../../../common/clock.ts'
import { backoff } from '../../../common/retry.ts'
import { retryAfter } from '../../../common/retry-after.ts'
import type { Fetch, FetchResponse } from '../../../net/fetch/fetch.ts'

interface SourceReaderOptions {
  readonly fetch: Fetch
  readonly clock: () => number
  readonly wait: Wait
}

/** What a source answered, and its own time in milliseconds since the epoch if it states one. */
interface SourceAnswer {
  readonly status: number
  readonly body: Uint8Array
  readonly time: number | undefined
}

/** Asks a source, and asks again, more and more slowly, where it is busy or fails. */
export type ReadSource = (url: string, max_bytes: number, signal: AbortSignal) => Promise<SourceAnswer>

/** Registries that answer slowly take up to half a minute. */
const timeoutMilliseconds = 60_000
const maxAttempts = 4
const pauses = { first_ms: 2_000, max_ms: 60_000 }
/** A longer pause ends the run; the next one continues. */
const maxPauseSeconds = 120

/** Throws Failure `upstream_…`, `too_large` or `blocked_address`. */
export function createReadSource({ fetch, clock, wait }: SourceReaderOptions): ReadSource {
  return async (url, max_bytes, signal) => {
    for (let attempt = 1; ; attempt++) {
      const answer = await attemptTo(fetch, url, max_bytes, signal)
      const isLast = attempt === maxAttempts
      if (answer instanceof Failure) {
        if (isLast || !isTemporary(answer)) throw answer
        await wait(backoff(attempt, pauses), signal)
        continue
      }
      const { status, headers, body } = answer
      if (status < 500 && status !== 429) return { status, body, time: timeIn(headers.date) }
      const seconds = retryAfter(headers['retry-after'], clock())
      if (isLast || (seconds ?? 0) > maxPauseSeconds) throw busy(url, status, seconds)
      await wait(seconds === undefined ? backoff(attempt, pauses) : seconds * 1000, signal)
    }
  }
}

async function attemptTo(
  fetch: Fetch,
  url: string,
  max_bytes: number,
  signal: AbortSignal,
): Promise<FetchResponse | Failure> {
  try {
    const headers = { accept: 'application/json' }
    return await fetch({ url, headers, signal, max_bytes, timeout_ms: timeoutMilliseconds })
  } catch (fault) {
    signal.throwIfAborted()
    if (fault instanceof Failure) return fault
    throw fault
  }
}

function isTemporary({ code }: Failure): boolean {
  return code === 'upstream_timeout' || code === 'upstream_failed'
}

function busy(url: string, status: number, retry_after_s: number | undefined): Failure {
  return new Failure('upstream_failed', `${new URL(url).host} answers ${status}.`, {
    upstream: { status },
    ...(retry_after_s !== undefined && { retry_after_s }),
  })
}

function timeIn(date: string | undefined): number | undefined {
  const time = Date.parse(date ?? '')
  return time >= 0 ? time : undefined
}

/** The JSON in an answer with status 200. Throws Failure `upstream_failed` or `upstream_invalid`. */
export function jsonIn({ status, body }: SourceAnswer, url: string): unknown {
  const { host } = new URL(url)
  if (status !== 200)
    throw new Failure('upstream_failed', `${host} answers ${status}.`, { upstream: { status } })
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch (fault) {
    throw new Failure('upstream_invalid', `${host} does not answer with JSON.`, {}, fault)
  }
}

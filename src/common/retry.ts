import { setTimeout as pause } from 'node:timers/promises'

interface Backoff {
  /** Milliseconds before the second attempt. */
  readonly first_ms: number
  /** Maximum pause in milliseconds. */
  readonly max_ms: number
}

/** Exponential backoff: milliseconds to wait after failed attempt `attempt`, counted from 1. */
export function backoff(attempt: number, { first_ms, max_ms }: Backoff): number {
  return Math.min(first_ms * 2 ** (attempt - 1), max_ms)
}

interface RetryOptions extends Backoff {
  readonly within_ms: number
  /** Ends the pauses, and with them the repetition. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Runs `work`, and repeats it with exponential backoff while `isRetryable` holds for its error; the last time after
 * `within_ms` milliseconds. Rejects with the last error.
 */
export async function retryFor<T>(
  work: () => Promise<T>,
  isRetryable: (error: unknown) => boolean,
  { within_ms, signal, ...pauses }: RetryOptions,
): Promise<T> {
  const end = performance.now() + within_ms
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      const left = end - performance.now()
      if (left <= 0 || !isRetryable(error)) throw error
      await pause(Math.min(backoff(attempt, pauses), left), undefined, { ...(signal && { signal }) }).catch(
        () => {
          throw error
        },
      )
    }
  }
}

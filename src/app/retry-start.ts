import { Failure } from '../../schemas/failure.ts'
import { retryFor } from '../common/retry.ts'

/**
 * Maximum time for retries of a start while its store is unavailable, in milliseconds: the database may be starting
 * too.
 */
const startMilliseconds = 15_000

interface StartOptions {
  /** Ends the retries. */
  readonly signal?: AbortSignal | undefined
  /** Receives the failure after which the start is retried, once. */
  readonly onWait?: (failure: Failure) => void
}

/**
 * Runs `assemble` with a stack for the resources that it opens. A failure disposes the stack, since open resources
 * would keep the process alive. After a failure `unavailable`, `assemble` is retried for up to `startMilliseconds`.
 */
export function retryStart<T>(
  assemble: (stack: AsyncDisposableStack) => Promise<T>,
  { signal, onWait }: StartOptions = {},
): Promise<T> {
  let isWaiting = false
  const isPassing = (fault: unknown) => {
    if (!(fault instanceof Failure && fault.code === 'unavailable')) return false
    if (!isWaiting) onWait?.(fault)
    isWaiting = true
    return true
  }
  const attempt = async () => {
    const stack = new AsyncDisposableStack()
    try {
      return await assemble(stack)
    } catch (fault) {
      await stack.disposeAsync().catch(() => {})
      throw fault
    }
  }
  return retryFor(attempt, isPassing, { within_ms: startMilliseconds, first_ms: 25, max_ms: 1000, signal })
}

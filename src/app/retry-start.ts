import { Failure } from '../../schemas/failure.ts'
import { retryFor } from '../common/retry.ts'

/** How long a start is made again while its store goes away in the middle of it: a database may be starting too. */
const startMilliseconds = 15_000

/**
 * What `assemble` makes, over the stack of what it opens. Where it fails all of that is closed, or the process would
 * neither serve nor end; where it fails by `unavailable` it is made again for a while.
 */
export function retryStart<T>(assemble: (stack: AsyncDisposableStack) => Promise<T>): Promise<T> {
  const attempt = async () => {
    const stack = new AsyncDisposableStack()
    try {
      return await assemble(stack)
    } catch (fault) {
      await stack.disposeAsync().catch(() => {})
      throw fault
    }
  }
  return retryFor(attempt, isPassing, { within_ms: startMilliseconds, first_ms: 25, max_ms: 1000 })
}

function isPassing(fault: unknown): boolean {
  return fault instanceof Failure && fault.code === 'unavailable'
}

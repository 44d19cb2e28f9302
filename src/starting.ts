import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '../schemas/failure.ts'

/** How long a start is made again while its store goes away in the middle of it: a database may be starting too. */
const startMilliseconds = 15_000
const pauseMilliseconds = 250

/**
 * What `assemble` makes, over the stack of what it opens. Where it fails all of that is closed, or the process would
 * neither serve nor end; where it fails by `unavailable` it is made again for a while.
 */
export async function startPatiently<T>(assemble: (stack: AsyncDisposableStack) => Promise<T>): Promise<T> {
  const end = performance.now() + startMilliseconds
  for (;;) {
    const stack = new AsyncDisposableStack()
    try {
      return await assemble(stack)
    } catch (fault) {
      await stack.disposeAsync().catch(() => {})
      const passing = fault instanceof Failure && fault.code === 'unavailable'
      if (!passing || performance.now() + pauseMilliseconds > end) throw fault
    }
    await pause(pauseMilliseconds)
  }
}

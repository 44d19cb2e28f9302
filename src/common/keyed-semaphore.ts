import { type Acquire, createSemaphore } from './semaphore.ts'

/** Acquires a slot of the key's own semaphore, as Acquire does. */
type AcquireKeyed = (key: string, signal: AbortSignal) => Promise<Disposable>

/** A semaphore of `max` slots for each key; `maxWaiting` and `queueFull` as in `createSemaphore`. */
export function createKeyedSemaphore(
  max: number,
  maxWaiting?: number,
  queueFull?: () => Error,
): AcquireKeyed {
  const semaphores = new Map<string, { readonly acquire: Acquire; users: number }>()
  return async (key, signal) => {
    const semaphore = semaphores.get(key) ?? {
      acquire: createSemaphore(max, maxWaiting, queueFull),
      users: 0,
    }
    semaphores.set(key, semaphore)
    semaphore.users++
    const leave = () => {
      semaphore.users--
      if (semaphore.users === 0) semaphores.delete(key)
    }
    try {
      const slot = await semaphore.acquire(signal)
      return {
        [Symbol.dispose]() {
          slot[Symbol.dispose]()
          leave()
        },
      }
    } catch (thrown) {
      leave()
      throw thrown
    }
  }
}

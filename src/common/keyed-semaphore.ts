import { type Acquire, createSemaphore } from './semaphore.ts'

/** Acquires a slot of the key's own semaphore, as Acquire does. */
type AcquireKeyed = (key: string, signal: AbortSignal) => Disposable | Promise<Disposable>

/** A semaphore of `max` slots for each key; `maxWaiting` and `queueFull` as in `createSemaphore`. */
export function createKeyedSemaphore(
  max: number,
  maxWaiting?: number,
  queueFull?: () => Error,
): AcquireKeyed {
  const semaphores = new Map<string, { readonly acquire: Acquire; users: number }>()
  return (key, signal) => {
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
    const leaving = (slot: Disposable): Disposable => ({
      [Symbol.dispose]() {
        slot[Symbol.dispose]()
        leave()
      },
    })
    const slot = semaphore.acquire(signal)
    if (!(slot instanceof Promise)) return leaving(slot)
    return slot.then(leaving, (reason) => {
      leave()
      throw reason
    })
  }
}

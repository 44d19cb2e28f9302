/**
 * A slot: at once if one is free, else as soon as one is, in order of the calls; rejects with the reason of the signal
 * when it aborts.
 */
type Acquire = (signal: AbortSignal) => Disposable | Promise<Disposable>

/**
 * A counting semaphore of `max` slots; disposing a slot frees it. When `maxWaiting` callers wait already, acquiring
 * throws the error that `queueFull` makes.
 */
export function createSemaphore(
  max: number,
  maxWaiting = Number.POSITIVE_INFINITY,
  queueFull: () => Error = () => new Error('Too many callers wait.'),
): Acquire {
  let acquired = 0
  const waiting = new Set<() => void>()

  function release(): void {
    const [next] = waiting
    // The slot goes straight to the next waiter, so that no newcomer can take it.
    if (next) next()
    else acquired--
  }

  function waitForSlot(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const settled = (settle: () => void) => () => {
        waiting.delete(next)
        signal.removeEventListener('abort', abort)
        settle()
      }
      const next = settled(resolve)
      const abort = settled(() => reject(signal.reason))
      waiting.add(next)
      signal.addEventListener('abort', abort, { once: true })
      if (signal.aborted) abort()
    })
  }

  function slot(): Disposable {
    let isHeld = true
    return {
      [Symbol.dispose]() {
        if (isHeld) release()
        isHeld = false
      },
    }
  }

  return (signal) => {
    if (acquired < max) {
      acquired++
      return slot()
    }
    if (waiting.size >= maxWaiting) return Promise.reject(queueFull())
    return waitForSlot(signal).then(slot)
  }
}

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
    let isLeft = false
    const leave = () => {
      if (isLeft) return
      isLeft = true
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

import type { Eventual } from './eventual.ts'

/**
 * A slot: at once if one is free, else as soon as one is, in order of the calls; rejects with the reason of the signal
 * when it aborts.
 */
type Acquire = (signal: AbortSignal) => Eventual<Disposable>

/**
 * A counting semaphore of `max` slots; disposing a slot frees it. When `maxWaiting` callers wait already, acquiring
 * throws the error that `queueFull` makes.
 */
export function createSemaphore(max: number, maxWaiting?: number, queueFull?: () => Error): Acquire {
  return semaphore(max, maxWaiting, queueFull).acquire
}

interface Semaphore {
  readonly acquire: Acquire
  /** True while nobody has a slot, so that nobody waits for one either. */
  isIdle(): boolean
}

function semaphore(
  max: number,
  maxWaiting = Number.POSITIVE_INFINITY,
  queueFull: () => Error = () => new Error('Too many callers wait.'),
): Semaphore {
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

  return {
    isIdle: () => acquired === 0,
    acquire(signal) {
      if (acquired < max) {
        acquired++
        return slot()
      }
      if (waiting.size >= maxWaiting) return Promise.reject(queueFull())
      return waitForSlot(signal).then(slot)
    },
  }
}

/** Number of semaphores from which on the idle ones are removed. */
const minSwept = 1024

/** Acquires a slot of the key's own semaphore, as Acquire does. */
export type AcquireKeyed = (key: string, signal: AbortSignal) => Disposable | Promise<Disposable>

/** A semaphore of `max` slots for each key; `maxWaiting` and `queueFull` as in `createSemaphore`. */
export function createKeyedSemaphore(
  max: number,
  maxWaiting?: number,
  queueFull?: () => Error,
): AcquireKeyed {
  const semaphores = new Map<string, Semaphore>()
  let sweepAt = minSwept

  function removeIdle(): void {
    for (const [key, { isIdle }] of semaphores) if (isIdle()) semaphores.delete(key)
    sweepAt = Math.max(minSwept, 2 * semaphores.size)
  }

  return (key, signal) => {
    const existing = semaphores.get(key)
    if (existing) return existing.acquire(signal)
    // Not at the end of each call: a semaphore takes longer to make than to acquire.
    if (semaphores.size >= sweepAt) removeIdle()
    const made = semaphore(max, maxWaiting, queueFull)
    semaphores.set(key, made)
    return made.acquire(signal)
  }
}

import { Failure } from '../../../schemas/failure.ts'

export type Purpose = 'query' | 'document'

interface PrioritySemaphoreOptions {
  /** Maximum number of holders. */
  readonly slots: number
  /** Maximum number of slots that documents hold; all slots when absent. */
  readonly document_slots?: number
  /** Maximum number of waiting calls; further calls are refused. */
  readonly max_waiting: number
}

interface Waiter {
  admit(slot: Disposable): void
  refuse(failure: Failure): void
}

/** After this many queries in a row a waiting document is next, so that indexing never stops. */
const maxQueriesInRow = 4

/** A semaphore of two classes: queries go first, and documents hold only some of the slots. */
export class PrioritySemaphore implements Disposable {
  readonly #slots: number
  readonly #documentSlots: number
  readonly #maxWaiting: number
  readonly #waiting: Readonly<Record<Purpose, Waiter[]>> = { query: [], document: [] }
  readonly #held: Record<Purpose, number> = { query: 0, document: 0 }
  #queriesInRow = 0
  #isClosed = false

  constructor({ slots, document_slots = slots, max_waiting }: PrioritySemaphoreOptions) {
    this.#slots = slots
    this.#documentSlots = document_slots
    this.#maxWaiting = max_waiting
  }

  /**
   * Waits for a slot; disposing it releases it. Throws the signal's reason when it aborts, and Failure `unavailable`
   * if too many calls wait already or the semaphore has been disposed.
   */
  acquire(purpose: Purpose, signal: AbortSignal): Promise<Disposable> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      if (this.#isClosed) return reject(embedderClosed())
      const queue = this.#waiting[purpose]
      const leave = () => {
        queue.splice(queue.indexOf(waiter), 1)
        reject(signal.reason)
      }
      const waiter: Waiter = {
        admit(slot) {
          signal.removeEventListener('abort', leave)
          resolve(slot)
        },
        refuse(failure) {
          signal.removeEventListener('abort', leave)
          reject(failure)
        },
      }
      queue.push(waiter)
      signal.addEventListener('abort', leave, { once: true })
      this.#admit()
      const { query, document } = this.#waiting
      if (query.length + document.length > this.#maxWaiting) queue.pop()?.refuse(queueFull())
    })
  }

  /** Refuses all waiting calls; holders keep their slots. */
  [Symbol.dispose](): void {
    this.#isClosed = true
    const { query, document } = this.#waiting
    for (const waiter of [...query.splice(0), ...document.splice(0)]) waiter.refuse(embedderClosed())
  }

  #admit(): void {
    for (let purpose = this.#next(); purpose !== undefined; purpose = this.#next()) {
      const isOvertaking = purpose === 'query' && this.#waiting.document.length > 0
      this.#queriesInRow = isOvertaking ? this.#queriesInRow + 1 : 0
      this.#waiting[purpose].shift()?.admit(this.#hold(purpose))
    }
  }

  /** The class that gets the next slot; undefined if no slot is free for the classes that wait. */
  #next(): Purpose | undefined {
    const { query, document } = this.#waiting
    if (this.#held.query + this.#held.document >= this.#slots) return undefined
    const isDocumentFree = document.length > 0 && this.#held.document < this.#documentSlots
    if (query.length > 0 && !(isDocumentFree && this.#queriesInRow >= maxQueriesInRow)) return 'query'
    return isDocumentFree ? 'document' : undefined
  }

  #hold(purpose: Purpose): Disposable {
    let isHeld = true
    this.#held[purpose]++
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return
        isHeld = false
        this.#held[purpose]--
        this.#admit()
      },
    }
  }
}

function queueFull(): Failure {
  return new Failure('unavailable', 'Too many texts are waiting to be embedded.', { retry_after_s: 5 })
}

/** The error of every call that waits for an embedder that has been disposed. */
export function embedderClosed(): Failure {
  return new Failure('unavailable', 'The embedder has been closed.')
}

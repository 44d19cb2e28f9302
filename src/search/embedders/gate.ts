import { Failure } from '../../../schemas/failure.ts'

export type Purpose = 'query' | 'document'

export interface GateOptions {
  /** How many may be inside at once. */
  readonly places: number
  /** How many of them documents may take; all when absent. */
  readonly for_documents?: number
  /** How many may wait. */
  readonly waiting_limit: number
}

/** Lets a few in at a time, those who come with a query first. */
export interface Gate extends Disposable {
  /**
   * Waits for a place, which disposing gives back. Throws the signal's reason when it aborts, and Failure
   * `unavailable` where too many wait already or the gate has been disposed.
   */
  enter(as: Purpose, signal: AbortSignal): Promise<Disposable>
}

interface Waiter {
  let_in(place: Disposable): void
  turn_away(failure: Failure): void
}

/** Queries let in one after another while a document waits: then the document goes, so that indexing never stops. */
const patience = 4

/** Creates a gate of some places. */
export function createGate(options: GateOptions): Gate {
  const { places, for_documents = places, waiting_limit } = options
  const waiting: Record<Purpose, Waiter[]> = { query: [], document: [] }
  const inside: Record<Purpose, number> = { query: 0, document: 0 }
  let overtaken = 0
  let isClosed = false

  function next(): Purpose | undefined {
    if (inside.query + inside.document >= places) return undefined
    const documentMay = waiting.document.length > 0 && inside.document < for_documents
    if (waiting.query.length > 0 && !(documentMay && overtaken >= patience)) return 'query'
    return documentMay ? 'document' : undefined
  }

  function admit(): void {
    for (let as = next(); as !== undefined; as = next()) {
      overtaken = as === 'query' && waiting.document.length > 0 ? overtaken + 1 : 0
      waiting[as].shift()?.let_in(take(as))
    }
  }

  function take(as: Purpose): Disposable {
    let isTaken = true
    inside[as]++
    return {
      [Symbol.dispose]() {
        if (!isTaken) return
        isTaken = false
        inside[as]--
        admit()
      },
    }
  }

  function enter(as: Purpose, signal: AbortSignal): Promise<Disposable> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      if (isClosed) return reject(closed())
      const leave = () => {
        waiting[as].splice(waiting[as].indexOf(waiter), 1)
        reject(signal.reason)
      }
      const waiter: Waiter = {
        let_in(place) {
          signal.removeEventListener('abort', leave)
          resolve(place)
        },
        turn_away(failure) {
          signal.removeEventListener('abort', leave)
          reject(failure)
        },
      }
      waiting[as].push(waiter)
      signal.addEventListener('abort', leave, { once: true })
      admit()
      if (waiting.query.length + waiting.document.length > waiting_limit) waiting[as].pop()?.turn_away(busy())
    })
  }

  return {
    enter,
    [Symbol.dispose]() {
      isClosed = true
      for (const waiter of [...waiting.query.splice(0), ...waiting.document.splice(0)])
        waiter.turn_away(closed())
    },
  }
}

function busy(): Failure {
  return new Failure('unavailable', 'Too many texts are waiting to be embedded.', { retry_after_s: 5 })
}

/** What everybody is told who still waits for an embedder that has been disposed. */
export function closed(): Failure {
  return new Failure('unavailable', 'The embedder has been closed.')
}

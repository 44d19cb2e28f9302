import { LRUCache } from 'lru-cache'
import { Failure } from '../../schemas/failure.ts'

/** A value and how fresh it is: `at` in milliseconds since the epoch, `age_s` in whole seconds. */
export interface Cached<Value> {
  readonly value: Value
  readonly at: number
  readonly cache: { readonly hit: boolean; readonly age_s: number; readonly stale: boolean }
}

interface Settings<Value> {
  readonly entries: number
  /** Milliseconds for which a value is fresh. */
  lifetime(value: Value): number
  /** Milliseconds for which a value may stand in while the upstream is in trouble. */
  stand_in(value: Value): number
}

interface Flight<Value> {
  readonly landing: Promise<Cached<Value>>
  readonly abort: AbortController
  waiting: number
}

const trouble = new Set(['upstream_failed', 'upstream_timeout', 'upstream_invalid', 'circuit_open'])

/** Gives the value of a key: a fresh one that is kept, or what `fetch` brings. */
export type Recall<Value> = (
  key: string,
  signal: AbortSignal,
  fetch: (signal: AbortSignal) => Promise<Value>,
) => Promise<Cached<Value>>

/** What makes such caches, under one clock. */
export type CreateCache = <Value extends object>(settings: Settings<Value>) => Recall<Value>

/**
 * Keeps the least recently used values, and lets callers who ask for one key at one time share one flight.
 * A caller who leaves gets `cancelled`; the flight goes on until the last of them has left.
 */
export function createFlightCache<Value extends object>(
  settings: Settings<Value>,
  clock: () => number,
): Recall<Value> {
  const kept = new LRUCache<string, { value: Value; at: number }>({ max: settings.entries })
  const flights = new Map<string, Flight<Value>>()

  function recall(
    key: string,
    lifetime: (value: Value) => number,
    stale: boolean,
  ): Cached<Value> | undefined {
    const found = kept.get(key)
    if (!found) return undefined
    const age = clock() - found.at
    if (age < 0 || age >= lifetime(found.value)) return undefined
    return { ...found, cache: { hit: true, age_s: Math.floor(age / 1000), stale } }
  }

  async function load(
    key: string,
    signal: AbortSignal,
    fetch: (signal: AbortSignal) => Promise<Value>,
  ): Promise<Cached<Value>> {
    try {
      const found = { value: await fetch(signal), at: clock() }
      kept.set(key, found)
      return { ...found, cache: { hit: false, age_s: 0, stale: false } }
    } catch (thrown) {
      const standIn = recall(key, settings.stand_in, true)
      if (standIn && thrown instanceof Failure && trouble.has(thrown.code)) return standIn
      throw thrown
    }
  }

  function takeOff(key: string, fetch: (signal: AbortSignal) => Promise<Value>): Flight<Value> {
    const abort = new AbortController()
    const landing = load(key, abort.signal, fetch)
    const flight = { landing, abort, waiting: 0 }
    flights.set(key, flight)
    const land = () => {
      if (flights.get(key) === flight) flights.delete(key)
    }
    landing.then(land, land)
    return flight
  }

  return async (key, signal, fetch) => {
    const fresh = recall(key, settings.lifetime, false)
    if (fresh) return fresh
    if (signal.aborted) throw cancelled(signal)
    const flight = flights.get(key) ?? takeOff(key, fetch)
    flight.waiting++
    try {
      return await orCancelled(flight.landing, signal)
    } finally {
      flight.waiting--
      if (flight.waiting === 0 && flights.get(key) === flight) {
        flights.delete(key)
        flight.abort.abort()
      }
    }
  }
}

async function orCancelled<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: leaving, reject } = Promise.withResolvers<never>()
  const leave = () => reject(cancelled(signal))
  signal.addEventListener('abort', leave, { once: true })
  try {
    return await Promise.race([promise, leaving])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

function cancelled({ reason }: AbortSignal): Failure {
  return reason instanceof Failure ? reason : new Failure('cancelled', 'The caller went away.', {}, reason)
}

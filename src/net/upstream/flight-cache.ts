import { LRUCache } from 'lru-cache'
import { Failure } from '../../../schemas/failure.ts'
import type { Clock, Wait } from '../../common/clock.ts'

/** A value and how fresh it is: `at` in milliseconds since the epoch, `age_s` in whole seconds. */
export interface Cached<Value> {
  readonly value: Value
  readonly at: number
  readonly cache: { readonly hit: boolean; readonly age_s: number; readonly stale: boolean }
  /** True for a stale value whose upstream failed when it was asked for a new one. */
  readonly in_trouble: boolean
}

interface Settings<Value> {
  readonly entries: number
  /** Milliseconds for which a value is fresh. */
  lifetime(value: Value): number
  /** Milliseconds for which it is given at once after that, while a new one is fetched in the background. */
  refresh(value: Value): number
  /** Milliseconds for which a value may stand in while the upstream is in trouble. */
  stand_in(value: Value): number
}

interface Surroundings {
  readonly clock: Clock
  readonly wait: Wait
  /** Ends every flight. */
  readonly closing: AbortSignal
}

interface Kept<Value> {
  readonly value: Value
  readonly at: number
  in_trouble: boolean
}

interface Flight<Value> {
  readonly landing: Promise<Cached<Value>>
  readonly abort: AbortController
  waiting: number
}

type Load<Value> = (signal: AbortSignal) => Promise<Value>

const trouble = new Set(['upstream_failed', 'upstream_timeout', 'upstream_invalid', 'circuit_open'])
const mostInBackground = 16
const longestInBackground = 30_000

/** Gives the value of a key: one that is kept, or what `fetch` brings. */
export type Recall<Value> = (key: string, signal: AbortSignal, fetch: Load<Value>) => Promise<Cached<Value>>

/** What makes such caches, under one clock. */
export type CreateCache = <Value extends object>(settings: Settings<Value>) => Recall<Value>

/**
 * Keeps the least recently used values, and lets callers who ask for one key at one time share one flight.
 * A caller who leaves gets `cancelled`; the flight goes on until the last of them has left. A value past its lifetime
 * is given at once, as stale, while one flight in the background fetches the next (RFC 5861).
 */
export function createFlightCache<Value extends object>(
  settings: Settings<Value>,
  { clock, wait, closing }: Surroundings,
): Recall<Value> {
  const kept = new LRUCache<string, Kept<Value>>({ max: settings.entries })
  const flights = new Map<string, Flight<Value>>()
  let inBackground = 0

  /** What is kept, where it is younger than so many milliseconds. */
  function recall(key: string, age_ms: (value: Value) => number, stale: boolean): Cached<Value> | undefined {
    const found = kept.get(key)
    if (!found) return undefined
    const age = clock() - found.at
    if (age < 0 || age >= age_ms(found.value)) return undefined
    return { ...found, cache: { hit: true, age_s: Math.floor(age / 1000), stale } }
  }

  async function load(key: string, signal: AbortSignal, fetch: Load<Value>): Promise<Cached<Value>> {
    try {
      const found = { value: await fetch(signal), at: clock(), in_trouble: false }
      kept.set(key, found)
      return { ...found, cache: { hit: false, age_s: 0, stale: false } }
    } catch (thrown) {
      if (!(thrown instanceof Failure && trouble.has(thrown.code))) throw thrown
      const old = kept.get(key)
      if (old) old.in_trouble = true
      const standIn = recall(key, settings.stand_in, true)
      if (standIn) return standIn
      throw thrown
    }
  }

  function takeOff(key: string, fetch: Load<Value>): Flight<Value> {
    const abort = new AbortController()
    const close = () => abort.abort(closing.reason)
    closing.addEventListener('abort', close, { once: true })
    if (closing.aborted) close()
    const landing = load(key, abort.signal, fetch)
    const flight = { landing, abort, waiting: 0 }
    flights.set(key, flight)
    const land = () => {
      closing.removeEventListener('abort', close)
      if (flights.get(key) === flight) flights.delete(key)
    }
    landing.then(land, land)
    return flight
  }

  /** Nobody waits for this flight, and it counts as waited for: it ends by itself, by its time or at the close. */
  function refresh(key: string, fetch: Load<Value>): void {
    if (flights.has(key) || inBackground >= mostInBackground || closing.aborted) return
    const { landing, abort } = Object.assign(takeOff(key, fetch), { waiting: 1 })
    const landed = new AbortController()
    inBackground++
    const land = () => {
      inBackground--
      landed.abort()
    }
    landing.then(land, land)
    const late = () => abort.abort(new Failure('upstream_timeout', 'The answer took too long.'))
    wait(longestInBackground, landed.signal).then(late, () => {})
  }

  return async (key, signal, fetch) => {
    const fresh = recall(key, settings.lifetime, false)
    if (fresh) return fresh
    if (signal.aborted) throw cancelled(signal)
    const stale = recall(key, (value) => settings.lifetime(value) + settings.refresh(value), true)
    if (stale) {
      refresh(key, fetch)
      return stale
    }
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

import { LRUCache } from 'lru-cache'
import { type Code, Failure } from '../../../schemas/failure.ts'
import type { Clock, Wait } from '../../common/clock.ts'
import { upTo } from '../../common/lru.ts'
import type { Cached, CacheSettings, UpstreamCall } from '../../common/upstream.ts'

interface Surroundings {
  readonly clock: Clock
  readonly wait: Wait
  /** Aborts every fetch. */
  readonly closing: AbortSignal
}

interface CacheEntry<Value> {
  readonly value: Value
  readonly at: number
  in_trouble: boolean
}

/** One fetch of a key, shared by all callers of the key. */
interface Flight<Value> {
  readonly result: Promise<Cached<Value>>
  readonly abort: AbortController
  /** In order of their arrival. */
  readonly callers: Set<string>
  waiting: number
}

type Load<Value> = (call: UpstreamCall) => Promise<Value>

const trouble: ReadonlySet<Code> = new Set<Code>([
  'upstream_failed',
  'upstream_timeout',
  'upstream_invalid',
  'circuit_open',
  'rate_limited',
])
/** Callers in whose names one fetch is attempted: the limits of one caller must not fail the others that wait. */
const maxAttempts = 3
const maxBackgroundFetches = 16
const maxBackground_ms = 30_000

/**
 * Keeps the most recently used values. Concurrent callers of one key share one fetch. If it fails in the name of one
 * caller, it is attempted in the name of the next, of three at most. A caller whose signal aborts gets
 * `cancelled`; the fetch is aborted when the last caller has left. A value past its lifetime is served at once as stale
 * while a background fetch refreshes it (RFC 5861).
 */
export class SingleFlightCache<Value extends object> {
  readonly #settings: CacheSettings<Value>
  readonly #clock: Clock
  readonly #wait: Wait
  readonly #closing: AbortSignal
  readonly #entries: LRUCache<string, CacheEntry<Value>>
  readonly #flights = new Map<string, Flight<Value>>()
  #backgroundFetches = 0

  constructor(settings: CacheSettings<Value>, { clock, wait, closing }: Surroundings) {
    this.#settings = settings
    this.#clock = clock
    this.#wait = wait
    this.#closing = closing
    this.#entries = new LRUCache(upTo(settings.entries))
  }

  /** Resolves to the cached value of a key, or to the result of `fetch`. */
  async get(key: string, { signal, caller }: UpstreamCall, fetch: Load<Value>): Promise<Cached<Value>> {
    const { lifetime, refresh } = this.#settings
    const fresh = this.#recall(key, lifetime, false)
    if (fresh) return fresh
    if (signal.aborted) throw Failure.cancelled(signal)
    const stale = this.#recall(key, (value) => lifetime(value) + refresh(value), true)
    if (stale) {
      this.#refresh(key, caller, fetch)
      return stale
    }
    const flight = this.#flights.get(key) ?? this.#start(key, caller, fetch)
    flight.callers.add(caller)
    flight.waiting++
    try {
      return await orCancelled(flight.result, signal)
    } finally {
      flight.waiting--
      if (flight.waiting === 0 && this.#flights.get(key) === flight) {
        this.#flights.delete(key)
        flight.abort.abort()
      }
    }
  }

  /** The cached value, if it is younger than `maxAge` milliseconds. */
  #recall(key: string, maxAge: (value: Value) => number, stale: boolean): Cached<Value> | undefined {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    const age = this.#clock() - entry.at
    if (age < 0 || age >= maxAge(entry.value)) return undefined
    return { ...entry, cache: { hit: true, age_s: Math.floor(age / 1000), stale } }
  }

  async #load(
    key: string,
    callers: ReadonlySet<string>,
    signal: AbortSignal,
    fetch: Load<Value>,
  ): Promise<Cached<Value>> {
    try {
      const value = await fetchForAny(callers, signal, fetch)
      const entry = { value, at: this.#clock(), in_trouble: false }
      this.#entries.set(key, entry)
      return { ...entry, cache: { hit: false, age_s: 0, stale: false } }
    } catch (thrown) {
      if (!isTrouble(thrown)) throw thrown
      const old = this.#entries.get(key)
      if (old) old.in_trouble = true
      const standIn = this.#recall(key, this.#settings.stand_in, true)
      if (standIn) return standIn
      throw thrown
    }
  }

  #start(key: string, caller: string, fetch: Load<Value>): Flight<Value> {
    const closing = this.#closing
    const abort = new AbortController()
    const close = () => abort.abort(closing.reason)
    closing.addEventListener('abort', close, { once: true })
    if (closing.aborted) close()
    const callers = new Set([caller])
    const result = this.#load(key, callers, abort.signal, fetch)
    const flight = { result, abort, callers, waiting: 0 }
    this.#flights.set(key, flight)
    const settle = () => {
      closing.removeEventListener('abort', close)
      if (this.#flights.get(key) === flight) this.#flights.delete(key)
    }
    result.then(settle, settle)
    return flight
  }

  /**
   * Fetches in the background. Callers that leave do not abort the fetch: its deadline or the close of the cache ends
   * it.
   */
  #refresh(key: string, caller: string, fetch: Load<Value>): void {
    const isFull = this.#backgroundFetches >= maxBackgroundFetches
    if (this.#flights.has(key) || isFull || this.#closing.aborted) return
    const { result, abort } = Object.assign(this.#start(key, caller, fetch), { waiting: 1 })
    const settled = new AbortController()
    this.#backgroundFetches++
    const settle = () => {
      this.#backgroundFetches--
      settled.abort()
    }
    result.then(settle, settle)
    const timeOut = () => abort.abort(new Failure('upstream_timeout', 'The answer took too long.'))
    this.#wait(maxBackground_ms, settled.signal).then(timeOut, () => {})
  }
}

/** Fetches in the name of one caller after the other; callers that arrive meanwhile are included. */
async function fetchForAny<Value>(
  callers: ReadonlySet<string>,
  signal: AbortSignal,
  fetch: Load<Value>,
): Promise<Value> {
  let attempts = 0
  let failure: unknown
  for (const caller of callers) {
    try {
      return await fetch({ signal, caller })
    } catch (thrown) {
      failure = thrown
      attempts++
      if (!isTrouble(thrown) || signal.aborted || attempts === maxAttempts) break
    }
  }
  throw failure
}

function isTrouble(thrown: unknown): boolean {
  return thrown instanceof Failure && trouble.has(thrown.code)
}

async function orCancelled<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: leaving, reject } = Promise.withResolvers<never>()
  const leave = () => reject(Failure.cancelled(signal))
  signal.addEventListener('abort', leave, { once: true })
  try {
    return await Promise.race([promise, leaving])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

import { type Code, Failure } from '../../schemas/failure.ts'
import type { Clock, Wait } from '../../src/common/clock.ts'
import type { UpstreamCall } from '../../src/common/upstream.ts'
import type { Provider, Quote } from './providers/provider.ts'
import type { Instrument } from './symbol.ts'

/** The result of a source: a quote, null for an unknown instrument, or its failure. */
export interface SourceResult {
  readonly id: string
  readonly name: string
  readonly result: Quote | null | Failure
}

export interface Hedge {
  readonly clock: Clock
  readonly wait: Wait
  /** Quotes to wait for; this many sources are asked concurrently. */
  readonly min_quotes: number
}

interface Running {
  readonly done: Promise<void>
  readonly abort: AbortController
}

/** Failures of one source, after which the other sources are still asked. */
const sourceErrors: ReadonlySet<Code> = new Set<Code>([
  'upstream_failed',
  'upstream_timeout',
  'upstream_invalid',
  'too_large',
  'blocked_address',
  'circuit_open',
  'rate_limited',
])

const headStart_ms = 800
/** Milliseconds that the time of a trade may lie in the future. */
const maxClockSkew_ms = 2 * 60_000

/**
 * Asks sources in order until there are enough quotes. The next source is asked when a source has no quote, and when
 * nothing arrived for 800 ms. Requests still running at the end are cancelled. A source that lost its head start fails
 * with `upstream_timeout`, which counts against it. Returns the results in order of arrival.
 */
export async function hedgedQuotes<Requested extends Instrument>(
  providers: readonly Provider<Requested>[],
  instrument: Requested,
  { clock, wait, min_quotes }: Hedge,
  call: UpstreamCall,
): Promise<SourceResult[]> {
  const results: SourceResult[] = []
  const arrivals: SourceResult[] = []
  const running = new Map<string, Running>()
  const waiting = [...providers]

  function start(): void {
    const provider = waiting.shift()
    if (!provider) return
    const abort = new AbortController()
    const signal = AbortSignal.any([call.signal, abort.signal])
    const quote = quoteFrom(provider, instrument, clock, { ...call, signal })
    const done = quote.then((result) => {
      arrivals.push({ id: provider.id, name: provider.name, result })
    })
    running.set(provider.id, { done, abort })
  }

  const isEnough = () => results.filter(({ result }) => isQuote(result)).length >= min_quotes
  for (let count = 0; count < min_quotes; count++) start()
  try {
    while (running.size > 0 && !isEnough()) {
      await anyOf(running, waiting.length > 0 ? wait : undefined)
      const arrived = arrivals.splice(0)
      if (arrived.length === 0) start()
      for (const source of arrived) {
        running.delete(source.id)
        results.push(source)
        if (!isQuote(source.result)) start()
      }
    }
    return [...results, ...late(providers, results, running)]
  } finally {
    for (const { done, abort } of running.values()) {
      abort.abort(abort.signal.reason ?? new Failure('cancelled', 'Another source was faster.'))
      done.catch(() => {})
    }
  }
}

export function isQuote(result: SourceResult['result']): result is Quote {
  return result !== null && !(result instanceof Failure)
}

/** Sources that rank before the winner and have not answered: they have lost their head start. */
function late<Requested extends Instrument>(
  providers: readonly Provider<Requested>[],
  results: readonly SourceResult[],
  running: ReadonlyMap<string, Running>,
): SourceResult[] {
  const winner = results.findLast(({ result }) => isQuote(result))
  const rank = providers.findIndex(({ id }) => id === winner?.id)
  return providers.slice(0, Math.max(0, rank)).flatMap(({ id, name }) => {
    const { abort } = running.get(id) ?? {}
    if (!abort || !winner) return []
    const result = new Failure('upstream_timeout', `slower than ${winner.name}`)
    abort.abort(result)
    return [{ id, name, result }]
  })
}

async function quoteFrom<Requested extends Instrument>(
  { quote }: Provider<Requested>,
  instrument: Requested,
  clock: Clock,
  call: UpstreamCall,
): Promise<SourceResult['result']> {
  try {
    const found = await quote(instrument, call)
    if (!found?.time || found.time <= clock() + maxClockSkew_ms) return found
    return new Failure('upstream_invalid', 'a trade in the future')
  } catch (thrown) {
    if (thrown instanceof Failure && sourceErrors.has(thrown.code)) return thrown
    throw thrown
  }
}

/** Resolves when a source is done or the head start is over. */
async function anyOf(running: ReadonlyMap<string, Running>, wait: Wait | undefined): Promise<void> {
  const over = new AbortController()
  const timers = wait ? [wait(headStart_ms, over.signal).catch(() => {})] : []
  try {
    await Promise.race([...[...running.values()].map(({ done }) => done), ...timers])
  } finally {
    over.abort()
  }
}

import { type Code, Failure } from '../../schemas/failure.ts'
import type { UpstreamCall } from '../../src/common/upstream.ts'
import { type Hedge, hedgedQuotes, isQuote, type SourceResult } from './hedge.ts'
import type { Provider, Quote } from './providers/provider.ts'
import type { Instrument } from './symbol.ts'

export interface FoundPrice extends Quote {
  readonly provider: string
  readonly name: string
  readonly warnings: readonly string[]
  /** The price of a second source. */
  readonly compared?: { readonly provider: string; readonly price: string; readonly currency: string | null }
}

/** Relative difference above which a warning is added. */
const maxGap = 0.02

/**
 * The quote of the best source that has one, compared with a second quote if there is one. Null if no source knows the
 * symbol. Throws Failure `upstream_timeout` (all sources too late), `circuit_open` (all circuits open), `rate_limited`
 * (no source may be called now) or `upstream_failed` with the error of each source if there is no price and a source
 * failed.
 */
export async function firstQuote<Requested extends Instrument>(
  providers: readonly Provider<Requested>[],
  instrument: Requested,
  hedge: Hedge,
  call: UpstreamCall,
): Promise<FoundPrice | null> {
  const results = await hedgedQuotes(providers, instrument, hedge, call)
  const rank = ({ id }: SourceResult) => providers.findIndex((provider) => provider.id === id)
  const quotes = results.flatMap(withQuote).toSorted((left, right) => rank(left) - rank(right))
  const failures = results.flatMap(({ id, result }) =>
    result instanceof Failure ? [{ id, failure: result }] : [],
  )
  const [best, second] = quotes
  if (best) {
    const warnings = failures.map((failure) => `No price from ${describe(failure)}.`)
    const { id, name, result } = best
    return { ...result, provider: id, name, ...compare(best, second, hedge.min_quotes, warnings) }
  }
  if (failures.length === 0) return null
  throw allFailed(instrument, failures)
}

type Quoted = SourceResult & { readonly result: Quote }

function withQuote({ id, name, result }: SourceResult): Quoted[] {
  return isQuote(result) ? [{ id, name, result }] : []
}

function compare(best: Quoted, second: Quoted | undefined, min_quotes: number, warnings: readonly string[]) {
  if (!second) {
    const warning = min_quotes > 1 ? ['No second source had a price to compare with.'] : []
    return { warnings: [...warnings, ...warning] }
  }
  const { price, currency } = second.result
  const compared = { provider: second.id, price, currency }
  if (currency !== best.result.currency) {
    const otherCurrency = `${second.name} gives the price in ${currency ?? 'an unknown currency'}: not compared.`
    return { compared, warnings: [...warnings, otherCurrency] }
  }
  const gap = Math.abs(Number(price) / Number(best.result.price) - 1)
  const apart = `${second.name} says ${price}: ${(gap * 100).toFixed(1)} % apart.`
  return { compared, warnings: gap > maxGap ? [...warnings, apart] : warnings }
}

interface SourceFailure {
  readonly id: string
  readonly failure: Failure
}

function describe({ id, failure }: SourceFailure): string {
  return `${id} (${failure.code}: ${failure.message.replace(/\.$/, '')})`
}

function allFailed(instrument: Instrument, failures: readonly SourceFailure[]): Failure {
  const summary = failures.map(describe).join(', ')
  const pauses = failures.flatMap(({ failure }) => failure.details.retry_after_s ?? [])
  return new Failure(
    codeOf(new Set(failures.map(({ failure }) => failure.code))),
    `No source gave a price of ${instrument.resolved}: ${summary}.`,
    {
      upstream: { code: failures.map(({ id, failure }) => `${id}: ${failure.code}`).join(', ') },
      ...(pauses.length > 0 && { retry_after_s: Math.min(...pauses) }),
    },
    failures.map(({ failure }) => failure),
  )
}

function codeOf(codes: ReadonlySet<Code>): Code {
  const areAll = (...accepted: Code[]) => [...codes].every((code) => accepted.includes(code))
  if (areAll('upstream_timeout')) return 'upstream_timeout'
  if (areAll('circuit_open')) return 'circuit_open'
  return areAll('circuit_open', 'rate_limited') ? 'rate_limited' : 'upstream_failed'
}

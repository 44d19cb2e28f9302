import { Failure } from '../../schemas/failure.ts'
import type { Cached, UpstreamCall, Upstreams } from '../../src/common/upstream.ts'
import { type FoundPrice, firstQuote } from './chain.ts'
import { createSources, type FinanceConfig } from './sources.ts'
import { type AssetClass, assetClasses, type Instrument } from './symbol.ts'

export type FinancePorts = Upstreams & FinanceConfig

export interface Prices {
  /** The classes that no configured source has. */
  readonly unserved: readonly AssetClass[]
  /**
   * The freshest available price; if `compared` is set, compared with that of a second source. Throws Failure
   * `not_found`, `not_configured`, `circuit_open`, `rate_limited`, `upstream_…`, `cancelled`.
   */
  find(instrument: Instrument, compared: boolean, call: UpstreamCall): Promise<Cached<FoundPrice>>
}

type CachedPrice = { readonly found: FoundPrice | null; readonly asset_class: AssetClass }

const second = 1_000
const minute = 60 * second
const unknownLifetime = minute
const standIn = 60 * minute

/**
 * Milliseconds for which a price is fresh, and for which it is then served as stale while the next price is fetched.
 */
const periods: Readonly<Record<AssetClass, { readonly lifetime: number; readonly refresh: number }>> = {
  crypto: { lifetime: 10 * second, refresh: 50 * second },
  stock: { lifetime: minute, refresh: 4 * minute },
  fx: { lifetime: 10 * minute, refresh: 50 * minute },
  index: { lifetime: minute, refresh: 4 * minute },
}

/**
 * Prices by asset class. An unknown symbol is cached for a minute. A stale price is served for up to an hour while
 * every source fails.
 */
export function createPrices(ports: FinancePorts): Prices {
  const { clock, wait } = ports
  const sources = createSources(ports, ports)
  const cached = ports.create_cache<CachedPrice>({
    entries: 2_000,
    lifetime: ({ found, asset_class }) => (found ? periods[asset_class].lifetime : unknownLifetime),
    refresh: ({ found, asset_class }) => (found ? periods[asset_class].refresh : 0),
    stand_in: ({ found }) => (found ? standIn : 0),
  })

  function search(instrument: Instrument, compared: boolean, call: UpstreamCall): Promise<FoundPrice | null> {
    const hedge = { clock, wait, min_quotes: compared ? 2 : 1 }
    if (instrument.asset_class === 'stock') return firstQuote(sources.stock, instrument, hedge, call)
    if (instrument.asset_class === 'index') return firstQuote(sources.index, instrument, hedge, call)
    return firstQuote(sources[instrument.asset_class], instrument, hedge, call)
  }

  return {
    unserved: assetClasses.filter((asset_class) => sources[asset_class].length === 0),
    async find(instrument, compared, call) {
      const { asset_class, resolved } = instrument
      if (sources[asset_class].length === 0) throw notConfigured(asset_class)
      const key = `${asset_class} ${resolved} ${compared}`
      const { value, ...freshness } = await cached(key, call, async (shared) => ({
        found: await search(instrument, compared, shared),
        asset_class,
      }))
      if (!value.found) throw unknownSymbol(instrument)
      return { ...freshness, value: value.found }
    },
  }
}

function notConfigured(asset_class: AssetClass): Failure {
  const yahoo = 'DRAGOMAN_YAHOO_URL (unofficial)'
  if (asset_class === 'index') {
    const detail = `Prices of indices need ${yahoo}: no other source has them.`
    return new Failure('not_configured', detail, { hint: untilThen })
  }
  return new Failure(
    'not_configured',
    `Prices of shares need a key: set DRAGOMAN_FINNHUB_KEY, DRAGOMAN_TWELVE_DATA_KEY or DRAGOMAN_ALPHA_VANTAGE_KEY, or ${yahoo}.`,
    {
      hint: `${untilThen} For a crypto asset that is not well known, give asset_class "crypto" or a pair such as ABC-USD.`,
    },
  )
}

const untilThen = 'The operator sets it. Until then use another agent.'

function unknownSymbol({ resolved, asset_class }: Instrument): Failure {
  const other = asset_class === 'crypto' ? 'stock' : 'crypto'
  return new Failure('not_found', `No source knows ${resolved} as ${asset_class}.`, {
    hint: `Check the symbol, or give asset_class "${other}" if you mean that.`,
  })
}

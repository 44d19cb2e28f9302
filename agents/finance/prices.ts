import { Failure } from '../../schemas/failure.ts'
import { type Found, firstQuote } from './chain.ts'
import { coinbase } from './coinbase.ts'
import { finnhub } from './finnhub.ts'
import { kraken } from './kraken.ts'
import type { Cached, Clock, CreateCache, Fetch } from './port.ts'
import type { Instrument } from './symbol.ts'

export interface FinancePorts {
  readonly fetch: Fetch
  readonly create_cache: CreateCache
  /** Base addresses of the sources, such as `https://api.exchange.coinbase.com`. */
  readonly coinbase_url: string
  readonly kraken_url: string
  readonly finnhub_url: string
  /** The operator's key; shares have no price without it. Sent in a header, never in an address. */
  readonly finnhub_key: string | undefined
  readonly clock: Clock
}

export interface Prices {
  /** The freshest price within reach. Throws Failure `not_found`, `not_configured`, `upstream_…`, `cancelled`. */
  find(asked: Instrument, signal: AbortSignal): Promise<Cached<Found>>
}

type Kept = { readonly found: Found; readonly lifetime: number } | { readonly found: null }

const second = 1_000
const unknownLifetime = 60 * second

/**
 * Prices kept for ten seconds (crypto) or a minute (shares, and symbols nobody knows); they stand in for up to five
 * minutes while every source is in trouble.
 */
export function createPrices(ports: FinancePorts): Prices {
  const { fetch, clock, finnhub_key } = ports
  const crypto = [coinbase(fetch, ports.coinbase_url), kraken(fetch, ports.kraken_url)]
  const stock = finnhub_key === undefined ? [] : [finnhub(fetch, ports.finnhub_url, finnhub_key)]
  const cached = ports.create_cache<Kept>({
    entries: 2_000,
    lifetime: (kept) => (kept.found ? kept.lifetime : unknownLifetime),
    stand_in: (kept) => (kept.found ? 300 * second : 0),
  })

  async function load(asked: Instrument, signal: AbortSignal): Promise<Kept> {
    const isCrypto = asked.asset_class === 'crypto'
    const found = isCrypto
      ? await firstQuote(crypto, asked, clock, signal)
      : await firstQuote(stock, asked, clock, signal)
    return found ? { found, lifetime: (isCrypto ? 10 : 60) * second } : { found }
  }

  return {
    async find(asked, signal) {
      if (asked.asset_class === 'stock' && stock.length === 0) throw notConfigured()
      const key = `${asked.asset_class} ${asked.resolved}`
      const { value, ...freshness } = await cached(key, signal, (shared) => load(asked, shared))
      if (!value.found) throw unknownSymbol(asked)
      return { ...freshness, value: value.found }
    },
  }
}

function notConfigured(): Failure {
  return new Failure('not_configured', 'Prices of shares need a key of Finnhub: set DRAGOMAN_FINNHUB_KEY.', {
    hint: 'For a crypto asset that is not well known, give asset_class "crypto" or a pair such as ABC-USD.',
  })
}

function unknownSymbol({ resolved, asset_class }: Instrument): Failure {
  const other = asset_class === 'crypto' ? 'stock' : 'crypto'
  return new Failure('not_found', `No source knows ${resolved} as ${asset_class}.`, {
    hint: `Check the symbol, or give asset_class "${other}" if that is what you mean.`,
  })
}

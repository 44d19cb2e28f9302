import type { UpstreamLimits, Upstreams } from '../../src/common/upstream.ts'
import { alphaVantage } from './providers/alpha-vantage.ts'
import { binance } from './providers/binance.ts'
import { coinbase } from './providers/coinbase.ts'
import { coingecko } from './providers/coingecko.ts'
import { finnhub } from './providers/finnhub.ts'
import { frankfurter } from './providers/frankfurter.ts'
import { kraken } from './providers/kraken.ts'
import type { Provider } from './providers/provider.ts'
import { twelveData } from './providers/twelve-data.ts'
import { yahoo } from './providers/yahoo.ts'
import type { Index, Pair, Stock } from './symbol.ts'

/** Base URLs of the sources and the operator's keys; a source that needs a key is left out without it. */
export interface FinanceConfig {
  readonly coinbase_url: string
  readonly kraken_url: string
  readonly binance_url: string
  readonly coingecko_url: string
  readonly coingecko_key: string | undefined
  readonly finnhub_url: string
  readonly finnhub_key: string | undefined
  readonly twelve_data_url: string
  readonly twelve_data_key: string | undefined
  readonly alpha_vantage_url: string
  readonly alpha_vantage_key: string | undefined
  readonly frankfurter_url: string
  /** Yahoo is used only if its URL is set. */
  readonly yahoo_url: string | undefined
}

/** Sources by asset class, best first. */
interface Sources {
  readonly crypto: readonly Provider<Pair>[]
  readonly stock: readonly Provider<Stock>[]
  readonly fx: readonly Provider<Pair>[]
  readonly index: readonly Provider<Index>[]
}

/** One request per `gap_ms` milliseconds, according to the terms of each source for free use. */
function every(gap_ms: number, burst: number): UpstreamLimits {
  return { gap_ms, burst, max_in_flight: 8 }
}

export function createSources({ create_upstream, clock }: Upstreams, config: FinanceConfig): Sources {
  const source = (url: string, limits: UpstreamLimits) => ({ url, ask: create_upstream(limits) })
  const keyed = <Made>(key: string | undefined, make: (key: string) => Made): Made[] =>
    key === undefined ? [] : [make(key)]

  const brokers = [
    ...keyed(config.twelve_data_key, (key) =>
      twelveData({ ...source(config.twelve_data_url, every(7_500, 8)), key }),
    ),
    ...keyed(config.alpha_vantage_key, (key) =>
      alphaVantage({ ...source(config.alpha_vantage_url, every(12_000, 5)), key }),
    ),
  ]
  const shares = keyed(config.finnhub_key, (key) =>
    finnhub({ ...source(config.finnhub_url, every(1_000, 30)), key }),
  )
  const unofficial = keyed(config.yahoo_url, (url) => yahoo(source(url, every(500, 10)), clock))
  return {
    crypto: [
      coinbase(source(config.coinbase_url, every(125, 10))),
      kraken(source(config.kraken_url, every(1_000, 10))),
      binance(source(config.binance_url, every(50, 20))),
      coingecko({ ...source(config.coingecko_url, every(6_000, 5)), key: config.coingecko_key }),
    ],
    stock: [...shares, ...brokers, ...unofficial],
    fx: [...brokers, frankfurter(source(config.frankfurter_url, every(200, 10))), ...unofficial],
    index: unofficial,
  }
}

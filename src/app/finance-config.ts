import type { createFinance } from '../../agents/finance/index.ts'
import type { Config } from './config.ts'

type Needs = Parameters<typeof createFinance>[0]

/** Where prices come from, as the operator says. */
export function pricePlaces(config: Config) {
  return {
    coinbase_url: config.DRAGOMAN_COINBASE_URL,
    kraken_url: config.DRAGOMAN_KRAKEN_URL,
    binance_url: config.DRAGOMAN_BINANCE_URL,
    coingecko_url: config.DRAGOMAN_COINGECKO_URL,
    coingecko_key: config.DRAGOMAN_COINGECKO_KEY,
    finnhub_url: config.DRAGOMAN_FINNHUB_URL,
    finnhub_key: config.DRAGOMAN_FINNHUB_KEY,
    twelve_data_url: config.DRAGOMAN_TWELVE_DATA_URL,
    twelve_data_key: config.DRAGOMAN_TWELVE_DATA_KEY,
    alpha_vantage_url: config.DRAGOMAN_ALPHA_VANTAGE_URL,
    alpha_vantage_key: config.DRAGOMAN_ALPHA_VANTAGE_KEY,
    frankfurter_url: config.DRAGOMAN_FRANKFURTER_URL,
    yahoo_url: config.DRAGOMAN_YAHOO_URL,
  } satisfies Partial<Needs>
}

/** The addresses among them: the operator's word exempts them from the public-address rule. */
export function priceOrigins(config: Config): string[] {
  return Object.entries(pricePlaces(config)).flatMap(([name, value]) =>
    name.endsWith('_url') && value !== undefined ? [value] : [],
  )
}

/** The origin of an upstream's address; a `{lang}` in its host leaves it to the public-address rule. */
export function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url
}

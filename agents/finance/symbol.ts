import { Failure } from '../../schemas/failure.ts'
import { cryptoTickers, fiat, quotes, sharedTickers } from './tickers.ts'

export type AssetClass = 'crypto' | 'stock'

export interface Pair {
  readonly asset_class: 'crypto'
  /** `BTC-USD` */
  readonly resolved: string
  readonly base: string
  readonly quote: string
}

export interface Share {
  readonly asset_class: 'stock'
  /** `AAPL`, `BRK.B`, `7203.T` */
  readonly resolved: string
  /** Known for American listings alone; never guessed from a suffix. */
  readonly currency: 'USD' | null
}

export type Instrument = Pair | Share

/** Exchanges whose suffix is one letter: Tokyo, London, Frankfurt, TSX Venture. Any other letter is a class of share. */
const exchanges = new Set(['T', 'L', 'F', 'V'])
const aliases: Readonly<Record<string, string>> = { XBT: 'BTC', XDG: 'DOGE' }
const separated = /^([A-Z0-9]{1,12})[-/]([A-Z]{3,5})$/
const joined = /^([A-Z0-9]{2,12})(USDT|USDC|USD|EUR|GBP|JPY|CHF|CAD|AUD|BTC|ETH)$/

/**
 * What a symbol means. `symbol` is in upper case and holds [A-Z0-9.^=/-] only. A stated asset class wins; then
 * pairs, the tickers of well-known crypto assets, and shares. Throws Failure `invalid_request`, or `not_found` for
 * indices and exchange rates, which no source here covers.
 */
export function readSymbol(
  symbol: string,
  asset_class: AssetClass | undefined,
  currency: string,
): Instrument {
  if (asset_class === 'stock') return share(symbol)
  if (asset_class === 'crypto') return split(symbol) ?? bare(symbol, currency)
  if (/[\^=]/.test(symbol)) throw notCovered(symbol)
  const pairing = split(symbol)
  if (!pairing) return cryptoTickers.has(alias(symbol)) ? bare(symbol, currency) : share(symbol)
  if (fiat.has(pairing.base)) throw notCovered(symbol)
  return separated.test(symbol) || cryptoTickers.has(pairing.base) ? pairing : share(symbol)
}

/** The other thing that a bare ticker may mean. */
export function alternativesOf(symbol: string, { asset_class }: Instrument) {
  if (asset_class === 'crypto' && sharedTickers.has(symbol)) {
    return [{ symbol, asset_class: 'stock' as const }]
  }
  if (asset_class === 'stock' && cryptoTickers.has(symbol)) {
    return [{ symbol, asset_class: 'crypto' as const }]
  }
  return []
}

function split(symbol: string): Pair | undefined {
  if (cryptoTickers.has(symbol)) return undefined
  const [, base, quote] = separated.exec(symbol) ?? joined.exec(symbol) ?? []
  if (base === undefined || quote === undefined || !quotes.has(alias(quote))) return undefined
  return pair(symbol, alias(base), alias(quote))
}

function bare(symbol: string, currency: string): Pair {
  if (!/^[A-Z0-9]{1,12}$/.test(symbol))
    throw invalid(symbol, 'a crypto asset or pair, such as BTC or BTC-USD')
  return pair(symbol, alias(symbol), alias(currency))
}

function pair(symbol: string, base: string, quote: string): Pair {
  if (base === quote) throw invalid(symbol, `something to price in ${quote}`)
  return { asset_class: 'crypto', resolved: `${base}-${quote}`, base, quote }
}

function share(symbol: string): Share {
  const [, ticker, letter] = /^([A-Z]{1,5})[-./]([A-Z])$/.exec(symbol) ?? []
  const listedAbroad = letter !== undefined && exchanges.has(letter) && symbol.includes('.')
  if (ticker !== undefined && !listedAbroad) return american(`${ticker}.${letter}`)
  if (/^[A-Z]{1,5}$/.test(symbol)) return american(symbol)
  if (/^\^?[A-Z0-9]{1,12}([.-][A-Z0-9]{1,4})?$/.test(symbol)) {
    return { asset_class: 'stock', resolved: symbol, currency: null }
  }
  throw invalid(symbol, 'the symbol of a share, such as AAPL, BRK.B or 7203.T')
}

function american(resolved: string): Share {
  return { asset_class: 'stock', resolved, currency: 'USD' }
}

function alias(ticker: string): string {
  return aliases[ticker] ?? ticker
}

function invalid(symbol: string, wanted: string): Failure {
  const detail = `${symbol} is not ${wanted}.`
  return new Failure('invalid_request', detail, { errors: [{ pointer: '/symbol', detail }] })
}

function notCovered(symbol: string): Failure {
  return new Failure(
    'not_found',
    `${symbol} is an index or an exchange rate, and no source here covers those.`,
    {
      hint: 'Ask for a share (AAPL) or a crypto asset (BTC, BTC-EUR).',
    },
  )
}

import { Failure } from '../../schemas/failure.ts'

/** Crypto assets known by their bare ticker. A ticker that mostly means a share (T, W, S …) is left out. */
const cryptoTickers: ReadonlySet<string> = new Set(
  `BTC ETH USDT XRP BNB SOL USDC DOGE TRX ADA HYPE LINK XLM SUI BCH AVAX HBAR LEO LTC TON SHIB DOT XMR WLFI DAI
  UNI AAVE PEPE ENA NEAR TAO OKB CRO APT ONDO ETC ICP POL KAS ARB ATOM VET RENDER FIL ALGO SEI BONK JUP FET WLD
  INJ TIA STX IMX GRT FLR LDO OP QNT XTZ CRV FLOKI PYTH KAIA IOTA ENS RAY SAND THETA MANA GALA PENDLE WIF ZEC
  DASH EOS XDC JASMY PAXG XAUT AXS CHZ COMP DYDX EGLD FLOW GMX KAVA KSM MINA MKR NEO ROSE RUNE SNX SUSHI YFI ZRX
  BAT CELO ENJ ANKR LRC STORJ TUSD PYUSD FDUSD WBTC STETH CBETH MATIC TRUMP PENGU SPX STRK ZRO BLUR APE MASK ZK
  EIGEN AR HNT KNC SKL ZEN ICX QTUM WAVES DCR`
    .trim()
    .split(/\s+/),
)

/** The tickers above that also name a share or a fund on an American exchange. */
const sharedTickers: ReadonlySet<string> = new Set(
  `APE APT AR ARB ATOM AXS BCH BTC COMP DASH EOS ETH FET FLOW GRT LINK LTC NEAR OP SAND SEI SKL SNX SOL SPX STRK
  STX SUI TRX UNI`
    .trim()
    .split(/\s+/),
)

/** Currencies of states (ISO 4217) that a source may support. */
const currencies: ReadonlySet<string> = new Set(
  `AED ARS AUD BGN BRL CAD CHF CLP CNY COP CZK DKK EGP EUR GBP HKD HUF IDR ILS INR ISK JPY KRW KWD MAD MXN MYR NGN
  NOK NZD PEN PHP PKR PLN QAR RON RUB SAR SEK SGD THB TRY TWD UAH USD VND ZAR`
    .trim()
    .split(/\s+/),
)

/** Currencies in which a crypto asset may be priced. */
const quotes: ReadonlySet<string> = new Set('USD EUR GBP JPY CHF CAD AUD USDT USDC BTC ETH'.split(' '))

export const assetClasses = ['crypto', 'stock', 'fx', 'index'] as const
export type AssetClass = (typeof assetClasses)[number]

/** A pair of currencies or assets, the first priced in the second: `BTC-USD`, or `EUR/USD` as an exchange rate. */
export interface Pair {
  readonly asset_class: 'crypto' | 'fx'
  readonly resolved: string
  readonly base: string
  readonly quote: string
}

export interface Stock {
  readonly asset_class: 'stock'
  /** `AAPL`, `BRK.B`, `7203.T` */
  readonly resolved: string
  /** `AAPL`, `BRK`, `7203` */
  readonly ticker: string
  /** The exchange of a listing abroad: `T`, `L`, `DE`. */
  readonly exchange?: string
  /** `B` of `BRK.B` */
  readonly share_class?: string
  /** Known only for American listings; never guessed from a suffix. */
  readonly currency: 'USD' | null
}

export interface Index {
  readonly asset_class: 'index'
  /** `^GSPC` */
  readonly resolved: string
}

export type Instrument = Pair | Stock | Index

/** Exchanges whose suffix is one letter: Tokyo, London, Frankfurt, TSX Venture. Any other letter is a class of share. */
const exchanges = new Set(['T', 'L', 'F', 'V'])
const aliases: Readonly<Record<string, string>> = { XBT: 'BTC', XDG: 'DOGE' }
const separated = /^([A-Z0-9]{1,12})[-/]([A-Z]{3,5})$/
const joined = /^([A-Z0-9]{2,12})(USDT|USDC|USD|EUR|GBP|JPY|CHF|CAD|AUD|BTC|ETH)$/
const rate = /^([A-Z]{3})[-/]?([A-Z]{3})$/
const yahooRate = /^(?:([A-Z]{3})[-/]?)?([A-Z]{3})=X$/
const index = /^\^[A-Z0-9]{1,12}([.-][A-Z0-9]{1,4})?$/

/**
 * Reads the instrument of a symbol. `symbol` is in upper case and consists of [A-Z0-9.^=/-] only. A stated asset class
 * takes precedence; then exchange rates (`EURUSD=X`, `EUR/USD`, `EURUSD`), indices (`^GSPC`), pairs of crypto assets,
 * the tickers of well-known crypto assets, and shares. Throws Failure `invalid_request`.
 */
export function readSymbol(
  symbol: string,
  asset_class: AssetClass | undefined,
  currency: string,
): Instrument {
  if (asset_class === 'stock') return share(symbol)
  if (asset_class === 'crypto') return split(symbol) ?? bare(symbol, currency)
  if (asset_class === 'fx') return exchangeRate(symbol) ?? bareRate(symbol, currency)
  if (asset_class === 'index') return readIndex(symbol.startsWith('^') ? symbol : `^${symbol}`)
  if (symbol.includes('^')) return readIndex(symbol)
  const found = exchangeRate(symbol)
  if (found) return found
  if (symbol.includes('=')) throw invalid(symbol, 'an exchange rate, such as EURUSD=X')
  const pairing = split(symbol)
  if (!pairing) return cryptoTickers.has(alias(symbol)) ? bare(symbol, currency) : share(symbol)
  return separated.test(symbol) || cryptoTickers.has(pairing.base) ? pairing : share(symbol)
}

/** The other instruments that a bare ticker may mean. */
export function alternativesOf(symbol: string, { asset_class }: Instrument) {
  if (asset_class === 'crypto' && sharedTickers.has(symbol)) {
    return [{ symbol, asset_class: 'stock' as const }]
  }
  if (asset_class === 'stock' && cryptoTickers.has(symbol)) {
    return [{ symbol, asset_class: 'crypto' as const }]
  }
  return []
}

/** The Yahoo form of an exchange rate: `JPY=X` is the price of a dollar in yen. */
function exchangeRate(symbol: string): Pair | undefined {
  const yahoo = yahooRate.exec(symbol)
  const [, base = 'USD', quote = ''] = yahoo ?? rate.exec(symbol) ?? []
  const isKnown = currencies.has(base) && currencies.has(quote)
  return isKnown || (yahoo && base !== quote) ? pair('fx', symbol, base, quote) : undefined
}

function bareRate(symbol: string, currency: string): Pair {
  const [, base = symbol, quote = currency] = rate.exec(symbol) ?? []
  if (!/^[A-Z]{3}$/.test(base) || !/^[A-Z]{3}$/.test(quote)) {
    throw invalid(symbol, 'an exchange rate, such as EURUSD=X or EUR/USD')
  }
  return pair('fx', symbol, base, quote)
}

function readIndex(symbol: string): Index {
  if (index.test(symbol)) return { asset_class: 'index', resolved: symbol }
  throw invalid(symbol, 'the symbol of an index, such as ^GSPC')
}

function split(symbol: string): Pair | undefined {
  if (cryptoTickers.has(symbol)) return undefined
  const [, base, quote] = separated.exec(symbol) ?? joined.exec(symbol) ?? []
  if (base === undefined || quote === undefined || !quotes.has(alias(quote))) return undefined
  return pair('crypto', symbol, alias(base), alias(quote))
}

function bare(symbol: string, currency: string): Pair {
  if (!/^[A-Z0-9]{1,12}$/.test(symbol))
    throw invalid(symbol, 'a crypto asset or pair, such as BTC or BTC-USD')
  return pair('crypto', symbol, alias(symbol), alias(currency))
}

function pair(asset_class: Pair['asset_class'], symbol: string, base: string, quote: string): Pair {
  if (base === quote) throw invalid(symbol, `something to price in ${quote}`)
  return { asset_class, resolved: `${base}${asset_class === 'fx' ? '/' : '-'}${quote}`, base, quote }
}

function share(symbol: string): Stock {
  const [, ticker, letter] = /^([A-Z]{1,5})[-./]([A-Z])$/.exec(symbol) ?? []
  const isAbroad = letter !== undefined && exchanges.has(letter) && symbol.includes('.')
  if (ticker !== undefined && letter !== undefined && !isAbroad) return american(ticker, letter)
  if (/^[A-Z]{1,5}$/.test(symbol)) return american(symbol)
  const [, code, exchange] = /^([A-Z0-9]{1,12}(?:-[A-Z0-9]{1,4})?)(?:\.([A-Z0-9]{1,4}))?$/.exec(symbol) ?? []
  if (code === undefined) throw invalid(symbol, 'the symbol of a share, such as AAPL, BRK.B or 7203.T')
  return {
    asset_class: 'stock',
    resolved: symbol,
    ticker: code,
    ...(exchange !== undefined && { exchange }),
    currency: null,
  }
}

function american(ticker: string, share_class?: string): Stock {
  const common = { asset_class: 'stock', ticker, currency: 'USD' } as const
  if (share_class === undefined) return { ...common, resolved: ticker }
  return { ...common, resolved: `${ticker}.${share_class}`, share_class }
}

function alias(ticker: string): string {
  return aliases[ticker] ?? ticker
}

function invalid(symbol: string, expected: string): Failure {
  const detail = `${symbol} is not ${expected}.`
  return new Failure('invalid_request', detail, { errors: [{ pointer: '/symbol', detail }] })
}

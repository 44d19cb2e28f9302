import { z } from 'zod'
import { Failure } from '../../../schemas/failure.ts'
import { isAboutPlan } from '../../../src/common/about-plan.ts'
import type { UpstreamCall } from '../../../src/common/upstream.ts'
import type { Pair, Stock } from '../symbol.ts'
import {
  askJson,
  expectAnswer,
  expectSame,
  type JsonAnswer,
  type KeyedSource,
  Price,
  type Provider,
  type Quote,
  Seconds,
  under,
} from './provider.ts'

const Trouble = z.object({
  status: z.literal('error'),
  code: z.string().regex(/^\d{3}$/),
  message: z.string().catch(''),
})
const Currency = z.string().regex(/^[A-Za-z]{3}$/)
const StockQuote = z.object({
  symbol: z.string(),
  currency: Currency,
  close: Price,
  timestamp: Seconds,
  last_quote_at: Seconds.optional(),
  is_market_open: z.boolean(),
})
const Rate = z.object({ symbol: z.string(), rate: Price, timestamp: Seconds })

/** Exchanges by their suffix (ISO 10383). */
const markets: Readonly<Record<string, string>> = {
  AS: 'XAMS',
  AX: 'XASX',
  BR: 'XBRU',
  DE: 'XETR',
  F: 'XFRA',
  HK: 'XHKG',
  L: 'XLON',
  MI: 'XMIL',
  PA: 'XPAR',
  SW: 'XSWX',
  T: 'XJPX',
  TO: 'XTSE',
  V: 'XTSX',
}

/** Twelve Data, with the operator's key (https://twelvedata.com/docs): shares with their currency, and exchange rates. */
export function twelveData({ ask, url: base, key }: KeyedSource): Provider<Pair | Stock> {
  const headers = { authorization: `apikey ${key}` }

  function get<T>(url: string, type: z.ZodType<T>, call: UpstreamCall): Promise<T | null> {
    return askJson(ask, { url, headers, ...call }, (answer) => readKnown(type, answer))
  }

  async function stock(instrument: Stock, call: UpstreamCall): Promise<Quote | null> {
    const market = instrument.exchange === undefined ? undefined : markets[instrument.exchange]
    if (instrument.exchange !== undefined && market === undefined) return null
    const symbol = market === undefined ? instrument.resolved : instrument.ticker
    const url = under(base, '/quote', { symbol, ...(market !== undefined && { mic_code: market }) })
    const found = await get(url, StockQuote, call)
    if (!found) return null
    expectSame(found.symbol, symbol)
    const time = found.last_quote_at ?? found.timestamp
    const market_state = found.is_market_open ? 'REGULAR' : 'CLOSED'
    return { price: found.close, currency: found.currency, time, url, market_state }
  }

  async function rate({ resolved, quote }: Pair, call: UpstreamCall): Promise<Quote | null> {
    const url = under(base, '/exchange_rate', { symbol: resolved })
    const found = await get(url, Rate, call)
    if (!found) return null
    expectSame(found.symbol, resolved)
    return { price: found.rate, currency: quote, time: found.timestamp, url }
  }

  return {
    id: 'twelve_data',
    name: 'Twelve Data',
    quote: (instrument, call) =>
      instrument.asset_class === 'stock' ? stock(instrument, call) : rate(instrument, call),
  }
}

/**
 * Twelve Data reports errors in the body, whatever the status. Their texts are not passed on, since they may contain
 * the key.
 */
function readKnown<T>(type: z.ZodType<T>, answer: JsonAnswer): T | null {
  const trouble = Trouble.safeParse(answer.json)
  if (!trouble.success) return expectAnswer(type, answer)
  const { code, message } = trouble.data
  if (code === '404') return null
  if (code !== '429' || isAboutPlan(message)) {
    throw new Failure('upstream_failed', `error ${code}`, { upstream: { code, status: Number(code) } })
  }
  throw new Failure('rate_limited', 'the limit of the key is reached', {
    upstream: { code },
    retry_after_s: 60,
  })
}

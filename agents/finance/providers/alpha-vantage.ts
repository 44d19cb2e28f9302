import { z } from 'zod'
import { Failure } from '../../../schemas/failure.ts'
import { isAboutPlan } from '../../../src/common/about-plan.ts'
import type { UpstreamCall } from '../../../src/common/upstream.ts'
import type { Pair, Stock } from '../symbol.ts'
import {
  askJson,
  expectAnswer,
  expectSame,
  type KeyedSource,
  Price,
  type Provider,
  type Quote,
  under,
} from './provider.ts'

const Empty = z.strictObject({}).transform(() => null)
const StockQuote = z.object({
  'Global Quote': z.union([
    Empty,
    z.object({ '01. symbol': z.string(), '05. price': Price, '07. latest trading day': z.iso.date() }),
  ]),
})
const Rate = z.object({
  'Realtime Currency Exchange Rate': z.object({
    '1. From_Currency Code': z.string(),
    '3. To_Currency Code': z.string(),
    '5. Exchange Rate': Price,
    '6. Last Refreshed': z.string().regex(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/),
    '7. Time Zone': z.literal('UTC'),
  }),
})
const Refused = z.union([
  z.object({ Note: z.string() }).transform(({ Note }) => Note),
  z.object({ Information: z.string() }).transform(({ Information }) => Information),
])
const Unknown = z.object({ 'Error Message': z.string() })

/** Alpha Vantage's own exchange suffixes. */
const suffixes: Readonly<Record<string, string>> = {
  BO: 'BSE',
  DE: 'DEX',
  L: 'LON',
  SS: 'SHH',
  SZ: 'SHZ',
  TO: 'TRT',
  V: 'TRV',
}

/**
 * Alpha Vantage, with the operator's key (https://www.alphavantage.co/documentation): shares by the day, and exchange
 * rates. It takes the key only in the query, so the URL in answers is built without the key.
 */
export function alphaVantage({ ask, url: base, key }: KeyedSource): Provider<Pair | Stock> {
  async function get<T>(
    query: Readonly<Record<string, string>>,
    type: z.ZodType<T>,
    call: UpstreamCall,
  ): Promise<T | null> {
    const url = under(base, '/query', { ...query, apikey: key })
    return askJson(ask, { url, ...call }, (answer) => {
      const refused = Refused.safeParse(answer.json)
      if (refused.success) throw refusal(refused.data)
      return Unknown.safeParse(answer.json).success ? null : expectAnswer(type, answer)
    })
  }

  async function stock(instrument: Stock, call: UpstreamCall): Promise<Quote | null> {
    const symbol = symbolOf(instrument)
    if (symbol === null) return null
    const query = { function: 'GLOBAL_QUOTE', symbol }
    const found = (await get(query, StockQuote, call))?.['Global Quote']
    if (!found) return null
    expectSame(found['01. symbol'], symbol)
    return {
      price: found['05. price'],
      currency: instrument.currency,
      time: Date.parse(found['07. latest trading day']),
      url: under(base, '/query', query),
      source_warnings: ['Alpha Vantage states the day of the trade, not its time.'],
    }
  }

  async function rate({ base: from, quote: to }: Pair, call: UpstreamCall): Promise<Quote | null> {
    const query = { function: 'CURRENCY_EXCHANGE_RATE', from_currency: from, to_currency: to }
    const found = (await get(query, Rate, call))?.['Realtime Currency Exchange Rate']
    if (!found) return null
    expectSame(found['1. From_Currency Code'] + found['3. To_Currency Code'], from + to)
    const time = Date.parse(`${found['6. Last Refreshed'].replace(' ', 'T')}Z`)
    return { price: found['5. Exchange Rate'], currency: to, time, url: under(base, '/query', query) }
  }

  return {
    id: 'alpha_vantage',
    name: 'Alpha Vantage',
    quote: (instrument, call) =>
      instrument.asset_class === 'stock' ? stock(instrument, call) : rate(instrument, call),
  }
}

/** The text of a refusal quotes the key. */
function refusal(text: string): Failure {
  if (!isAboutPlan(text)) {
    return new Failure('rate_limited', 'the limit of the key is reached', { retry_after_s: 60 })
  }
  return new Failure('upstream_failed', 'the plan of the key does not include this', {
    upstream: { status: 403 },
  })
}

function symbolOf({ resolved, ticker, exchange }: Stock): string | null {
  if (exchange === undefined) return resolved.replace('.', '-')
  const suffix = suffixes[exchange]
  return suffix === undefined ? null : `${ticker}.${suffix}`
}

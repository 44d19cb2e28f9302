import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { failureOf } from '../../test/support/agent.ts'
import {
  here,
  noKeys,
  now,
  openFinance,
  second,
  seconds,
  unknownAtCoinbase,
  unknownAtKraken,
  written,
} from '../../test/support/finance.ts'
import {
  type Answer,
  dripping,
  hang,
  html,
  json,
  reset,
  serverError,
  text,
  tooMany,
  truncated,
} from '../../test/support/replay.ts'
import type { FinanceConfig } from './sources.ts'

/** Every answer is written by hand after the documentation of its source; none is copied. */
const key = 'very-secret-key'

interface Part {
  readonly name: string
  /** The input of the action, and the path of the request to the source. */
  readonly params: object
  readonly route: string
  readonly settings: Partial<FinanceConfig>
  answer(price: string, time_s?: number): Answer
  /** An answer about another instrument. */
  readonly other: Answer
  readonly unknown: Answer
  /** False if the answer has no time, or only a day. */
  readonly has_time: boolean
  readonly gives: object
}

const crypto = {
  'GET /products/BTC-EUR/ticker': unknownAtCoinbase,
  'GET /products/BTC-USD/ticker': unknownAtCoinbase,
  'GET /0/public/Ticker': unknownAtKraken,
}

const quote12 = (symbol: string, price: string, time = seconds(60)) =>
  written(
    `{"symbol":"${symbol}","currency":"GBp","close":"${price}","timestamp":${time - 100},"last_quote_at":${time},"is_market_open":true}`,
  )
const chart = (symbol: string, price: string, time = seconds(60), currency = 'USD') =>
  written(
    `{"chart":{"result":[{"meta":{"symbol":"${symbol}","currency":"${currency}","regularMarketPrice":${price},"regularMarketTime":${time},"currentTradingPeriod":{"pre":{"start":${seconds(9000)},"end":${seconds(3600)}},"regular":{"start":${seconds(3600)},"end":${seconds(-3600)}},"post":{"start":${seconds(-3600)},"end":${seconds(-9000)}}}}}],"error":null}}`,
  )
const noChart = json({ chart: { result: null, error: { code: 'Not Found', description: 'No data' } } }, 404)

const parts: readonly Part[] = [
  {
    name: 'Binance',
    params: { symbol: 'BTC-EUR' },
    route: 'GET /api/v3/ticker/24hr?symbol=BTCEUR',
    settings: {},
    answer: (price, time = seconds(2)) =>
      json({ symbol: 'BTCEUR', lastPrice: price, closeTime: time * second }),
    other: json({ symbol: 'ETHEUR', lastPrice: '1', closeTime: now }),
    unknown: json({ code: -1121, msg: 'Invalid symbol.' }, 400),
    has_time: true,
    gives: { currency: 'EUR', resolved_symbol: 'BTC-EUR', age_s: 2, source: { provider: 'binance' } },
  },
  {
    name: 'CoinGecko',
    params: { symbol: 'BTC' },
    route: 'GET /api/v3/simple/price?ids=bitcoin&vs_currencies=usd',
    settings: { coingecko_key: key },
    answer: (price, time = seconds(60)) => written(`{"bitcoin":{"usd":${price},"last_updated_at":${time}}}`),
    other: written(`{"ethereum":{"usd":1,"last_updated_at":${seconds(60)}}}`),
    unknown: json({}),
    has_time: true,
    gives: { currency: 'USD', age_s: 60, source: { provider: 'coingecko' } },
  },
  {
    name: 'Twelve Data, shares',
    params: { symbol: 'VOD.L' },
    route: 'GET /quote?symbol=VOD&mic_code=XLON',
    settings: { ...noKeys, twelve_data_key: key },
    answer: (price, time) => quote12('VOD', price, time),
    other: quote12('AAPL', '1'),
    unknown: json({ code: 404, message: '**symbol** not found: VOD', status: 'error' }),
    has_time: true,
    gives: { currency: 'GBp', age_s: 60, market_state: 'REGULAR', source: { provider: 'twelve_data' } },
  },
  {
    name: 'Twelve Data, exchange rates',
    params: { symbol: 'EUR/USD' },
    route: 'GET /exchange_rate?symbol=EUR/USD',
    settings: { twelve_data_key: key },
    answer: (price, time = seconds(60)) =>
      written(`{"symbol":"EUR/USD","rate":${price},"timestamp":${time}}`),
    other: written(`{"symbol":"EUR/GBP","rate":1,"timestamp":${seconds(60)}}`),
    unknown: json({ code: 404, message: '**symbol** not found', status: 'error' }, 404),
    has_time: true,
    gives: { currency: 'USD', asset_class: 'fx', resolved_symbol: 'EUR/USD' },
  },
  {
    name: 'Alpha Vantage, shares',
    params: { symbol: 'BRK.B' },
    route: 'GET /query?function=GLOBAL_QUOTE&symbol=BRK-B',
    settings: { ...noKeys, alpha_vantage_key: key },
    answer: (price) =>
      json({
        'Global Quote': { '01. symbol': 'BRK-B', '05. price': price, '07. latest trading day': '2026-03-02' },
      }),
    other: json({
      'Global Quote': { '01. symbol': 'IBM', '05. price': '1', '07. latest trading day': '2026-03-02' },
    }),
    unknown: json({ 'Global Quote': {} }),
    has_time: false,
    gives: { currency: 'USD', resolved_symbol: 'BRK.B', quote_time: '2026-03-02T00:00:00.000Z' },
  },
  {
    name: 'Alpha Vantage, exchange rates',
    params: { symbol: 'EURUSD=X' },
    route: 'GET /query?function=CURRENCY_EXCHANGE_RATE&from_currency=EUR&to_currency=USD',
    settings: { alpha_vantage_key: key },
    answer: (price, time = seconds(60)) =>
      json({
        'Realtime Currency Exchange Rate': {
          '1. From_Currency Code': 'EUR',
          '3. To_Currency Code': 'USD',
          '5. Exchange Rate': price,
          '6. Last Refreshed': new Date(time * second).toISOString().slice(0, 19).replace('T', ' '),
          '7. Time Zone': 'UTC',
        },
      }),
    other: json({ 'Realtime Currency Exchange Rate': { '1. From_Currency Code': 'GBP' } }),
    unknown: json({ 'Error Message': 'Invalid API call.' }),
    has_time: true,
    gives: { currency: 'USD', age_s: 60, source: { provider: 'alpha_vantage' } },
  },
  {
    name: 'Frankfurter',
    params: { symbol: 'EURUSD' },
    route: 'GET /v1/latest?base=EUR&symbols=USD',
    settings: {},
    answer: (price, time = seconds(0)) =>
      written(
        `{"amount":1.0,"base":"EUR","date":"${new Date(time * second).toISOString().slice(0, 10)}","rates":{"USD":${price}}}`,
      ),
    other: written('{"amount":1.0,"base":"EUR","date":"2026-03-02","rates":{"GBP":0.8}}'),
    unknown: json({ message: 'not found' }, 404),
    has_time: false,
    gives: {
      currency: 'USD',
      quote_time: '2026-03-02T12:00:00.000Z',
      delay_min: 1440,
      market_state: 'REFERENCE',
      stale: false,
      warnings: ['A reference rate of the European Central Bank, fixed on 2026-03-02: not a market price.'],
    },
  },
  {
    name: 'Yahoo, indices',
    params: { symbol: '^GSPC' },
    route: 'GET /v8/finance/chart/%5EGSPC',
    settings: { ...noKeys, yahoo_url: here },
    answer: (price, time) => chart('^GSPC', price, time),
    other: chart('^DJI', '1'),
    unknown: noChart,
    has_time: true,
    gives: {
      currency: 'USD',
      asset_class: 'index',
      market_state: 'REGULAR',
      warnings: [expect.stringContaining('unofficial')],
    },
  },
]

describe.each(parts)('$name', (part) => {
  const start = (answer: Answer) => openFinance({ ...crypto, [part.route]: answer }, part.settings)

  test('returns a price with its own digits', async () => {
    await using finance = await start(part.answer('1234.50'))
    const quote = await finance.price(part.params)
    expect(quote).toMatchObject({ price: '1234.50', ...part.gives })
    expect(JSON.stringify(quote)).not.toContain(key)
  })

  const faults: [string, Answer][] = [
    ['hangs', hang],
    ['drips', dripping(part.answer('1'))],
    ['resets the connection', reset],
    ['breaks off', truncated(part.answer('1'))],
    ['answers 500', serverError],
    ['answers 401', json({ error: key }, 401)],
    ['answers 429', tooMany(7)],
    ['answers HTML with 200', html()],
    ['answers “Too Many Requests” with 200', text('Too Many Requests')],
    ['answers half a JSON', text('{"price": "67012.1", "ti')],
    ['answers a crumb instead', json('Edge: Too Many Requests')],
    ['answers null', json(null)],
    ['answers about something else', part.other],
    ['gives a price of zero', part.answer('0.00')],
    ['gives a negative price', part.answer('-1')],
    ['gives NaN', part.answer('NaN')],
    ...(part.has_time
      ? [['gives a time in the future', part.answer('1', seconds(-121))] as [string, Answer]]
      : []),
  ]
  test.concurrent.each(faults)('that %s is a typed failure without the key', async (_, fault) => {
    await using finance = await start(fault)
    const failure = await failureOf(finance.price(part.params))
    expect(failure.code).toMatch(/^upstream_(failed|timeout)$|^rate_limited$/)
    expect(inspect(failure, { depth: 20, showHidden: true })).not.toContain(key)
  })

  test('that does not know the instrument leaves it not_found', async () => {
    await using finance = await start(part.unknown)
    expect((await failureOf(finance.price(part.params))).code).toBe('not_found')
  })
})

describe('keys', () => {
  test.each([
    ['coingecko', 'x-cg-demo-api-key', key],
    ['twelve_data', 'authorization', `apikey ${key}`],
  ])('%s receives its key only in a header', async (id, header, value) => {
    await using finance = await openFinance(crypto, { ...noKeys, [`${id}_key`]: key })
    await finance.price({ symbol: id === 'coingecko' ? 'BTC' : 'AAPL' }).catch(() => {})
    const request = finance.server.requests.at(-1)
    expect(request?.headers[header]).toBe(value)
    expect(request?.query.toString()).not.toContain(key)
  })

  test('Alpha Vantage receives its key in the query; a refusal that quotes it is not passed on', async () => {
    const limit = json({ Information: `We have detected your API key as ${key}: 25 requests per day.` })
    await using finance = await openFinance({ 'GET /query': limit }, { ...noKeys, alpha_vantage_key: key })
    const failure = await failureOf(finance.price({ symbol: 'AAPL' }))
    expect(failure).toMatchObject({
      code: 'rate_limited',
      message: expect.stringContaining('limit of the key'),
      details: { retry_after_s: 60, upstream: { code: 'alpha_vantage: rate_limited' } },
    })
    expect(inspect(failure, { depth: 20, showHidden: true })).not.toContain(key)
    expect(finance.server.requests[0]?.query.get('apikey')).toBe(key)
  })

  test('Twelve Data is asked again a minute after its key has reached its limit', async () => {
    const limit = json({ code: 429, message: `You have run out of API credits, ${key}`, status: 'error' })
    await using finance = await openFinance({ 'GET /quote': limit }, { ...noKeys, twelve_data_key: key })
    const failure = await failureOf(finance.price({ symbol: 'AAPL' }))
    expect(failure.details.retry_after_s).toBe(60)
    expect((await failureOf(finance.price({ symbol: 'AAPL' }))).code).toBe('rate_limited')
    expect(finance.server.requests).toHaveLength(1)
  })

  test('a missing key leaves shares not_configured, with each setting named; indices name theirs', async () => {
    await using finance = await openFinance({}, noKeys)
    expect(await failureOf(finance.price({ symbol: 'AAPL' }))).toMatchObject({
      code: 'not_configured',
      message: expect.stringMatching(/FINNHUB_KEY.*TWELVE_DATA_KEY.*ALPHA_VANTAGE_KEY.*YAHOO_URL/),
    })
    expect(await failureOf(finance.price({ symbol: '^GSPC' }))).toMatchObject({
      code: 'not_configured',
      message: expect.stringContaining('DRAGOMAN_YAHOO_URL'),
    })
    expect(finance.server.requests).toEqual([])
  })
})

describe('a symbol that the plan of the key does not cover', () => {
  const plan = 'This symbol is available starting with the Grow plan. Upgrade at example.test.'
  const refusals: [string, string, Answer, Partial<FinanceConfig>][] = [
    ['Finnhub', 'GET /api/v1/quote', json({ error: "You don't have access to this resource." }, 403), {}],
    ['Finnhub (429)', 'GET /api/v1/quote', json({ error: plan }, 429), {}],
    [
      'Twelve Data',
      'GET /quote',
      json({ code: 403, message: plan, status: 'error' }),
      { ...noKeys, twelve_data_key: key },
    ],
    [
      'Twelve Data (429)',
      'GET /quote',
      json({ code: 429, message: plan, status: 'error' }),
      { ...noKeys, twelve_data_key: key },
    ],
    [
      'Alpha Vantage',
      'GET /query',
      json({ Information: `${key}: This is a premium endpoint. You may subscribe to any of the plans.` }),
      { ...noKeys, alpha_vantage_key: key },
    ],
  ]
  test.each(refusals)('%s: its refusal counts for that symbol alone', async (_, route, refusal, settings) => {
    await using finance = await openFinance({ [route]: refusal }, settings)
    const symbols = ['AAA', 'AAB', 'AAC', 'AAD', 'AAE', 'AAF', 'AAG']
    for (const symbol of symbols) {
      const failure = await failureOf(finance.price({ symbol }))
      expect(failure.code).toBe('upstream_failed')
      expect(inspect(failure, { depth: 20 })).not.toContain(key)
      finance.time.pass(60_000)
    }
    expect(finance.server.requests).toHaveLength(symbols.length)
  })
})

describe('the form of a price', () => {
  test('pence are shown as pence, never as pounds', async () => {
    await using finance = await openFinance(
      { 'GET /quote': quote12('VOD', '72.34') },
      { ...noKeys, twelve_data_key: key },
    )
    expect(await finance.price({ symbol: 'VOD.L', currency: 'GBP' })).toMatchObject({
      price: '72.34',
      currency: 'GBp',
      warnings: ['The price is in hundredths: 100 GBp are 1 GBP.', 'Not converted to GBP.'],
    })
  })

  test('a number with an exponent is written out digit by digit', async () => {
    await using finance = await openFinance({
      'GET /products/SHIB-USD/ticker': unknownAtCoinbase,
      'GET /0/public/Ticker': unknownAtKraken,
      'GET /api/v3/simple/price?ids=shiba-inu': written(
        `{"shiba-inu":{"usd":1.2345678901234567890e-05,"last_updated_at":${seconds(9)}}}`,
      ),
    })
    expect(await finance.price({ symbol: 'SHIB' })).toMatchObject({ price: '0.000012345678901234567890' })
  })

  test('an exchange rate falls back to the reference rate of the day', async () => {
    await using finance = await openFinance(
      { 'GET /exchange_rate': serverError, 'GET /v1/latest': parts[6]?.answer('1.0812') ?? hang },
      { twelve_data_key: key },
    )
    const quote = await finance.price({ symbol: 'EURUSD=X' })
    expect(quote).toMatchObject({ price: '1.0812', source: { provider: 'frankfurter' } })
    expect(quote.warnings[0]).toContain('twelve_data')
  })

  test('a reference rate of a week ago is stale', async () => {
    await using finance = await openFinance({
      'GET /v1/latest': parts[6]?.answer('1.0812', seconds(7 * 86_400)) ?? hang,
    })
    expect(await finance.price({ symbol: 'EURUSD' })).toMatchObject({ stale: true })
  })

  test.each([
    [{ symbol: 'BRK.B' }, 'BRK-B', 'USD'],
    [{ symbol: '7203.T' }, '7203.T', 'JPY'],
    [{ symbol: 'EUR/JPY' }, 'EURJPY=X', 'JPY'],
  ])('%j is %s at Yahoo', async (params, symbol, currency) => {
    await using finance = await openFinance(
      {
        [`GET /v8/finance/chart/${encodeURIComponent(symbol)}`]: chart(symbol, '5.10', undefined, currency),
        'GET /v1/latest': json({ message: 'not found' }, 404),
      },
      { ...noKeys, yahoo_url: here },
    )
    expect(await finance.price(params)).toMatchObject({ price: '5.10', currency })
  })
})

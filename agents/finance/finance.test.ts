import { describe, expect, test } from 'vitest'
import { Failure } from '../../schemas/failure.ts'
import { failureOf } from '../../test/support/agent.ts'
import {
  krakenTrade,
  noKeys,
  openFinance as open,
  second,
  share,
  trade,
  unknownAtCoinbase,
  unknownAtKraken,
} from '../../test/support/finance.ts'
import {
  type Answer,
  dripping,
  garbage,
  gzipBomb,
  hang,
  html,
  json,
  reset,
  serverError,
  text,
  tooMany,
  truncated,
} from '../../test/support/replay.ts'

const bitcoin = 'GET /products/BTC-USD/ticker'
const krakenBitcoin = 'GET /0/public/Ticker?pair=XBTUSD'
const noSuchShare = json({ c: 0, d: null, dp: null, h: 0, l: 0, o: 0, pc: 0, t: 0 })

describe('a crypto price', () => {
  test('comes from Coinbase with its digits, its time and its source', async () => {
    await using finance = await open({ [bitcoin]: trade('67012.10000000') })
    expect(await finance.price({ symbol: 'btc' })).toEqual({
      symbol: 'BTC',
      resolved_symbol: 'BTC-USD',
      asset_class: 'crypto',
      price: '67012.10000000',
      currency: 'USD',
      quote_time: '2026-03-02T14:59:57.000Z',
      age_s: 3,
      delay_min: 0,
      alternatives: [{ symbol: 'BTC', asset_class: 'stock' }],
      stale: false,
      source: {
        name: 'Coinbase Exchange',
        url: `${finance.server.url}/products/BTC-USD/ticker`,
        provider: 'coinbase',
      },
      fetched_at: '2026-03-02T15:00:00.000Z',
      cache: { hit: false, age_s: 0, stale: false },
      attribution: 'Price from Coinbase Exchange',
      warnings: [],
      disclaimer: expect.stringContaining('Not investment advice'),
    })
    expect(finance.requests.map(({ timeout_ms }) => timeout_ms)).toEqual([2_500])
  })

  test('comes from Kraken, without a time, when Coinbase lacks the pair', async () => {
    await using finance = await open({
      [bitcoin]: unknownAtCoinbase,
      [krakenBitcoin]: krakenTrade('67000.50000'),
    })
    const quote = await finance.price({ symbol: 'BTC/USD' })
    expect(quote).toMatchObject({ price: '67000.50000', currency: 'USD', quote_time: null, age_s: null })
    expect(quote.source).toMatchObject({ provider: 'kraken' })
    expect(quote.warnings).toEqual(['Kraken does not state the time of the last trade.'])
  })

  const faults: [string, Answer, string][] = [
    ['hangs', hang, 'upstream_timeout'],
    ['drips', dripping(trade('1')), 'upstream_timeout'],
    ['resets the connection', reset, 'upstream_failed'],
    ['breaks off', truncated(trade('1')), 'upstream_'],
    ['answers 500', serverError, 'HTTP 500'],
    ['answers 429', tooMany(30), 'HTTP 429'],
    ['answers HTML with 200', html(), 'upstream_invalid'],
    ['answers HTML with 404', html('<p>Not found', 404), 'HTTP 404'],
    ['answers “Too Many Requests” with 200', text('Too Many Requests'), 'upstream_invalid'],
    ['answers half a JSON', text('{"price": "67012.1", "ti'), 'upstream_invalid'],
    ['answers bytes that are no text', garbage, 'upstream_invalid'],
    ['answers a gzip bomb', gzipBomb(), 'too_large'],
    ['gives a price of zero', trade('0.00'), 'upstream_invalid'],
    ['gives a negative price', trade('-1'), 'upstream_invalid'],
    ['gives NaN', trade('NaN'), 'upstream_invalid'],
    ['gives no time', json({ price: '1' }), 'upstream_invalid'],
    ['gives a time in the future', trade('1', -121), 'upstream_invalid'],
  ]
  test.each(faults)('comes from Kraken when Coinbase %s', async (_, fault, detail) => {
    await using finance = await open({ [bitcoin]: fault, [krakenBitcoin]: krakenTrade('67000.5') })
    const quote = await finance.price({ symbol: 'BTC' })
    expect(quote).toMatchObject({ price: '67000.5', source: { provider: 'kraken' } })
    expect(quote.warnings[0]).toContain('coinbase')
    expect(quote.warnings[0]).toContain(detail)
  })

  test('is requested under the names that Kraken uses, and refused under another', async () => {
    await using finance = await open({
      'GET /0/public/Ticker?pair=XDGEUR': krakenTrade('0.1', 'XDGEUR'),
      'GET /0/public/Ticker?pair=ETHXBT': krakenTrade('0.05', 'XETHXXBT'),
      'GET /0/public/Ticker?pair=SOLUSD': krakenTrade('5', 'SOLEUR'),
      'GET /products/DOGE-EUR/ticker': unknownAtCoinbase,
      'GET /products/ETH-BTC/ticker': unknownAtCoinbase,
      'GET /products/SOL-USD/ticker': unknownAtCoinbase,
    })
    expect(await finance.price({ symbol: 'DOGE', currency: 'eur' })).toMatchObject({ price: '0.1' })
    expect(await finance.price({ symbol: 'ethbtc' })).toMatchObject({ price: '0.05', currency: 'BTC' })
    const failure = await failureOf(finance.price({ symbol: 'SOL' }))
    expect(failure).toMatchObject({
      code: 'upstream_failed',
      message: expect.stringContaining('another pair'),
    })
  })

  test('is stale, and says so, when the last trade is long ago', async () => {
    await using finance = await open({ [bitcoin]: trade('1', 16 * 60) })
    const quote = await finance.price({ symbol: 'BTC' })
    expect(quote).toMatchObject({ stale: true, age_s: 960, cache: { stale: false } })
    expect(quote.warnings).toEqual([expect.stringContaining('long ago')])
  })

  test('does not depend on a clock that runs a minute behind', async () => {
    await using finance = await open({ [bitcoin]: trade('1', -60) })
    expect(await finance.price({ symbol: 'BTC' })).toMatchObject({ age_s: 0, stale: false })
  })

  test('that no source has is upstream_failed with the error of each and the time to retry', async () => {
    await using finance = await open({ [bitcoin]: tooMany(30), [krakenBitcoin]: html() })
    const failure = await failureOf(finance.price({ symbol: 'BTC' }))
    expect(failure.code).toBe('upstream_failed')
    expect(failure.details.retry_after_s).toBe(30)
    expect(failure.details.upstream?.code).toBe('coinbase: rate_limited, kraken: upstream_invalid')
    expect(failure.message).toMatch(/coinbase \(.*HTTP 429\), kraken \(upstream_invalid/)
  })

  test('that no source has may be requested again as soon as the first of them allows it', async () => {
    await using finance = await open({ [bitcoin]: tooMany(30), [krakenBitcoin]: tooMany(10) })
    expect((await failureOf(finance.price({ symbol: 'BTC' }))).details.retry_after_s).toBe(10)
  })

  test('that Kraken refuses is upstream_failed with its error text', async () => {
    const busy = json({ error: ['EGeneral:Too many requests'] })
    await using finance = await open({ [bitcoin]: serverError, [krakenBitcoin]: busy })
    const failure = await failureOf(finance.price({ symbol: 'BTC' }))
    expect(failure.message).toContain('EGeneral:Too many requests')
  })

  test('that no source returns in time is upstream_timeout', async () => {
    await using finance = await open({ [bitcoin]: hang, [krakenBitcoin]: hang })
    expect((await failureOf(finance.price({ symbol: 'BTC' }))).code).toBe('upstream_timeout')

    await using mixed = await open({ [bitcoin]: hang, [krakenBitcoin]: serverError })
    expect((await failureOf(mixed.price({ symbol: 'BTC' }))).code).toBe('upstream_failed')
  })

  test('is not_found only when every source says so', async () => {
    const routes = { 'GET /products/ABC-USD/ticker': unknownAtCoinbase }
    await using finance = await open({ ...routes, 'GET /0/public/Ticker?pair=ABCUSD': unknownAtKraken })
    const failure = await failureOf(finance.price({ symbol: 'ABC-USD' }))
    expect(failure.code).toBe('not_found')
    expect(failure.details.hint).toContain('asset_class')

    await using shaky = await open({ ...routes, 'GET /0/public/Ticker?pair=ABCUSD': serverError })
    expect((await failureOf(shaky.price({ symbol: 'ABC-USD' }))).code).toBe('upstream_failed')
  })
})

describe('the price of a share', () => {
  test('keeps the digits of the JSON and sends the key only in a header', async () => {
    await using finance = await open({ 'GET /api/v1/quote?symbol=AAPL': share('212.10') })
    const quote = await finance.price({ symbol: 'aapl' })
    expect(quote).toMatchObject({ price: '212.10', currency: 'USD', asset_class: 'stock', age_s: 60 })
    const [request] = finance.server.requests
    expect(request?.headers['x-finnhub-token']).toBe('secret-key')
    expect(request?.query.toString()).toBe('symbol=AAPL')
    expect(JSON.stringify(quote)).not.toContain('secret-key')
  })

  test('without a key is not_configured and names the setting', async () => {
    await using finance = await open({}, noKeys)
    const failure = await failureOf(finance.price({ symbol: 'AAPL' }))
    expect(failure).toMatchObject({
      code: 'not_configured',
      message: expect.stringContaining('DRAGOMAN_FINNHUB_KEY'),
    })
    expect(finance.server.requests).toEqual([])
  })

  test('never guesses the currency of a listing abroad', async () => {
    await using finance = await open({ 'GET /api/v1/quote?symbol=7203.T': share('2801.5') })
    const quote = await finance.price({ symbol: '7203.T' })
    expect(quote).toMatchObject({ resolved_symbol: '7203.T', currency: null })
    expect(quote.warnings).toEqual([expect.stringContaining('the currency of the price')])
  })

  test('is not converted, and says so', async () => {
    await using finance = await open({ 'GET /api/v1/quote': share('5') })
    const quote = await finance.price({ symbol: 'AAPL', currency: 'EUR' })
    expect(quote).toMatchObject({ currency: 'USD', warnings: ['Not converted to EUR.'] })
  })

  test('is not stale over a long weekend', async () => {
    const day = 24 * 3600
    await using finance = await open({ 'GET /api/v1/quote': [share('5', 3.9 * day), share('5', 4.1 * day)] })
    expect(await finance.price({ symbol: 'AAPL' })).toMatchObject({ stale: false })
    expect(await finance.price({ symbol: 'MSFT' })).toMatchObject({ stale: true })
  })

  test('of an unknown symbol is not_found', async () => {
    await using finance = await open({ 'GET /api/v1/quote': noSuchShare })
    expect((await failureOf(finance.price({ symbol: 'QQQQQ' }))).code).toBe('not_found')
  })

  test.each([
    ['401', json({ error: 'Invalid API key' }, 401)],
    ['a price of zero with a time', share('0')],
    ['HTML', html()],
  ])('answered with %s is upstream_failed and does not show the key', async (_, answer) => {
    await using finance = await open({ 'GET /api/v1/quote': answer })
    const failure = await failureOf(finance.price({ symbol: 'AAPL' }))
    expect(failure.code).toBe('upstream_failed')
    expect(JSON.stringify([failure.message, failure.details])).not.toContain('secret-key')
  })
})

describe('the cache', () => {
  test('serves a crypto price for ten seconds, at once as stale up to a minute, and then fetches again', async () => {
    await using finance = await open({ [bitcoin]: [trade('1'), trade('2')] })
    await finance.price({ symbol: 'BTC' })
    finance.time.pass(9 * second)
    expect(await finance.price({ symbol: 'btc-usd' })).toMatchObject({
      price: '1',
      age_s: 12,
      fetched_at: '2026-03-02T15:00:00.000Z',
      cache: { hit: true, age_s: 9, stale: false },
    })
    finance.time.pass(second)
    const stale = { price: '1', stale: true, cache: { hit: true, age_s: 10, stale: true } }
    expect(await finance.price({ symbol: 'BTC' })).toMatchObject(stale)
    await expect
      .poll(() => finance.price({ symbol: 'BTC' }), { interval: 1 })
      .toMatchObject({ price: '2', stale: false, cache: { age_s: 0, stale: false } })
    finance.time.pass(60 * second)
    expect(await finance.price({ symbol: 'BTC' })).toMatchObject({ price: '2', cache: { hit: false } })
  })

  test('serves the price of a share for a minute', async () => {
    await using finance = await open({ 'GET /api/v1/quote': [share('1'), share('2')] })
    await finance.price({ symbol: 'AAPL' })
    finance.time.pass(59 * second)
    expect(await finance.price({ symbol: 'AAPL' })).toMatchObject({ price: '1', cache: { hit: true } })
    finance.time.pass(240 * second)
    expect(await finance.price({ symbol: 'AAPL' })).toMatchObject({ price: '1', stale: true })
    await expect
      .poll(() => finance.price({ symbol: 'AAPL' }), { interval: 1 })
      .toMatchObject({ price: '2', stale: false })
  })

  test('remembers for a minute that no source knows a symbol', async () => {
    await using finance = await open({ 'GET /api/v1/quote': [noSuchShare, share('1')] })
    await failureOf(finance.price({ symbol: 'NEW' }))
    finance.time.pass(59 * second)
    expect((await failureOf(finance.price({ symbol: 'NEW' }))).code).toBe('not_found')
    finance.time.pass(second)
    expect(await finance.price({ symbol: 'NEW' })).toMatchObject({ price: '1' })
  })

  test('keeps a share apart from a pair of the same name', async () => {
    await using finance = await open({
      [bitcoin]: trade('1'),
      'GET /api/v1/quote?symbol=BTC-USD': share('2'),
    })
    expect(await finance.price({ symbol: 'BTC-USD' })).toMatchObject({ price: '1' })
    expect(await finance.price({ symbol: 'BTC-USD', asset_class: 'stock' })).toMatchObject({ price: '2' })
  })

  test('holds more than one price', async () => {
    await using finance = await open({ [bitcoin]: trade('1'), 'GET /products/ETH-USD/ticker': trade('2') })
    for (const symbol of ['BTC', 'ETH', 'BTC', 'ETH']) await finance.price({ symbol })
    expect(finance.paths()).toHaveLength(2)
  })

  test('serves no price from the future when the clock is set back', async () => {
    await using finance = await open({ [bitcoin]: [trade('1', 600), trade('2', 600)] })
    await finance.price({ symbol: 'BTC' })
    finance.time.pass(-300 * second)
    expect(await finance.price({ symbol: 'BTC' })).toMatchObject({ price: '2', cache: { hit: false } })
  })

  test('does not call a symbol unknown for longer than a minute while the source fails', async () => {
    await using finance = await open({ 'GET /api/v1/quote': [noSuchShare, serverError] })
    await failureOf(finance.price({ symbol: 'NEW' }))
    finance.time.pass(61 * second)
    expect((await failureOf(finance.price({ symbol: 'NEW' }))).code).toBe('upstream_failed')
  })

  test('does not remember a failure', async () => {
    await using finance = await open({
      [bitcoin]: [serverError, trade('1')],
      [krakenBitcoin]: serverError,
    })
    await failureOf(finance.price({ symbol: 'BTC' }))
    expect(await finance.price({ symbol: 'BTC' })).toMatchObject({ price: '1' })
  })

  test('serves a stale price for an hour while every source fails', async () => {
    await using finance = await open({ [bitcoin]: [trade('1'), serverError], [krakenBitcoin]: reset })
    await finance.price({ symbol: 'BTC' })
    finance.time.pass(3599 * second)
    const quote = await finance.price({ symbol: 'BTC' })
    expect(quote).toMatchObject({ price: '1', stale: true, cache: { hit: true, age_s: 3599, stale: true } })
    expect(quote.warnings).toContain('No source answers now; this price is 3599 seconds old.')
    finance.time.pass(second)
    expect((await failureOf(finance.price({ symbol: 'BTC' }))).code).toBe('upstream_failed')
  })

  test('lets a thousand callers of one symbol share one request', async () => {
    const answer = Promise.withResolvers<Answer>()
    await using finance = await open({ [bitcoin]: () => answer.promise })
    const spellings = ['BTC', 'btc-usd', 'BTCUSD', 'XBT']
    const calls = Array.from({ length: 1_000 }, (_, index) => finance.price({ symbol: spellings[index % 4] }))
    await finance.server.arrived(1)
    answer.resolve(trade('1'))
    const prices = (await Promise.all(calls)).map(({ price }) => price)
    expect(prices).toEqual(Array(1_000).fill('1'))
    expect(finance.paths()).toHaveLength(1)
  })

  test('lets one caller leave without a loss for the other', async () => {
    const answer = Promise.withResolvers<Answer>()
    await using finance = await open({ [bitcoin]: () => answer.promise })
    const leaving = new AbortController()
    const left = failureOf(finance.price({ symbol: 'BTC' }, leaving.signal))
    const stays = finance.price({ symbol: 'BTC' })
    await finance.server.arrived(1)
    leaving.abort()
    expect((await left).code).toBe('cancelled')
    answer.resolve(trade('1'))
    expect(await stays).toMatchObject({ price: '1' })
    expect(finance.paths()).toHaveLength(1)
  })

  test('drops the request when its last caller has left, and sends a new one for the next', async () => {
    await using finance = await open({ [bitcoin]: [hang, trade('2')] })
    const leaving = new AbortController()
    const left = failureOf(finance.price({ symbol: 'BTC' }, leaving.signal))
    await finance.server.arrived(1)
    leaving.abort(new Failure('deadline_exceeded', 'Too late.'))
    expect((await left).code).toBe('deadline_exceeded')
    await finance.server.requests[0]?.dropped
    expect(await finance.price({ symbol: 'BTC' })).toMatchObject({ price: '2' })
    expect(finance.paths()).toEqual(['/products/BTC-USD/ticker', '/products/BTC-USD/ticker'])
  })

  test('sends no request for a caller who has already left', async () => {
    await using finance = await open({})
    expect((await failureOf(finance.price({ symbol: 'BTC' }, AbortSignal.abort()))).code).toBe('cancelled')
    expect(finance.paths()).toEqual([])
  })
})

describe('the input', () => {
  test.each([
    ['', 'empty'],
    ['BTC/../../admin', 'dots'],
    ['BTC?x=1', 'a question mark'],
    ['AA PL', 'a space'],
    ['%2e%2e', 'percent signs'],
    ['A'.repeat(25), '25 letters'],
    ['B\u0000C', 'a control character'],
    ['straße', 'another alphabet'],
  ])('refuses %j (%s) before any request', async (symbol) => {
    await using finance = await open({})
    expect((await failureOf(finance.price({ symbol }))).code).toBe('invalid_request')
    expect(finance.paths()).toEqual([])
  })

  test('reads full-width letters as plain ones', async () => {
    await using finance = await open({ [bitcoin]: trade('1') })
    expect(await finance.price({ symbol: ' ＢＴＣ ' })).toMatchObject({ symbol: 'BTC', price: '1' })
  })

  test('refuses unknown fields with the nearest one', async () => {
    await using finance = await open({})
    const failure = await failureOf(finance.price({ symbol: 'BTC', curency: 'EUR' }))
    expect(failure).toMatchObject({ code: 'invalid_request', details: { nearest: ['currency'] } })
  })
})

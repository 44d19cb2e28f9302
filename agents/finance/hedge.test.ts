import { describe, expect, test } from 'vitest'
import { failureOf } from '../../test/support/agent.ts'
import {
  krakenTrade,
  openFinance,
  second,
  trade,
  unknownAtCoinbase,
  unknownAtKraken,
} from '../../test/support/finance.ts'
import { type Answer, hang, json, reset, serverError, tooMany } from '../../test/support/replay.ts'

const bitcoin = 'GET /products/BTC-USD/ticker'
const krakenBitcoin = 'GET /0/public/Ticker?pair=XBTUSD'
const headStart = 800

describe('a slow source', () => {
  test('has a head start of 800 ms; then the next source is asked too, and the slower one is cancelled', async () => {
    await using finance = await openFinance({ [bitcoin]: hang, [krakenBitcoin]: krakenTrade('2') })
    const priced = finance.price({ symbol: 'BTC' })
    await finance.server.arrived(1)
    finance.time.pass(headStart - 1)
    expect(finance.server.requests).toHaveLength(1)
    finance.time.pass(1)
    const quote = await priced
    expect(quote).toMatchObject({ price: '2', source: { provider: 'kraken' } })
    expect(quote.warnings[0]).toBe('No price from coinbase (upstream_timeout: slower than Kraken).')
    expect(finance.requests[0]?.signal.reason).toMatchObject({ code: 'upstream_timeout' })
    await finance.server.requests[0]?.dropped
    expect(finance.server.requests).toHaveLength(2)
  })

  test('may still win; then the second source is cancelled, which does not count against it', async () => {
    const answer = Promise.withResolvers<Answer>()
    await using finance = await openFinance({ [bitcoin]: () => answer.promise, [krakenBitcoin]: hang })
    const priced = finance.price({ symbol: 'BTC' })
    await finance.server.arrived(1)
    finance.time.pass(headStart)
    await finance.server.arrived(2)
    answer.resolve(trade('1'))
    expect(await priced).toMatchObject({ price: '1', source: { provider: 'coinbase' }, warnings: [] })
    expect(finance.requests[1]?.signal.reason).toMatchObject({ code: 'cancelled' })
    await finance.server.requests[1]?.dropped
  })

  test('that loses five times in a row has its circuit opened', async () => {
    const symbols = ['BTC', 'ETH', 'SOL', 'XRP', 'ADA']
    const pairs = symbols.map((symbol) => [`GET /products/${symbol}-USD/ticker`, hang] as const)
    await using finance = await openFinance({
      ...Object.fromEntries(pairs),
      'GET /products/LTC-USD/ticker': trade('1'),
      'GET /0/public/Ticker': ({ query }) => krakenTrade('2', query.get('pair') ?? ''),
    })
    for (const symbol of symbols) {
      const priced = finance.price({ symbol })
      await finance.server.arrived(finance.server.requests.length + 1)
      finance.time.pass(headStart)
      await priced
    }
    const quote = await finance.price({ symbol: 'LTC' })
    expect(quote).toMatchObject({ price: '2', source: { provider: 'kraken' } })
    expect(quote.warnings[0]).toContain('circuit_open')
    finance.time.pass(30 * second)
    expect(await finance.price({ symbol: 'LTC', currency: 'USD', cross_check: true })).toMatchObject({
      price: '1',
    })
  })

  test('is cancelled when its last caller leaves, and so is the second', async () => {
    await using finance = await openFinance({ [bitcoin]: hang, [krakenBitcoin]: hang })
    const leaving = new AbortController()
    const left = failureOf(finance.price({ symbol: 'BTC' }, leaving.signal))
    await finance.server.arrived(1)
    finance.time.pass(headStart)
    await finance.server.arrived(2)
    leaving.abort()
    expect((await left).code).toBe('cancelled')
    await Promise.all(finance.server.requests.map(({ dropped }) => dropped))
  })
})

describe('sources that are down', () => {
  test('two of three leave the third, which answers, with a warning', async () => {
    await using finance = await openFinance({
      [bitcoin]: serverError,
      [krakenBitcoin]: reset,
      'GET /api/v3/ticker/24hr?symbol=BTCUSDT': json({
        symbol: 'BTCUSDT',
        lastPrice: '66990.01000000',
        closeTime: Date.parse('2026-03-02T14:59:59Z'),
      }),
    })
    const quote = await finance.price({ symbol: 'BTC' })
    expect(quote).toMatchObject({
      price: '66990.01000000',
      currency: 'USDT',
      resolved_symbol: 'BTC-USDT',
      source: { provider: 'binance' },
    })
    expect(quote.warnings).toEqual([
      'No price from coinbase (upstream_failed: HTTP 500).',
      expect.stringMatching(/^No price from kraken \(upstream_failed: /),
      'The price is in USDT, which is not USD.',
    ])
  })

  test('with a Retry-After are not asked again before that time', async () => {
    await using finance = await openFinance({
      [bitcoin]: [tooMany(60), trade('1')],
      [krakenBitcoin]: tooMany(90),
    })
    await failureOf(finance.price({ symbol: 'BTC' }))
    finance.time.pass(59 * second)
    const failure = await failureOf(finance.price({ symbol: 'BTC' }))
    expect(failure.message).toContain('coinbase (rate_limited')
    expect(failure.details.retry_after_s).toBe(1)
    const priced = () => finance.paths().filter((path) => path.startsWith('/products')).length
    expect(priced()).toBe(1)
    finance.time.pass(second)
    expect(await finance.price({ symbol: 'BTC' })).toMatchObject({ price: '1' })
    expect(priced()).toBe(2)
  })

  test('all of them are rate_limited, with the earliest time to retry', async () => {
    const noCoin = json({}, 429, { 'retry-after': '40' })
    await using finance = await openFinance({
      [bitcoin]: tooMany(60),
      [krakenBitcoin]: tooMany(50),
      'GET /api/v3/ticker/24hr': tooMany(30),
      'GET /api/v3/simple/price': noCoin,
    })
    await failureOf(finance.price({ symbol: 'BTC' }))
    finance.time.pass(second)
    expect(await failureOf(finance.price({ symbol: 'BTC' }))).toMatchObject({
      code: 'rate_limited',
      details: { retry_after_s: 29 },
    })
    expect(finance.server.requests).toHaveLength(4)
  })
})

describe('a cross-check', () => {
  const cross_check = true

  test('asks two sources at once and shows the price of the second', async () => {
    await using finance = await openFinance({
      [bitcoin]: trade('100'),
      [krakenBitcoin]: krakenTrade('101.9'),
    })
    expect(await finance.price({ symbol: 'BTC', cross_check })).toMatchObject({
      price: '100',
      compared_with: { provider: 'kraken', price: '101.9', currency: 'USD' },
      warnings: [],
    })
  })

  test.each(['102.1', '97.9'])('warns when the second says %s for 100', async (price) => {
    await using finance = await openFinance({ [bitcoin]: trade('100'), [krakenBitcoin]: krakenTrade(price) })
    const { warnings } = await finance.price({ symbol: 'BTC', cross_check })
    expect(warnings).toEqual([`Kraken says ${price}: 2.1 % apart.`])
  })

  test('does not compare dollars with a token', async () => {
    const time = Date.parse('2026-03-02T14:59:59Z')
    await using finance = await openFinance({
      [bitcoin]: trade('100'),
      [krakenBitcoin]: unknownAtKraken,
      'GET /api/v3/ticker/24hr': json({ symbol: 'BTCUSDT', lastPrice: '120', closeTime: time }),
    })
    const quote = await finance.price({ symbol: 'BTC', cross_check })
    expect(quote).toMatchObject({ price: '100', compared_with: { provider: 'binance', currency: 'USDT' } })
    expect(quote.warnings).toEqual(['Binance market data gives the price in USDT: not compared.'])
  })

  test('warns when no second source can be compared', async () => {
    await using finance = await openFinance({ [bitcoin]: trade('100'), [krakenBitcoin]: unknownAtKraken })
    expect((await finance.price({ symbol: 'BTC', cross_check })).warnings).toEqual([
      'No second source had a price to compare with.',
    ])
  })

  test('is not served from a cached price that was not compared', async () => {
    await using finance = await openFinance({
      [bitcoin]: trade('100'),
      [krakenBitcoin]: krakenTrade('100'),
      'GET /products/ABC-USD/ticker': unknownAtCoinbase,
    })
    await finance.price({ symbol: 'BTC' })
    expect(await finance.price({ symbol: 'BTC', cross_check })).toHaveProperty('compared_with')
  })
})

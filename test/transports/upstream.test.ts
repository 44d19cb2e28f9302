import { afterAll, describe, expect, test } from 'vitest'
import type { Json } from '../../schemas/json.ts'
import { askEverywhere, expectAlike } from '../support/everywhere.ts'
import { pricesFrom, startGateway } from '../support/gateway.ts'
import {
  garbage,
  gzipBomb,
  hang,
  html,
  json,
  replay,
  reset,
  serverError,
  tooMany,
  truncated,
} from '../support/replay.ts'
import { openTransports } from '../support/transports.ts'

const quote = json({
  price: '64000.10',
  time: new Date().toISOString(),
  bid: '64000.00',
  ask: '64000.20',
  volume: '1',
  size: '1',
  trade_id: 1,
})

const outside = await replay({
  'GET /products/BTC-USD/ticker': quote,
  'GET /products/ETH-USD/ticker': hang,
  'GET /products/SOL-USD/ticker': html(),
  'GET /products/ADA-USD/ticker': truncated(quote),
  // The others know bitcoin alone, so that no circuit opens between one transport and the next.
  'GET /0/public/Ticker': json({ error: ['EQuery:Unknown asset pair'] }),
  'GET /0/public/Ticker?pair=XBTUSD': json({ error: [], result: { XXBTZUSD: { c: ['64000.10', '1'] } } }),
  'GET /api/v3/ticker/24hr': json({ code: -1121 }, 400),
  'GET /api/v3/simple/price': json({}),
  'GET /0/public/Ticker?pair=ETHUSD': hang,
  'GET /api/v3/ticker/24hr?symbol=ETHUSDT': hang,
  'GET /api/v3/simple/price?ids=ethereum': hang,
  'GET /page': html('<html><body><h1>Title</h1><p>Some words of a page.</p></body></html>'),
  'GET /500': serverError,
  // Without time to rest, which the reader would give the whole host.
  'GET /429': tooMany(0),
  'GET /reset': reset,
  'GET /bomb': { ...gzipBomb(64), headers: { 'content-type': 'text/html', 'content-encoding': 'gzip' } },
  'GET /picture': {
    headers: { 'content-type': 'image/png' },
    body: new Uint8Array([0x89, 0x50, 0x4e, 0x47]),
  },
  'GET /w/api.php': garbage,
})
const home = await startGateway({
  ...pricesFrom(outside.url),
  DRAGOMAN_WIKI_URL: `${outside.url}/w/api.php`,
  DRAGOMAN_CONTACT: 'tests@example.org',
  DRAGOMAN_ALLOW_ORIGINS: outside.url,
})
const transports = openTransports(home)
const token = await home.token('caller')

afterAll(async () => {
  for (const transport of transports) await transport[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
  await outside[Symbol.asyncDispose]()
})

const price = (symbol: string) => ({
  envelope: { to: 'custom.svc.utility.finance', action: 'get_current_price', params: { symbol } },
  rest: { method: 'POST', path: '/a2a/utility/finance', body: { input: { symbol } } },
})
const page = (path: string) => {
  const input = { url: `${outside.url}${path}` }
  return {
    envelope: { to: 'custom.svc.utility.reader', action: 'extract_content', params: input },
    rest: { method: 'POST', path: '/a2a/utility/reader', body: { input } },
  }
}
const lookup = (query: string) => ({
  envelope: { to: 'custom.svc.utility.wiki', action: 'lookup', params: { query } },
  rest: { method: 'POST', path: '/a2a/utility/wiki', body: { input: { query } } },
})

describe('a failure of an upstream has the same code at every transport', () => {
  test.each([
    ['an upstream that hangs', () => price('ETH'), 'upstream_timeout'],
    ['an upstream that answers HTML', () => price('SOL'), 'upstream_failed'],
    ['an upstream that stops half-way', () => price('ADA'), 'upstream_failed'],
    ['an upstream that answers 500', () => page('/500'), 'upstream_failed'],
    ['an upstream that answers 429', () => page('/429'), 'upstream_failed'],
    ['an upstream that resets', () => page('/reset'), 'upstream_failed'],
    ['a bomb', () => page('/bomb'), 'too_large'],
    ['a picture where a page should be', () => page('/picture'), 'upstream_invalid'],
    ['a page that is not there', () => page('/nowhere'), 'not_found'],
    ['garbage', () => lookup('anything'), 'upstream_invalid'],
  ])('%s', async (_, ask, code) => {
    expect(expectAlike(await askEverywhere(home, transports, ask(), token))).toEqual({ code })
  })

  test('and the gateway still works: a price and a page arrive at every transport', async () => {
    const prices = await askEverywhere(home, transports, price('BTC'), token)
    const pages = await askEverywhere(home, transports, page('/page'), token)
    const field = (outcome: object, name: string) => {
      const { output } = outcome as { output: Json }
      const inner = (output as { output?: Json }).output ?? output
      return (inner as Record<string, Json>)[name]
    }
    // Every transport, and REST.
    const each = transports.length + 1
    expect(Object.values(prices).map((outcome) => field(outcome, 'price'))).toEqual(
      Array(each).fill('64000.10'),
    )
    const texts = Object.values(pages).map((outcome) => String(field(outcome, 'markdown')))
    expect(texts.map((text) => text.includes('Some words of a page.'))).toEqual(Array(each).fill(true))
  })
})

import { createFinance } from '../../agents/finance/index.ts'
import type { FinanceConfig } from '../../agents/finance/sources.ts'
import type { Fetch } from '../../src/net/fetch/fetch.ts'
import { createSafeFetch } from '../../src/net/fetch/safe-fetch.ts'
import { createUpstreams } from '../../src/net/upstream/upstreams.ts'
import { runAction } from './agent.ts'
import { type Answer, fetchTimeout, json, type Routes, replay } from './replay.ts'
import { createTime } from './time.ts'

export const now = Date.parse('2026-03-02T15:00:00Z')
export const second = 1_000
export const seconds = (age_s: number) => now / second - age_s

export const unknownAtCoinbase = json({ message: 'NotFound' }, 404)
export const unknownAtKraken = json({ error: ['EQuery:Unknown asset pair'] })

/** Coinbase's ticker: the last trade. */
export function trade(price: string, age_s = 3): Answer {
  return json({ trade_id: 7, price, size: '0.01', time: new Date(now - age_s * second).toISOString() })
}

export function krakenTrade(price: string, name = 'XXBTZUSD'): Answer {
  return json({ error: [], result: { [name]: { a: ['1', '1', '1'], c: [price, '0.002'], o: '1' } } })
}

/** JSON as written, since JSON.stringify would drop the zeros at the end of a number. */
export function written(body: string, status = 200): Answer {
  return { status, headers: { 'content-type': 'application/json' }, body }
}

/** Finnhub's quote. */
export function share(price: string, age_s = 60): Answer {
  return written(`{"c":${price},"d":1.5,"dp":0.5,"h":2,"l":1,"o":1,"pc":1,"t":${seconds(age_s)}}`)
}

const nothing: Routes = {
  'GET /api/v3/ticker/24hr': json({ code: -1121, msg: 'Invalid symbol.' }, 400),
  'GET /api/v3/simple/price': json({}),
  'GET /v1/latest': json({ message: 'not found' }, 404),
}

/** A placeholder for the address of the replay server. */
export const here = 'here'

export const noKeys = { finnhub_key: undefined, twelve_data_key: undefined, alpha_vantage_key: undefined }

/**
 * The finance agent against a replay server that plays every source, with a stopped clock. By default only Finnhub's
 * key is set, Binance, CoinGecko and Frankfurter know no symbol, and Yahoo is off.
 */
export async function openFinance(routes: Routes, settings: Partial<FinanceConfig> = {}) {
  const server = await replay({ ...nothing, ...routes })
  const safe = createSafeFetch({ user_agent: 'test', allow_origins: [server.url] })
  const time = createTime(now)
  const requests: Parameters<Fetch>[0][] = []
  const fetch: Fetch = (request) => {
    requests.push(request)
    return safe.fetch({ ...request, timeout_ms: fetchTimeout(routes) })
  }
  const upstreams = createUpstreams({ fetch, ...time })
  const { url } = server
  const agent = createFinance({
    ...upstreams,
    coinbase_url: url,
    kraken_url: url,
    binance_url: url,
    coingecko_url: url,
    coingecko_key: undefined,
    finnhub_url: `${url}/`,
    finnhub_key: 'secret-key',
    twelve_data_url: url,
    twelve_data_key: undefined,
    alpha_vantage_url: url,
    alpha_vantage_key: undefined,
    frankfurter_url: url,
    ...settings,
    yahoo_url: settings.yahoo_url === here ? url : undefined,
  })
  return {
    agent,
    server,
    time,
    requests,
    price: (params: object, signal?: AbortSignal) => runAction(agent, 'get_current_price', params, signal),
    paths: () => server.requests.map(({ path }) => path),
    async [Symbol.asyncDispose]() {
      await upstreams[Symbol.asyncDispose]()
      await safe[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createFinance } from '../../agents/finance/index.ts'
import { createReader } from '../../agents/reader/index.ts'
import { readJob } from '../../agents/reader/read-job.ts'
import { createWiki } from '../../agents/wiki/index.ts'
import { Failure } from '../../schemas/failure.ts'
import type { Fetch, FetchRequest, FetchResponse } from '../../src/net/fetch/fetch.ts'
import { createUpstreams } from '../../src/net/upstream/upstreams.ts'
import { runAction } from '../support/agent.ts'
import { rounds } from '../support/rounds.ts'
import { createTime, type Time } from '../support/time.ts'

const now = Date.parse('2026-03-02T15:00:00Z')

/** What the outside world does with an input; the letter after Q in a symbol, a title or a path chooses it. */
const fates = {
  A: () => reply(404, '{"message":"NotFound"}'),
  B: () => reply(403, '{"error":"You do not have access to this resource."}'),
  C: () => reply(429, '{"error":"This symbol needs a premium plan."}'),
  D: () => reply(500, 'oops'),
  E: () => reply(503, 'busy', { 'retry-after': '3600' }),
  F: () => reply(200, '{"price":'),
  G: () => reply(200, '<html><body><p>Just a moment…', { 'content-type': 'text/html' }),
  H: hang,
  I: () => Promise.reject(new Failure('upstream_failed', 'The connection was reset.')),
  J: () => reply(400, '{"code":-1121}'),
  K: () => reply(401, '{"error":"Invalid key."}'),
  L: () => Promise.reject(new Failure('too_large', 'The answer is too large.')),
} satisfies Record<string, (request: FetchRequest, time: Time) => Promise<FetchResponse>>

async function reply(status: number, body: string, headers: Record<string, string> = {}) {
  const all = { 'content-type': 'application/json', ...headers }
  return { status, headers: all, url: '', redirects: [], body: new TextEncoder().encode(body) }
}

async function hang({ signal, timeout_ms = 10_000 }: FetchRequest, { wait }: Time): Promise<never> {
  await wait(Number(timeout_ms), signal)
  throw new Failure('upstream_timeout', 'No answer in time.')
}

const page = {
  pageid: 736,
  title: 'Berlin',
  fullurl: 'https://en.wiki.test/wiki/Berlin',
  extract: 'Berlin is a city.',
  revisions: [{ revid: 1, timestamp: '2026-02-28T09:30:00Z' }],
}
const wikiAnswer = {
  query: {
    general: { sitename: 'Testopedia', base: 'https://en.wiki.test/wiki/Main_Page' },
    rightsinfo: { url: '', text: '' },
    pages: [page],
  },
}

/** Healthy answers, by the first part of the host. */
const healthy: Record<string, () => Promise<FetchResponse>> = {
  coinbase: () => reply(200, `{"price":"1","time":"${new Date(now).toISOString()}"}`),
  finnhub: () => reply(200, `{"c":2,"t":${now / 1000}}`),
  frankfurter: () => reply(200, '{"base":"EUR","date":"2026-03-02","rates":{"USD":1.1}}'),
  en: () => reply(200, JSON.stringify(wikiAnswer)),
  site: () => reply(200, '<p>Berlin is a city.', { 'content-type': 'text/html' }),
}

/** The outside world: each source has its own host and answers by the request alone. */
function createWorld(time: Time): Fetch {
  return async (request) => {
    const url = new URL(request.url)
    const fate = /\bQ([A-L])[A-Z]/.exec(decodeURIComponent(url.href))?.[1] as keyof typeof fates | undefined
    const answer = fate
      ? await fates[fate](request, time)
      : await healthy[url.hostname.split('.')[0] ?? '']?.()
    if (!answer) return { ...(await reply(404, '{}')), url: url.href }
    return { ...answer, url: url.href }
  }
}

function open() {
  const time = createTime(now)
  const fetch = createWorld(time)
  const upstreams = createUpstreams({ fetch, ...time })
  const source = (name: string) => `https://${name}.test`
  const agents = {
    finance: createFinance({
      ...upstreams,
      coinbase_url: source('coinbase'),
      kraken_url: source('kraken'),
      binance_url: source('binance'),
      coingecko_url: source('coingecko'),
      coingecko_key: undefined,
      finnhub_url: source('finnhub'),
      finnhub_key: 'key',
      twelve_data_url: source('twelve'),
      twelve_data_key: undefined,
      alpha_vantage_url: source('alpha'),
      alpha_vantage_key: undefined,
      frankfurter_url: source('frankfurter'),
      yahoo_url: undefined,
    }),
    wiki: createWiki({ ...upstreams, url: 'https://{lang}.wiki.test/api.php', contact: 'me', languages: [] }),
    reader: createReader({ fetch, extract: readJob, clock: time.clock }),
  }
  return { time, agents, [Symbol.asyncDispose]: () => upstreams[Symbol.asyncDispose]() }
}

type Gateway = ReturnType<typeof open>
type Input = readonly [agent: keyof Gateway['agents'], action: string, params: object]

const ordinary: readonly Input[] = [
  ['finance', 'get_current_price', { symbol: 'BTC' }],
  ['finance', 'get_current_price', { symbol: 'AAPL' }],
  ['finance', 'get_current_price', { symbol: 'EURUSD' }],
  ['wiki', 'search_page', { query: 'Berlin' }],
  ['wiki', 'get_summary', { title: 'Berlin' }],
  ['reader', 'extract_content', { url: 'https://site.test/berlin' }],
]

const letter = fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZ')
const word = fc.tuple(fc.constantFrom(...Object.keys(fates)), letter, letter).map((all) => `Q${all.join('')}`)
const input: fc.Arbitrary<Input> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...ordinary) },
  {
    weight: 6,
    arbitrary: word.chain((text) =>
      fc.constantFrom<Input>(
        ['finance', 'get_current_price', { symbol: text }],
        ['finance', 'get_current_price', { symbol: `${text}-USD`, cross_check: true }],
        ['wiki', 'search_page', { query: text }],
        ['wiki', 'get_summary', { title: text }],
        ['reader', 'extract_content', { url: `https://site.test/${text}` }],
      ),
    ),
  },
)
const step = fc.record({
  input,
  times: fc.constantFrom(1, 2, 3, 40),
  leaves: fc.boolean(),
  pass_ms: fc.constantFrom(0, 0, 0, 1_000, 12_000),
})

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** The result of a call, or the Failure of a deadline of ten seconds. */
async function inTime<T>(time: Time, call: Promise<T>): Promise<T> {
  let isSettled = false
  const settle = () => {
    isSettled = true
  }
  call.then(settle, settle)
  for (let passed = 0; passed < 10_000 && !isSettled; passed += 500) {
    for (let turns = 0; turns < 20 && !isSettled; turns++) await turn()
    if (!isSettled) time.pass(500)
  }
  return Promise.race([call, Promise.reject(new Failure('deadline_exceeded', 'Too late.'))])
}

test('no sequence of inputs of one caller makes the ordinary call of another caller fail', async () => {
  const property = fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
    await using gateway = open()
    const { time, agents } = gateway
    const run = ([agent, action, params]: Input, signal: AbortSignal, caller: string) =>
      runAction(agents[agent], action, params, signal, caller)
    const ending = new AbortController()
    for (const { input, times, leaves, pass_ms } of steps) {
      const leaving = new AbortController()
      const signal = AbortSignal.any([ending.signal, leaving.signal])
      for (let time = 0; time < times; time++) run(input, signal, 'flood').catch(() => {})
      await turn()
      if (leaves) leaving.abort()
      if (pass_ms > 0) time.pass(pass_ms)
      await turn()
    }
    const { signal } = ending
    for (const input of ordinary) await inTime(time, run(input, signal, 'other'))
    ending.abort()
  })
  const once = { times: 1, leaves: false, pass_ms: 0 } as const
  // Two requests that hang hold the slots of the caller, whose third request is the one of the other caller.
  const queued = [
    { ...once, input: ['wiki', 'search_page', { query: 'QHAA' }] },
    { ...once, input: ['wiki', 'search_page', { query: 'QHBA' }] },
    { ...once, input: ['wiki', 'search_page', { query: 'Berlin' }] },
  ] as const
  await fc.assert(property, { numRuns: rounds(400), examples: [[[...queued]]] })
})

test('the outside world of this test fails a caller who uses it like that', async () => {
  await using gateway = open()
  const { signal } = new AbortController()
  const run = (symbol: string) =>
    runAction(gateway.agents.finance, 'get_current_price', { symbol }, signal, 'flood')
  for (const symbol of ['QDA', 'QDB', 'QDC', 'QDD', 'QDE']) await run(symbol).catch(() => {})
  await expect(run('AAPL')).rejects.toMatchObject({ code: 'circuit_open' })
})

import { describe, expect, test } from 'vitest'
import type { Fetch } from '../../src/net/fetch/fetch.ts'
import { createSafeFetch } from '../../src/net/fetch/safe-fetch.ts'
import { createUpstreams } from '../../src/net/upstream/upstreams.ts'
import { failureOf, runAction } from '../../test/support/agent.ts'
import {
  type Answer,
  dripping,
  fetchTimeout,
  garbage,
  gzipBomb,
  hang,
  html,
  json,
  type Routes,
  replay,
  reset,
  serverError,
  text,
  tooMany,
  truncated,
} from '../../test/support/replay.ts'
import { createTime } from '../../test/support/time.ts'
import { createWiki } from './index.ts'

/**
 * Faults of a wiki, and features that only Wikipedia's wikis have (the extension Disambiguator, descriptions, a wiki
 * for each language), written by hand in the form of MediaWiki's answers (formatversion 2); the texts are our own.
 * Answers of a real wiki are tested in test/mediawiki.
 */
const site = {
  general: { sitename: 'Testopedia', base: 'https://en.wiki.example/wiki/Main_Page', lang: 'en' },
  rightsinfo: { url: '//license.example/by-sa/4.0/', text: 'Example Licence 4.0' },
}

function answer(query: object, settings: object = site): Answer {
  return json({ batchcomplete: true, query: { ...settings, ...query } })
}

function pageOf(pageid: number, title: string, more: object = {}) {
  const fullurl = `https://en.wiki.example/wiki/${encodeURIComponent(title.replaceAll(' ', '_'))}`
  return { pageid, ns: 0, title, fullurl, pagelanguage: 'en', ...more }
}

const revisions = [{ revid: 4711, parentid: 4000, timestamp: '2026-02-28T09:30:00Z' }]

function summaryOf(pageid: number, title: string, more: object = {}) {
  const extract = `${title} is a place. It lies on a river. Nobody knows more.`
  return pageOf(pageid, title, { extract, revisions, ...more })
}

const berlin = summaryOf(736, 'Berlin', {
  description: 'capital of Germany',
  thumbnail: { source: 'https://media.wiki.example/berlin.jpg', width: 320, height: 200 },
})

const mercury = summaryOf(19007, 'Mercury', {
  extract: 'Mercury may refer to:',
  pageprops: { disambiguation: '' },
})

const mercuryLinks = [
  pageOf(19694, 'Mercury (planet)', { description: 'first planet from the Sun' }),
  pageOf(18617142, 'Mercury (element)'),
  { ns: 0, title: 'Mercury (unwritten)', missing: true, fullurl: 'https://en.wiki.example/wiki/Mercury_(u)' },
]

const now = Date.parse('2026-03-02T15:00:00Z')
const second = 1_000
const search = 'GET /en/api.php?generator=search'
const byId = 'GET /en/api.php?pageids=736'

interface Call {
  readonly contact?: string | null
  /** Path of the API on the replay server. */
  readonly path?: string
  readonly languages?: readonly string[]
}

/** The agent against a replay server, with a stopped clock. */
async function open(
  routes: Routes,
  { contact = 'ops@example.org', path = '/{lang}/api.php', languages = [] }: Call = {},
) {
  const server = await replay(routes)
  const safe = createSafeFetch({ user_agent: 'test', allow_origins: [server.url] })
  const time = createTime(now)
  const timeout_ms = fetchTimeout(routes)
  const fetch: Fetch = (request) => safe.fetch({ ...request, timeout_ms })
  const upstreams = createUpstreams({ fetch, ...time })
  const url = server.url + path
  const agent = createWiki({ ...upstreams, url, contact: contact ?? undefined, languages })
  return {
    agent,
    server,
    time,
    upstreams,
    run: (name: string, params: object, signal?: AbortSignal) => runAction(agent, name, params, signal),
    async [Symbol.asyncDispose]() {
      await upstreams[Symbol.asyncDispose]()
      await safe[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

describe('the agent', () => {
  test('advertises search_page and get_summary, and offers lookup only at its own endpoint', async () => {
    await using wiki = await open({})
    const advertised = wiki.agent.actions.map(({ name, advertised }) => [name, advertised])
    expect(advertised).toEqual([
      ['search_page', true],
      ['get_summary', true],
      ['lookup', false],
    ])
  })

  test.each([
    ['search_page', { query: 'Berlin' }],
    ['get_summary', { page_id: 736 }],
    ['lookup', { query: 'Berlin' }],
  ])('%s is not_configured without a contact, and sends no request', async (name, params) => {
    await using wiki = await open({}, { contact: null })
    const failure = await failureOf(wiki.run(name, params))
    expect(failure).toMatchObject({
      code: 'not_configured',
      message: expect.stringContaining('DRAGOMAN_CONTACT'),
    })
    expect(wiki.server.requests).toEqual([])
  })
})

describe('search_page', () => {
  test('identifies the client, and lets the caches of the wiki answer', async () => {
    await using wiki = await open({ [search]: answer({ searchinfo: { suggestion: 'spree' }, pages: [] }) })
    expect(await wiki.run('search_page', { query: 'sprree', limit: 3 })).toMatchObject({
      suggestion: 'spree',
    })
    const [request] = wiki.server.requests
    expect(Object.fromEntries(request?.query ?? [])).toMatchObject({
      gsrlimit: '3',
      maxlag: '5',
      maxage: '300',
      smaxage: '300',
    })
    expect(request?.headers['api-user-agent']).toBe('Dragoman (ops@example.org)')
  })

  test('asks the wiki of the language', async () => {
    await using wiki = await open({ 'GET /be-x-old/api.php?generator=search': answer({ pages: [] }) })
    expect(await wiki.run('search_page', { query: 'x', lang: 'be-x-old' })).toMatchObject({ pages: [] })
  })

  test('in a language that the operator leaves out is refused before any request', async () => {
    await using wiki = await open({ [search]: answer({ pages: [] }) }, { languages: ['en', 'de'] })
    expect(await wiki.run('search_page', { query: 'x' })).toMatchObject({ pages: [] })
    const failure = await failureOf(wiki.run('search_page', { query: 'x', lang: 'fr' }))
    expect(failure).toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('en, de'),
      details: { hint: expect.stringContaining('DRAGOMAN_WIKI_LANGUAGES') },
    })
    expect(wiki.server.requests).toHaveLength(1)
  })

  test('returns the hits in the order of the search, a page hit only by its redirect at the position of the redirect', async () => {
    const pages = [pageOf(1, 'Third', { index: 3 }), pageOf(2, 'Second'), pageOf(3, 'First', { index: 1 })]
    const redirects = [{ from: 'Other', to: 'Second', index: 2 }]
    await using wiki = await open({ [search]: answer({ redirects, pages }) })
    const found = await wiki.run('search_page', { query: 'x' })
    expect(found.pages).toMatchObject([{ title: 'First' }, { title: 'Second' }, { title: 'Third' }])
  })

  test('refuses a hit without a URL', async () => {
    await using wiki = await open({ [search]: answer({ pages: [{ pageid: 1, title: 'One' }] }) })
    expect((await failureOf(wiki.run('search_page', { query: 'x' }))).code).toBe('upstream_invalid')
  })

  test.each([
    { query: '' },
    { query: '   ' },
    { query: 'x'.repeat(301) },
    { query: 'x', limit: 0 },
    { query: 'x', limit: 21 },
    { query: 'x', lang: 'e' },
    { query: 'x', lang: 'evil.example/' },
    { query: 'x', lang: '-en' },
    { query: 'x', lang: 'abcdefghijklm' },
    { query: 'x', language: 'en' },
  ])('refuses %j before any request', async (params) => {
    await using wiki = await open({})
    expect((await failureOf(wiki.run('search_page', params))).code).toBe('invalid_request')
    expect(wiki.server.requests).toEqual([])
  })
})

describe('get_summary', () => {
  test('returns the description of Wikidata', async () => {
    await using wiki = await open({ [byId]: answer({ pages: [berlin] }) })
    expect(await wiki.run('get_summary', { page_id: 736 })).toMatchObject({
      description: 'capital of Germany',
    })
  })

  test('cuts one very long sentence anywhere', async () => {
    const endless = summaryOf(737, 'Endless', { extract: '😀'.repeat(10_000) })
    await using wiki = await open({ 'GET /en/api.php?pageids=737': answer({ pages: [endless] }) })
    expect(await wiki.run('get_summary', { page_id: 737 })).toMatchObject({ extract: '😀'.repeat(4_000) })
  })

  test('of a page that Disambiguator marks returns the pages it links to', async () => {
    await using wiki = await open({
      'GET /en/api.php?titles=Mercury': answer({ pages: [mercury] }),
      'GET /en/api.php?generator=links&pageids=19007': answer({ pages: mercuryLinks }),
    })
    expect(await wiki.run('get_summary', { title: 'Mercury' })).toMatchObject({
      is_disambiguation: true,
      options: [
        { page_id: 18617142, title: 'Mercury (element)' },
        { page_id: 19694, title: 'Mercury (planet)', description: 'first planet from the Sun' },
      ],
    })
  })

  test('of a title of another wiki is not_found', async () => {
    const interwiki = [{ title: 'de:Berlin', iw: 'de' }]
    await using wiki = await open({ 'GET /en/api.php': answer({ interwiki }) })
    expect((await failureOf(wiki.run('get_summary', { title: 'de:Berlin' }))).code).toBe('not_found')
  })

  test('of a title that the wiki calls invalid is invalid_request', async () => {
    const page = { title: 'a%zz', invalid: true, invalidreason: { code: 'title-invalid' } }
    await using wiki = await open({ 'GET /en/api.php': answer({ pages: [page] }) })
    expect((await failureOf(wiki.run('get_summary', { title: 'a%zz' }))).code).toBe('invalid_request')
  })

  test('on a wiki of one language states the language of the page', async () => {
    const page = summaryOf(736, 'Berlin', { pagelanguage: 'de' })
    await using wiki = await open({ 'GET /api.php': answer({ pages: [page] }) }, { path: '/api.php' })
    expect(await wiki.run('get_summary', { page_id: 736 })).toMatchObject({ lang: 'de' })
  })

  test('of a wiki that states no licence has none', async () => {
    const settings = { ...site, rightsinfo: { url: '', text: '' } }
    await using wiki = await open({ [byId]: answer({ pages: [berlin] }, settings) })
    expect(await wiki.run('get_summary', { page_id: 736 })).toMatchObject({
      license: null,
      attribution: 'Berlin, by the contributors of Testopedia (https://en.wiki.example/wiki/Berlin)',
    })
  })

  test.each([
    ['an address that is none', { fullurl: 'javascript:alert(1)' }],
    ['an id that is none', { pageid: '736; drop' }],
    ['no revision', { revisions: [] }],
    ['a date that is none', { revisions: [{ revid: 1, timestamp: 'yesterday' }] }],
  ])('refuses a page with %s', async (_, more) => {
    await using wiki = await open({ [byId]: answer({ pages: [{ ...berlin, ...more }] }) })
    expect((await failureOf(wiki.run('get_summary', { page_id: 736 }))).code).toBe('upstream_invalid')
  })
})

describe('lookup', () => {
  test('finds the page of a title that is not among the hits of the search', async () => {
    await using wiki = await open({
      [search]: answer({ search: [{ title: 'Capital' }], pages: [pageOf(900, 'Spree', { index: 1 })] }),
      'GET /en/api.php?titles=Capital': answer({
        redirects: [{ from: 'Capital', to: 'Berlin' }],
        pages: [berlin],
      }),
    })
    expect(await wiki.run('lookup', { query: 'capital' })).toMatchObject({
      page: { title: 'Berlin', redirected_from: 'Capital' },
      results: [{ title: 'Spree' }],
    })
  })

  test('fails when the wiki fails', async () => {
    await using wiki = await open({ [search]: serverError })
    expect((await failureOf(wiki.run('lookup', { query: 'Berlin' }))).code).toBe('upstream_failed')
  })
})

describe('faults', () => {
  const lagging = { code: 'maxlag', text: 'Waiting for a database server: 7 seconds lagged.' }
  const faults: [string, Answer, string, object][] = [
    ['hangs', hang, 'upstream_timeout', {}],
    ['drips', dripping(answer({ pages: [berlin] })), 'upstream_timeout', {}],
    ['resets the connection', reset, 'upstream_failed', {}],
    ['breaks off', truncated(answer({ pages: [berlin] })), 'upstream_', {}],
    ['answers 500', serverError, 'upstream_failed', { upstream: { status: 500 } }],
    ['answers 404', html('Not here', 404), 'upstream_failed', { upstream: { status: 404 } }],
    ['answers 429', tooMany(17), 'rate_limited', { upstream: { status: 429 }, retry_after_s: 17 }],
    [
      'answers 503 with a date',
      text('Busy', 503, { 'retry-after': 'Mon, 02 Mar 2026 15:01:00 GMT' }),
      'upstream_failed',
      { retry_after_s: 60 },
    ],
    [
      'lags',
      json({ errors: [lagging] }, 200, { 'retry-after': '9' }),
      'upstream_failed',
      { upstream: { code: 'maxlag' }, retry_after_s: 9 },
    ],
    [
      'lags, without saying for how long',
      json({ errors: [lagging] }),
      'upstream_failed',
      { retry_after_s: 5 },
    ],
    [
      'refuses in the old form',
      json({ error: { code: 'ratelimited', info: 'Slow down.' } }),
      'rate_limited',
      { upstream: { code: 'ratelimited' }, retry_after_s: 5 },
    ],
    [
      'finds the id bad',
      json({ errors: [{ code: 'badinteger', text: 'Invalid value.' }] }),
      'invalid_request',
      { upstream: { code: 'badinteger' } },
    ],
    ['fails inside', json({ errors: [{ code: 'internal_api_error_DBQueryError' }] }), 'upstream_failed', {}],
    ['answers HTML with 200', html(), 'upstream_invalid', {}],
    ['answers another JSON', json({ hello: 'world' }), 'upstream_invalid', {}],
    ['answers no text', garbage, 'upstream_invalid', {}],
    ['answers a gzip bomb', gzipBomb(), 'too_large', {}],
  ]
  test.each(faults)('of a wiki that %s are passed on with their code', async (_, fault, code, details) => {
    await using wiki = await open({ [byId]: fault })
    const failure = await failureOf(wiki.run('get_summary', { page_id: 736 }))
    expect(failure.code).toContain(code)
    expect(failure.details).toMatchObject(details)
  })
})

describe('rate limits', () => {
  const lag = json({ errors: [{ code: 'maxlag', text: 'Lagged.' }] }, 200, { 'retry-after': '9' })
  test.each([
    ['429 with seconds', tooMany(9), 9, 'rate_limited'],
    [
      '503 with a date',
      text('Busy', 503, { 'retry-after': 'Mon, 02 Mar 2026 15:00:09 GMT' }),
      9,
      'circuit_open',
    ],
    ['a lag', lag, 9, 'circuit_open'],
  ])('send no request after %s until that time has passed', async (_, fault, seconds, code) => {
    await using wiki = await open({ 'GET /en/api.php': [fault, answer({ pages: [berlin] })] })
    await failureOf(wiki.run('get_summary', { page_id: 1 }))
    wiki.time.pass((seconds - 1) * second)
    expect(await failureOf(wiki.run('get_summary', { page_id: 736 }))).toMatchObject({
      code,
      details: { retry_after_s: 1 },
    })
    expect(wiki.server.requests).toHaveLength(1)
    wiki.time.pass(second)
    expect(await wiki.run('get_summary', { page_id: 736 })).toMatchObject({ title: 'Berlin' })
  })
})

describe('the cache', () => {
  const renamed = summaryOf(736, 'Berlin (renamed)')

  test('serves an answer for ten minutes; after that at once, as stale, while it fetches the next', async () => {
    await using wiki = await open({ [byId]: [answer({ pages: [berlin] }), answer({ pages: [renamed] })] })
    await wiki.run('get_summary', { page_id: 736 })
    wiki.time.pass(599 * second)
    expect(await wiki.run('get_summary', { page_id: 736 })).toMatchObject({
      title: 'Berlin',
      fetched_at: '2026-03-02T15:00:00.000Z',
      cache: { hit: true, age_s: 599, stale: false },
    })
    wiki.time.pass(second)
    const stale = { title: 'Berlin', cache: { hit: true, age_s: 600, stale: true }, warnings: [] }
    expect(await wiki.run('get_summary', { page_id: 736 })).toMatchObject(stale)
    await expect
      .poll(() => wiki.run('get_summary', { page_id: 736 }), { interval: 1 })
      .toMatchObject({ title: 'Berlin (renamed)', cache: { hit: true, age_s: 0, stale: false } })
    expect(wiki.server.requests).toHaveLength(2)
  })

  test('keeps languages, actions and limits apart', async () => {
    await using wiki = await open({
      'GET /en/api.php': answer({ pages: [berlin] }),
      'GET /de/api.php': answer({ pages: [berlin] }),
    })
    await wiki.run('get_summary', { page_id: 736 })
    await wiki.run('get_summary', { page_id: 736, lang: 'de' })
    await wiki.run('search_page', { query: '736' })
    await wiki.run('search_page', { query: '736', limit: 6 })
    expect(wiki.server.requests).toHaveLength(4)
  })

  test('remembers for a minute that a page is missing', async () => {
    const missing = answer({ pages: [{ pageid: 736, missing: true }] })
    await using wiki = await open({ [byId]: [missing, answer({ pages: [berlin] })] })
    await failureOf(wiki.run('get_summary', { page_id: 736 }))
    wiki.time.pass(59 * second)
    expect((await failureOf(wiki.run('get_summary', { page_id: 736 }))).code).toBe('not_found')
    wiki.time.pass(second)
    expect(await wiki.run('get_summary', { page_id: 736 })).toMatchObject({ title: 'Berlin' })
  })

  test('serves a stale answer for a day while the wiki fails, and says so', async () => {
    await using wiki = await open({ [byId]: [answer({ pages: [berlin] }), serverError] })
    await wiki.run('get_summary', { page_id: 736 })
    const hour = 3600 * second
    wiki.time.pass(23 * hour)
    expect(await wiki.run('get_summary', { page_id: 736 })).toMatchObject({
      title: 'Berlin',
      cache: { hit: true, age_s: 82800, stale: true },
      warnings: [expect.stringContaining('82800 seconds ago')],
    })
    wiki.time.pass(hour)
    expect((await failureOf(wiki.run('get_summary', { page_id: 736 }))).code).toBe('upstream_failed')
  })

  test('does not call a page missing for longer than a minute while the wiki fails', async () => {
    const missing = answer({ pages: [{ pageid: 736, missing: true }] })
    await using wiki = await open({ [byId]: [missing, serverError] })
    await failureOf(wiki.run('get_summary', { page_id: 736 }))
    wiki.time.pass(61 * second)
    expect((await failureOf(wiki.run('get_summary', { page_id: 736 }))).code).toBe('upstream_failed')
  })

  test('keeps the options of a disambiguation page for ten minutes, missing ones included', async () => {
    await using wiki = await open({
      'GET /en/api.php?titles=Mercury': answer({ pages: [mercury] }),
      'GET /en/api.php?generator=links&pageids=19007': answer({ pages: mercuryLinks }),
    })
    await wiki.run('get_summary', { title: 'Mercury' })
    wiki.time.pass(599 * second)
    await wiki.run('get_summary', { title: 'Mercury' })
    expect(wiki.server.requests).toHaveLength(2)
  })

  test('does not remember a failure', async () => {
    await using wiki = await open({ [byId]: [serverError, answer({ pages: [berlin] })] })
    await failureOf(wiki.run('get_summary', { page_id: 736 }))
    expect(await wiki.run('get_summary', { page_id: 736 })).toMatchObject({ title: 'Berlin' })
  })

  test('lets callers of one page share one request, and lets one of them leave', async () => {
    const pending = Promise.withResolvers<Answer>()
    await using wiki = await open({ [byId]: () => pending.promise })
    const leaving = new AbortController()
    const left = failureOf(wiki.run('get_summary', { page_id: 736 }, leaving.signal))
    const stays = wiki.run('get_summary', { page_id: '736', sentences: 1 })
    await wiki.server.arrived(1)
    leaving.abort()
    expect((await left).code).toBe('cancelled')
    pending.resolve(answer({ pages: [berlin] }))
    expect(await stays).toMatchObject({ extract: 'Berlin is a place.' })
    expect(wiki.server.requests).toHaveLength(1)
  })

  test('sends a new request after the last caller has left', async () => {
    await using wiki = await open({ [byId]: [hang, answer({ pages: [berlin] })] })
    const leaving = new AbortController()
    const left = failureOf(wiki.run('get_summary', { page_id: 736 }, leaving.signal))
    await wiki.server.arrived(1)
    leaving.abort()
    expect((await left).code).toBe('cancelled')
    expect(await wiki.run('get_summary', { page_id: 736 })).toMatchObject({ title: 'Berlin' })
  })
})

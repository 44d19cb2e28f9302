import { describe, expect, test } from 'vitest'
import { Failure } from '../../schemas/failure.ts'
import { createFlightCache } from '../../src/net/flight-cache.ts'
import { createSafeFetch } from '../../src/net/safe-fetch.ts'
import {
  type Answer,
  dripping,
  garbage,
  gzipBomb,
  hang,
  html,
  json,
  patienceWith,
  type Routes,
  replay,
  reset,
  serverError,
  text,
  tooMany,
  truncated,
} from '../../test/support/replay.ts'
import { createWiki } from './index.ts'
import type { Fetch } from './port.ts'

/** Written by hand after the shape of MediaWiki's answers (formatversion 2); the texts are ours. */
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

/** MediaWiki gives pages by id; `index` holds the order of the search. */
const hits = [
  pageOf(736, 'Berlin', { index: 2, snippet: 'Berlin', wordcount: 12000, extract: 'Berlin is a city.' }),
  pageOf(900, 'Spree', {
    index: 1,
    wordcount: 800,
    snippet:
      "The '''<span class=\"searchmatch\">Spree</span>''' flows &amp; flows&#32;through [[Berlin]] &lt;b&gt;\n",
    extract: 'The Spree is a river. It is long. It is slow. It ends in the Havel.',
  }),
  pageOf(901, 'Havel', { index: 3, snippet: '' }),
]

const now = Date.parse('2026-03-02T15:00:00Z')
const second = 1_000
const search = 'GET /en/api.php?generator=search'
const byId = 'GET /en/api.php?pageids=736'
const byTitle = 'GET /en/api.php?titles=Berlin'

interface Call {
  readonly contact?: string | null
  /** Path of the API on the replay server. */
  readonly path?: string
}

/** The agent against a replay server; `clock.now` is the time. */
async function open(routes: Routes, { contact = 'ops@example.org', path = '/{lang}/api.php' }: Call = {}) {
  const server = await replay(routes)
  const safe = createSafeFetch({ user_agent: 'test', allow_origins: [server.url] })
  const clock = { now }
  const timeout_ms = patienceWith(routes)
  const fetch: Fetch = (request) => safe.fetch({ ...request, timeout_ms })
  const url = server.url + path
  const agent = createWiki({
    fetch,
    create_cache: (settings) => createFlightCache(settings, () => clock.now),
    url,
    contact: contact ?? undefined,
    clock: () => clock.now,
  })
  async function run(name: string, params: object, signal = new AbortController().signal) {
    const action = agent.actions.find((one) => one.name === name)
    if (!action) throw new Error(`no action ${name}`)
    const call = { id: 'test', principal: null, deadline: Number.POSITIVE_INFINITY, hops: 0, signal }
    const context = { ...call, emit: async () => {}, call: async () => null }
    return action.output.parse(await action.run(action.input.parse(params), context))
  }
  return {
    agent,
    server,
    clock,
    run,
    async [Symbol.asyncDispose]() {
      await safe[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

async function failureOf(promise: Promise<unknown>): Promise<Failure> {
  const thrown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(thrown).toBeInstanceOf(Failure)
  return thrown as Failure
}

const provenance = {
  source: { name: 'Testopedia', url: 'https://en.wiki.example/wiki/Main_Page', provider: 'mediawiki' },
  license: { name: 'Example Licence 4.0', url: 'https://license.example/by-sa/4.0/' },
  fetched_at: '2026-03-02T15:00:00.000Z',
  cache: { hit: false, age_s: 0, stale: false },
  warnings: [],
}

describe('the agent', () => {
  test('advertises search_page and get_summary, and keeps lookup behind its endpoint', async () => {
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
  ])('%s is not_configured without a contact, and asks nobody', async (name, params) => {
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
  test('gives the hits in the order of the search, as plain text, in one round trip', async () => {
    await using wiki = await open({
      [search]: answer({ searchinfo: { totalhits: 42, suggestion: 'spree' }, pages: hits }),
    })
    expect(await wiki.run('search_page', { query: ' sprree ', limit: 3 })).toEqual({
      pages: [
        {
          page_id: 900,
          title: 'Spree',
          snippet: 'The Spree flows & flows through Berlin <b>',
          url: 'https://en.wiki.example/wiki/Spree',
          word_count: 800,
          extract: 'The Spree is a river. It is long. It is slow.',
        },
        {
          page_id: 736,
          title: 'Berlin',
          snippet: 'Berlin',
          url: 'https://en.wiki.example/wiki/Berlin',
          word_count: 12000,
          extract: 'Berlin is a city.',
        },
        { page_id: 901, title: 'Havel', snippet: '', url: 'https://en.wiki.example/wiki/Havel' },
      ],
      total: 42,
      suggestion: 'spree',
      attribution:
        'Pages, by the contributors of Testopedia (https://en.wiki.example/wiki/Main_Page), Example Licence 4.0',
      ...provenance,
    })
    const [request] = wiki.server.requests
    expect(wiki.server.requests).toHaveLength(1)
    expect(Object.fromEntries(request?.query ?? [])).toMatchObject({
      gsrsearch: 'sprree',
      gsrlimit: '3',
      gsrwhat: 'text',
      maxlag: '5',
      maxage: '300',
      smaxage: '300',
      formatversion: '2',
    })
    expect(request?.headers['api-user-agent']).toBe('Dragoman (ops@example.org)')
  })

  test('gives no pages when nothing is found', async () => {
    await using wiki = await open({ [search]: answer({ searchinfo: { totalhits: 0 } }) })
    expect(await wiki.run('search_page', { query: 'zzz' })).toMatchObject({ pages: [], total: 0 })
  })

  test('asks the wiki of the language', async () => {
    await using wiki = await open({ 'GET /be-x-old/api.php?generator=search': answer({ pages: [] }) })
    expect(await wiki.run('search_page', { query: 'x', lang: 'be-x-old' })).toMatchObject({ pages: [] })
  })

  test('refuses a hit without an address', async () => {
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
  test('gives the introduction of a page with its revision, picture and licence', async () => {
    await using wiki = await open({ [byId]: answer({ pages: [berlin] }) })
    expect(await wiki.run('get_summary', { page_id: 736 })).toEqual({
      page_id: 736,
      title: 'Berlin',
      lang: 'en',
      extract: 'Berlin is a place. It lies on a river. Nobody knows more.',
      truncated: false,
      description: 'capital of Germany',
      url: 'https://en.wiki.example/wiki/Berlin',
      permanent_url: 'https://en.wiki.example/wiki/Berlin?oldid=4711',
      revision_id: 4711,
      last_modified: '2026-02-28T09:30:00Z',
      thumbnail: { url: 'https://media.wiki.example/berlin.jpg', width: 320, height: 200 },
      is_disambiguation: false,
      options: [],
      attribution:
        'Berlin, by the contributors of Testopedia (https://en.wiki.example/wiki/Berlin), Example Licence 4.0',
      ...provenance,
    })
  })

  test('takes the id as digits too', async () => {
    await using wiki = await open({ [byId]: answer({ pages: [berlin] }) })
    expect(await wiki.run('get_summary', { page_id: '736' })).toMatchObject({ title: 'Berlin' })
  })

  test('follows a redirect and says from where', async () => {
    const redirects = [{ from: 'Capital of Germany', to: 'Berlin' }]
    await using wiki = await open({
      'GET /en/api.php?titles=Capital of Germany': answer({ redirects, pages: [berlin] }),
    })
    expect(await wiki.run('get_summary', { title: 'Capital of Germany' })).toMatchObject({
      title: 'Berlin',
      redirected_from: 'Capital of Germany',
    })
  })

  test('asks for the introduction alone, as text, and for the end of any redirect', async () => {
    await using wiki = await open({ [byId]: answer({ pages: [berlin] }) })
    await wiki.run('get_summary', { page_id: 736 })
    const [request] = wiki.server.requests
    expect(Object.fromEntries(request?.query ?? [])).toMatchObject({
      redirects: '1',
      exintro: '1',
      explaintext: '1',
    })
  })

  test('of a disambiguation page that links to itself leaves it out of the options', async () => {
    await using wiki = await open({
      'GET /en/api.php?titles=Mercury': answer({ pages: [mercury] }),
      'GET /en/api.php?generator=links&pageids=19007': answer({ pages: [pageOf(19007, 'Mercury')] }),
    })
    expect(await wiki.run('get_summary', { title: 'Mercury' })).toMatchObject({ options: [] })
  })

  test('cuts after the sentences asked for, from one request', async () => {
    await using wiki = await open({ [byTitle]: answer({ pages: [berlin] }) })
    expect(await wiki.run('get_summary', { title: 'Berlin', sentences: 2 })).toMatchObject({
      extract: 'Berlin is a place. It lies on a river.',
      truncated: true,
    })
    expect(await wiki.run('get_summary', { title: 'Berlin', sentences: 3 })).toMatchObject({
      truncated: false,
    })
    expect(wiki.server.requests).toHaveLength(1)
  })

  test('cuts a very long introduction at a sentence, and one endless sentence anywhere', async () => {
    const many = summaryOf(736, 'Berlin', { extract: 'Ten chars. '.repeat(2_000) })
    const endless = summaryOf(737, 'Endless', { extract: '😀'.repeat(10_000) })
    await using wiki = await open({
      [byId]: answer({ pages: [many] }),
      'GET /en/api.php?pageids=737': answer({ pages: [endless] }),
    })
    const long = await wiki.run('get_summary', { page_id: 736 })
    expect(long).toMatchObject({ truncated: true, extract: expect.stringMatching(/chars\.$/) })
    expect(long.extract.length).toBeGreaterThan(7_900)
    expect(long.extract.length).toBeLessThanOrEqual(8_000)
    expect(await wiki.run('get_summary', { page_id: 737 })).toMatchObject({ extract: '😀'.repeat(4_000) })
  })

  test('of a disambiguation page gives the pages it links to, the unwritten left out', async () => {
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

  test.each([
    ['Category:Disambiguation pages', true],
    ['Category:All article disambiguation pages', true],
    ['Category:Articles with links needing disambiguation', false],
  ])('without the extension takes %s as a sign: %s', async (title, expected) => {
    const page = summaryOf(736, 'Berlin', { categories: [{ title }] })
    await using wiki = await open({
      [byId]: answer({ pages: [page] }),
      'GET /en/api.php?generator=links': answer({ pages: [] }),
    })
    expect(await wiki.run('get_summary', { page_id: 736 })).toMatchObject({ is_disambiguation: expected })
  })

  test.each([
    ['an unknown id', { page_id: 736 }, { pageid: 736, missing: true }],
    ['an unknown title', { title: 'Nope' }, { ns: 0, title: 'Nope', missing: true }],
    ['a special page', { title: 'Special:Search' }, { ns: -1, title: 'Special:Search', special: true }],
  ])('of %s is not_found and points at search_page', async (_, params, page) => {
    await using wiki = await open({ 'GET /en/api.php': answer({ pages: [page] }) })
    const failure = await failureOf(wiki.run('get_summary', params))
    expect(failure).toMatchObject({
      code: 'not_found',
      details: { hint: expect.stringContaining('search_page') },
    })
  })

  test('of a title of another wiki is not_found', async () => {
    const interwiki = [{ title: 'de:Berlin', iw: 'de' }]
    await using wiki = await open({ 'GET /en/api.php': answer({ interwiki }) })
    expect((await failureOf(wiki.run('get_summary', { title: 'de:Berlin' }))).code).toBe('not_found')
  })

  test('of what the wiki calls no title is invalid_request', async () => {
    const page = { title: 'a%zz', invalid: true, invalidreason: { code: 'title-invalid' } }
    await using wiki = await open({ 'GET /en/api.php': answer({ pages: [page] }) })
    expect((await failureOf(wiki.run('get_summary', { title: 'a%zz' }))).code).toBe('invalid_request')
  })

  test.each([
    {},
    { page_id: 1, title: 'One' },
    { page_id: 0 },
    { page_id: -1 },
    { page_id: 1.5 },
    { page_id: 'abc' },
    { page_id: '12|13' },
    { title: 'A|B' },
    { title: 'C#' },
    { title: 'a[b' },
    { title: 'x'.repeat(256) },
    { page_id: 1, sentences: 0 },
    { page_id: 1, sentences: 11 },
  ])('refuses %j before any request', async (params) => {
    await using wiki = await open({})
    expect((await failureOf(wiki.run('get_summary', params))).code).toBe('invalid_request')
    expect(wiki.server.requests).toEqual([])
  })

  test('on a wiki of one language says the language of the page', async () => {
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
  test('gives the page of that title, and the other hits', async () => {
    await using wiki = await open({
      [byTitle]: answer({ pages: [berlin] }),
      [search]: answer({ pages: hits }),
    })
    const found = await wiki.run('lookup', { query: 'Berlin' })
    expect(found.page).toMatchObject({ page_id: 736, revision_id: 4711 })
    expect(found.results).toMatchObject([{ title: 'Spree' }, { title: 'Havel' }])
  })

  test('gives the best hit when there is no such title', async () => {
    await using wiki = await open({
      'GET /en/api.php?titles=river in Berlin': answer({
        pages: [{ title: 'River in Berlin', missing: true }],
      }),
      [search]: answer({ pages: hits }),
      'GET /en/api.php?pageids=900': answer({ pages: [summaryOf(900, 'Spree')] }),
    })
    const found = await wiki.run('lookup', { query: 'river in Berlin' })
    expect(found.page).toMatchObject({ title: 'Spree' })
    expect(found.results).toMatchObject([{ title: 'Berlin' }, { title: 'Havel' }])
  })

  test('searches for what cannot be a title', async () => {
    await using wiki = await open({
      [search]: answer({ pages: hits }),
      'GET /en/api.php?pageids=900': answer({ pages: [summaryOf(900, 'Spree')] }),
    })
    expect(await wiki.run('lookup', { query: 'C#|[x]' })).toMatchObject({ page: { title: 'Spree' } })
    expect(wiki.server.requests.map(({ query }) => query.get('titles'))).toEqual([null, null])
  })

  test('gives null when nothing is found', async () => {
    await using wiki = await open({
      'GET /en/api.php?titles=zzz': answer({ pages: [{ title: 'Zzz', missing: true }] }),
      [search]: answer({}),
    })
    expect(await wiki.run('lookup', { query: 'zzz' })).toEqual({ page: null, results: [] })
  })

  test('fails when the wiki is in trouble', async () => {
    await using wiki = await open({ [byTitle]: serverError, [search]: answer({ pages: hits }) })
    expect((await failureOf(wiki.run('lookup', { query: 'Berlin' }))).code).toBe('upstream_failed')
  })
})

describe('trouble', () => {
  const lagging = { code: 'maxlag', text: 'Waiting for a database server: 7 seconds lagged.' }
  const faults: [string, Answer, string, object][] = [
    ['hangs', hang, 'upstream_timeout', {}],
    ['drips', dripping(answer({ pages: [berlin] })), 'upstream_timeout', {}],
    ['resets the connection', reset, 'upstream_failed', {}],
    ['breaks off', truncated(answer({ pages: [berlin] })), 'upstream_', {}],
    ['answers 500', serverError, 'upstream_failed', { upstream: { status: 500 } }],
    ['answers 404', html('Not here', 404), 'upstream_failed', { upstream: { status: 404 } }],
    ['answers 429', tooMany(17), 'upstream_failed', { upstream: { status: 429 }, retry_after_s: 17 }],
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
      'upstream_failed',
      { upstream: { code: 'ratelimited' } },
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
  test.each(faults)('of a wiki that %s comes out as it is', async (_, fault, code, details) => {
    await using wiki = await open({ [byId]: fault })
    const failure = await failureOf(wiki.run('get_summary', { page_id: 736 }))
    expect(failure.code).toContain(code)
    expect(failure.details).toMatchObject(details)
  })
})

describe('the cache', () => {
  const renamed = summaryOf(736, 'Berlin (renamed)')

  test('gives an answer for ten minutes, and its age', async () => {
    await using wiki = await open({ [byId]: [answer({ pages: [berlin] }), answer({ pages: [renamed] })] })
    await wiki.run('get_summary', { page_id: 736 })
    wiki.clock.now += 599 * second
    expect(await wiki.run('get_summary', { page_id: 736 })).toMatchObject({
      title: 'Berlin',
      fetched_at: '2026-03-02T15:00:00.000Z',
      cache: { hit: true, age_s: 599, stale: false },
    })
    wiki.clock.now += second
    expect(await wiki.run('get_summary', { page_id: 736 })).toMatchObject({
      title: 'Berlin (renamed)',
      cache: { hit: false },
    })
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
    wiki.clock.now += 59 * second
    expect((await failureOf(wiki.run('get_summary', { page_id: 736 }))).code).toBe('not_found')
    wiki.clock.now += second
    expect(await wiki.run('get_summary', { page_id: 736 })).toMatchObject({ title: 'Berlin' })
  })

  test('stands in for an hour while the wiki is in trouble, and says so', async () => {
    await using wiki = await open({ [byId]: [answer({ pages: [berlin] }), serverError] })
    await wiki.run('get_summary', { page_id: 736 })
    wiki.clock.now += 3599 * second
    expect(await wiki.run('get_summary', { page_id: 736 })).toMatchObject({
      title: 'Berlin',
      cache: { hit: true, age_s: 3599, stale: true },
      warnings: [expect.stringContaining('3599 seconds ago')],
    })
    wiki.clock.now += second
    expect((await failureOf(wiki.run('get_summary', { page_id: 736 }))).code).toBe('upstream_failed')
  })

  test('does not call a page missing for longer than a minute while the wiki is in trouble', async () => {
    const missing = answer({ pages: [{ pageid: 736, missing: true }] })
    await using wiki = await open({ [byId]: [missing, serverError] })
    await failureOf(wiki.run('get_summary', { page_id: 736 }))
    wiki.clock.now += 61 * second
    expect((await failureOf(wiki.run('get_summary', { page_id: 736 }))).code).toBe('upstream_failed')
  })

  test('keeps the options of a disambiguation page for ten minutes, unwritten ones or not', async () => {
    await using wiki = await open({
      'GET /en/api.php?titles=Mercury': answer({ pages: [mercury] }),
      'GET /en/api.php?generator=links&pageids=19007': answer({ pages: mercuryLinks }),
    })
    await wiki.run('get_summary', { title: 'Mercury' })
    wiki.clock.now += 599 * second
    await wiki.run('get_summary', { title: 'Mercury' })
    expect(wiki.server.requests).toHaveLength(2)
  })

  test('does not remember a failure', async () => {
    await using wiki = await open({ [byId]: [serverError, answer({ pages: [berlin] })] })
    await failureOf(wiki.run('get_summary', { page_id: 736 }))
    expect(await wiki.run('get_summary', { page_id: 736 })).toMatchObject({ title: 'Berlin' })
  })

  test('lets callers of one page share one request, and one of them leave', async () => {
    const gate = Promise.withResolvers<Answer>()
    await using wiki = await open({ [byId]: () => gate.promise })
    const leaving = new AbortController()
    const left = failureOf(wiki.run('get_summary', { page_id: 736 }, leaving.signal))
    const stays = wiki.run('get_summary', { page_id: '736', sentences: 1 })
    await wiki.server.arrived(1)
    leaving.abort()
    expect((await left).code).toBe('cancelled')
    gate.resolve(answer({ pages: [berlin] }))
    expect(await stays).toMatchObject({ extract: 'Berlin is a place.' })
    expect(wiki.server.requests).toHaveLength(1)
  })

  test('starts anew after the last caller has left', async () => {
    await using wiki = await open({ [byId]: [hang, answer({ pages: [berlin] })] })
    const leaving = new AbortController()
    const left = failureOf(wiki.run('get_summary', { page_id: 736 }, leaving.signal))
    await wiki.server.arrived(1)
    leaving.abort()
    expect((await left).code).toBe('cancelled')
    expect(await wiki.run('get_summary', { page_id: 736 })).toMatchObject({ title: 'Berlin' })
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createWiki } from '../../agents/wiki/index.ts'
import { type CreateCache, createFlightCache } from '../../src/net/flight-cache.ts'
import { createSafeFetch, type SafeFetch } from '../../src/net/safe-fetch.ts'
import { isInstalled, type Peer, startMediaWiki } from './peer.ts'

const packages = 'mediawiki php-cli php-sqlite3 php-mbstring php-xml php-intl php-apcu'

const pages = {
  'River Spree':
    "The '''Spree''' is a river. It flows through [[Berlin]]. It is long.\n\n== History ==\nOld.",
  Spree: '#REDIRECT [[River Spree]]',
  Käse: "'''Käse''' is how cheese is called in [[Berlin]].",
  Berlin: "'''Berlin''' is a city on the [[River Spree]].",
  Bank: "'''Bank''' may mean:\n* [[River Spree]], which has two\n* [[Bank (money)]], not yet written\n[[Category:Disambiguation pages]]",
}

if (!isInstalled()) {
  test.skip(`a real MediaWiki: apt-get install --no-install-recommends ${packages}`)
}

describe.skipIf(!isInstalled())('the wiki agent and a real MediaWiki', () => {
  let peer: Peer
  let safe: SafeFetch

  beforeAll(async () => {
    peer = await startMediaWiki(pages)
    safe = createSafeFetch({ user_agent: 'Dragoman (test)', allow_origins: [new URL(peer.api).origin] })
  }, 60_000)

  afterAll(async () => {
    await safe?.[Symbol.asyncDispose]()
    await peer?.[Symbol.asyncDispose]()
  })

  async function run(name: string, params: object) {
    const ports = { fetch: safe.fetch, url: peer.api, contact: 'ops@example.org', clock: Date.now }
    const create_cache: CreateCache = (settings) => createFlightCache(settings, Date.now)
    const action = createWiki({ ...ports, create_cache }).actions.find((one) => one.name === name)
    if (!action) throw new Error(`no action ${name}`)
    const call = { id: 'test', principal: null, deadline: Number.POSITIVE_INFINITY, hops: 0 }
    const signal = AbortSignal.timeout(10_000)
    const context = { ...call, signal, emit: async () => {}, call: async () => null }
    return action.output.parse(await action.run(action.input.parse(params), context))
  }

  test('agree on a search', async () => {
    const found = await run('search_page', { query: 'flows' })
    expect(found.pages).toHaveLength(1)
    expect(found.pages[0]).toMatchObject({
      title: 'River Spree',
      snippet: expect.stringMatching(/^The Spree is a river\. It flows through Berlin\./),
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/index\.php\/River_Spree$/),
      word_count: expect.any(Number),
      extract: 'The Spree is a river. It flows through Berlin. It is long.',
    })
    expect(found.source).toMatchObject({ name: 'TestWiki', provider: 'mediawiki' })
    expect(found.license).toBeNull()
  })

  test('agree that nothing is found', async () => {
    expect(await run('search_page', { query: 'zzzqqq' })).toMatchObject({ pages: [], total: 0 })
    expect(await run('search_page', { query: '!!' })).toMatchObject({ pages: [] })
  })

  test('agree on a summary by title and by id', async () => {
    const byTitle = await run('get_summary', { title: 'River Spree', sentences: 2 })
    expect(byTitle).toMatchObject({
      title: 'River Spree',
      lang: 'en',
      extract: 'The Spree is a river. It flows through Berlin.',
      truncated: true,
      is_disambiguation: false,
    })
    const byId = await run('get_summary', { page_id: String(byTitle.page_id), sentences: 2 })
    expect({ ...byId, cache: 0, fetched_at: 0 }).toEqual({ ...byTitle, cache: 0, fetched_at: 0 })
    const revision = await safe.fetch({ url: byId.permanent_url, signal: AbortSignal.timeout(10_000) })
    expect(revision.status).toBe(200)
    expect(new TextDecoder().decode(revision.body)).toContain('is a river')
  })

  test('agree on a redirect', async () => {
    expect(await run('get_summary', { title: 'Spree' })).toMatchObject({
      title: 'River Spree',
      redirected_from: 'Spree',
    })
  })

  test('agree on a title beyond ASCII', async () => {
    expect(await run('get_summary', { title: 'käse' })).toMatchObject({
      title: 'Käse',
      url: expect.stringContaining('/K%C3%A4se'),
      extract: 'Käse is how cheese is called in Berlin.',
    })
  })

  test('agree on a disambiguation page', async () => {
    const bank = await run('get_summary', { title: 'Bank' })
    expect(bank).toMatchObject({ is_disambiguation: true, options: [{ title: 'River Spree' }] })
    expect(bank.options).toHaveLength(1)
  })

  test.each([{ title: 'Nowhere' }, { page_id: 999_999 }, { title: 'Special:Search' }])(
    'agree that %j is not there',
    async (params) => {
      await expect(run('get_summary', params)).rejects.toMatchObject({ code: 'not_found' })
    },
  )

  test('agree that an id is too large', async () => {
    await expect(run('get_summary', { page_id: 9_999_999_999 })).rejects.toMatchObject({
      code: expect.stringMatching(/^(not_found|invalid_request)$/),
    })
  })

  test('look up a title, a word and nonsense', async () => {
    expect(await run('lookup', { query: 'Berlin' })).toMatchObject({ page: { title: 'Berlin' } })
    expect(await run('lookup', { query: 'cheese' })).toMatchObject({ page: { title: 'Käse' }, results: [] })
    expect(await run('lookup', { query: 'zzzqqq' })).toEqual({ page: null, results: [] })
  })
})

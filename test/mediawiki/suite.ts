import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createWiki } from '../../agents/wiki/index.ts'
import type { Fetch } from '../../src/net/fetch/fetch.ts'
import { createSafeFetch, type SafeFetch } from '../../src/net/fetch/safe-fetch.ts'
import { createUpstreams } from '../../src/net/upstream/upstreams.ts'
import { failureOf, runAction } from '../support/agent.ts'
import { createTime } from '../support/time.ts'

/** A MediaWiki with the pages of `content.ts`: a running one, or recorded answers. */
export interface WikiSource extends AsyncDisposable {
  /** URL of its `api.php`. */
  readonly api: string
  /** Sees every request and answer. */
  readonly observe?: (fetch: Fetch) => Fetch
}

const now = Date.parse('2026-12-01T12:00:00Z')
const minute = 60_000
const address = (path: string) => expect.stringMatching(new RegExp(`^http://[^/]+/index.php/${path}$`))

const provenance = {
  source: { name: 'TestWiki', url: address('Main_Page'), provider: 'mediawiki' },
  license: { name: 'Example Licence 4.0', url: 'https://license.example/by-sa/4.0/' },
  fetched_at: '2026-12-01T12:00:00.000Z',
  cache: { hit: false, age_s: 0, stale: false },
  warnings: [],
}

/** Everything that the wiki agent does with a MediaWiki that works. */
export function describeWiki(name: string, open: () => Promise<WikiSource>): void {
  describe(name, () => {
    let source: WikiSource
    let safe: SafeFetch

    beforeAll(async () => {
      source = await open()
      safe = createSafeFetch({ user_agent: 'Dragoman (test)', allow_origins: [new URL(source.api).origin] })
    }, 90_000)

    afterAll(async () => {
      await safe?.[Symbol.asyncDispose]()
      await source?.[Symbol.asyncDispose]()
    })

    /** The agent with an empty cache; `requests` counts its requests. */
    function start() {
      let requests = 0
      const outside = source.observe?.(safe.fetch) ?? safe.fetch
      const fetch: Fetch = (request) => {
        requests++
        return outside(request)
      }
      const time = createTime(now)
      const upstreams = createUpstreams({ fetch, ...time })
      const settings = { url: source.api, contact: 'ops@example.org', languages: [] }
      const agent = createWiki({ ...upstreams, ...settings })
      return {
        time,
        requests: () => requests,
        run: (name: string, params: object) => runAction(agent, name, params),
      }
    }
    const run = (name: string, params: object) => start().run(name, params)

    describe('search_page', () => {
      test('returns the best hits first, as plain text, in one round trip', async () => {
        const wiki = start()
        const found = await wiki.run('search_page', { query: ' flows ' })
        expect(found).toEqual({
          pages: [
            {
              page_id: expect.any(Number),
              title: 'River Spree',
              snippet: expect.stringContaining('is a river & a name. It flows through Berlin. It is long.'),
              url: address('River_Spree'),
              word_count: expect.any(Number),
              extract: 'The Spree is a river & a name. It flows through Berlin. It is long.',
            },
          ],
          total: 1,
          attribution: expect.stringMatching(
            /^Pages, by the contributors of TestWiki \(.*Main_Page\), Example Licence 4\.0$/,
          ),
          ...provenance,
        })
        expect(wiki.requests()).toBe(1)
      })

      test('returns at most the requested number, and how many there are', async () => {
        const found = await run('search_page', { query: 'river', limit: 2 })
        expect(found.pages.length).toBeLessThanOrEqual(2)
        expect(found.total).toBeGreaterThan(2)
      })

      test('returns a page once, whatever redirects lead to it', async () => {
        const { pages } = await run('search_page', { query: 'spree', limit: 20 })
        const titles = pages.map(({ title }: { title: string }) => title)
        expect(titles).toEqual([...new Set(titles)])
        expect(titles).toContain('River Spree')
      })

      test.each(['zzzqqq', '!!', 'C#|[x]', '"'])('returns no pages for %j', async (query) => {
        expect(await run('search_page', { query })).toMatchObject({ pages: [] })
      })

      test('accepts the longest query, in any script', async () => {
        const query = '川'.repeat(300)
        expect(await run('search_page', { query })).toMatchObject({ pages: [] })
        expect(await run('lookup', { query })).toMatchObject({ page: null })
      })
    })

    describe('get_summary', () => {
      test('returns the introduction of a page with its revision, picture and licence', async () => {
        const wiki = start()
        expect(await wiki.run('get_summary', { title: 'River Spree' })).toEqual({
          page_id: expect.any(Number),
          title: 'River Spree',
          lang: 'en',
          extract: 'The Spree is a river & a name. It flows through Berlin. It is long. It is slow.',
          truncated: false,
          url: address('River_Spree'),
          permanent_url: address('River_Spree\\?oldid=\\d+'),
          revision_id: expect.any(Number),
          last_modified: expect.stringMatching(/^20\d\d-.*Z$/),
          thumbnail: { url: expect.stringMatching(/Spree\.png$/), width: 200, height: 150 },
          is_disambiguation: false,
          options: [],
          attribution: expect.stringMatching(
            /^River Spree, by the contributors of TestWiki \(.*River_Spree\), Example Licence 4\.0$/,
          ),
          ...provenance,
        })
        expect(wiki.requests()).toBe(1)
      })

      test('returns the same page by its id, as a number and as digits', async () => {
        const byTitle = await run('get_summary', { title: 'Berlin' })
        expect(await run('get_summary', { page_id: byTitle.page_id })).toEqual(byTitle)
        expect(await run('get_summary', { page_id: String(byTitle.page_id) })).toEqual(byTitle)
      })

      test('follows a redirect and states its title', async () => {
        const wiki = start()
        expect(await wiki.run('get_summary', { title: 'Spree' })).toMatchObject({
          title: 'River Spree',
          redirected_from: 'Spree',
        })
        expect(wiki.requests()).toBe(1)
      })

      test('cuts after the requested sentences, from one request', async () => {
        const wiki = start()
        expect(await wiki.run('get_summary', { title: 'Berlin', sentences: 2 })).toMatchObject({
          extract: 'Berlin is a city on the River Spree. It has a river.',
          truncated: true,
        })
        expect(await wiki.run('get_summary', { title: 'Berlin', sentences: 3 })).toMatchObject({
          truncated: false,
        })
        expect(wiki.requests()).toBe(1)
      })

      test('cuts a very long introduction at a sentence', async () => {
        const { extract, truncated } = await run('get_summary', { title: 'Long page' })
        expect(truncated).toBe(true)
        expect(extract).toMatch(/page\.$/)
        expect(extract.length).toBeGreaterThan(7_900)
        expect(extract.length).toBeLessThanOrEqual(8_000)
      })

      test('of a page without an introduction is empty', async () => {
        expect(await run('get_summary', { title: 'Empty' })).toMatchObject({ extract: '', truncated: false })
      })

      test('finds a title beyond ASCII, its first letter small', async () => {
        expect(await run('get_summary', { title: 'käse' })).toMatchObject({
          title: 'Käse',
          url: address('K%C3%A4se'),
          extract: 'Käse is how cheese is called in Berlin.',
        })
      })

      test('of a disambiguation page returns the pages it links to: not itself, no missing ones', async () => {
        const wiki = start()
        const bank = await wiki.run('get_summary', { title: 'Bank' })
        expect(bank).toMatchObject({
          is_disambiguation: true,
          options: [{ page_id: expect.any(Number), title: 'River Spree', url: address('River_Spree') }],
        })
        expect(bank.options).toHaveLength(1)
        wiki.time.pass(9 * minute)
        await wiki.run('get_summary', { title: 'Bank' })
        expect(wiki.requests()).toBe(2)
      })

      test('of a long disambiguation page returns fifty, by title', async () => {
        const { is_disambiguation, options } = await run('get_summary', { title: 'Many meanings' })
        const titles = options.map(({ title }: { title: string }) => title)
        expect(is_disambiguation).toBe(true)
        expect(titles).toHaveLength(50)
        expect(titles).toEqual(titles.toSorted())
      })

      test('of a page whose links need disambiguation is that of any page', async () => {
        expect(await run('get_summary', { title: 'Almost a bank' })).toMatchObject({
          is_disambiguation: false,
        })
      })

      test.each([{ title: 'Nowhere' }, { page_id: 999_999 }, { title: 'Special:Search' }])(
        'of %j is not_found and points at search_page',
        async (params) => {
          const failure = await failureOf(run('get_summary', params))
          expect(failure).toMatchObject({
            code: 'not_found',
            details: { hint: expect.stringContaining('search_page') },
          })
        },
      )

      test('of an id above the maximum of a wiki is a typed error', async () => {
        const failure = await failureOf(run('get_summary', { page_id: 9_999_999_999 }))
        expect(failure.code).toMatch(/^(not_found|invalid_request)$/)
        const largest = await failureOf(run('get_summary', { page_id: Number.MAX_SAFE_INTEGER }))
        expect(largest.code).toMatch(/^(not_found|invalid_request)$/)
      })

      test.each(['a%zz', '../x', ':', 'a~~~b'])(
        'of %j, which is not a valid title, is a typed error',
        async (title) => {
          const failure = await failureOf(run('get_summary', { title }))
          expect(failure.code).toMatch(/^(not_found|invalid_request)$/)
        },
      )

      test.each([
        {},
        { page_id: 1, title: 'One' },
        { page_id: 0 },
        { page_id: -1 },
        { page_id: 1.5 },
        { page_id: 2 ** 53 },
        { page_id: 'abc' },
        { page_id: '12|13' },
        { title: 'A|B' },
        { title: 'C#' },
        { title: 'a[b' },
        { title: 'x'.repeat(256) },
        { page_id: 1, sentences: 0 },
        { page_id: 1, sentences: 11 },
      ])('refuses %j before any request', async (params) => {
        const wiki = start()
        expect((await failureOf(wiki.run('get_summary', params))).code).toBe('invalid_request')
        expect(wiki.requests()).toBe(0)
      })
    })

    describe('lookup', () => {
      test('returns the page of that title and the other hits, in one round trip', async () => {
        const wiki = start()
        const found = await wiki.run('lookup', { query: 'berlin' })
        expect(found.page).toMatchObject({ title: 'Berlin', revision_id: expect.any(Number) })
        expect(found).toMatchObject(provenance)
        const titles = found.results.map(({ title }: { title: string }) => title)
        expect(titles).toContain('River Spree')
        expect(titles).not.toContain('Berlin')
        expect(wiki.requests()).toBe(1)
      })

      test('returns the best hit if there is no such title, in one round trip', async () => {
        const wiki = start()
        const found = await wiki.run('lookup', { query: 'cheese' })
        expect(found).toMatchObject({ page: { title: 'Käse' }, results: [] })
        expect(wiki.requests()).toBe(1)
      })

      test('returns the page that a redirect of that title leads to, and says so', async () => {
        const { page } = await run('lookup', { query: 'spree' })
        expect(page).toMatchObject({ title: 'River Spree', redirected_from: 'Spree' })
      })

      test('returns the page of a title that many others mention, in at most two round trips', async () => {
        const wiki = start()
        expect(await wiki.run('lookup', { query: 'Many meanings' })).toMatchObject({
          page: { title: 'Many meanings', is_disambiguation: true },
        })
        expect(await wiki.run('lookup', { query: 'meaning 07' })).toMatchObject({
          page: { title: 'Meaning 07' },
        })
      })

      test.each(['zzzqqq', 'C#|[x]', '!!'])('returns null for %j', async (query) => {
        expect(await run('lookup', { query })).toMatchObject({ page: null, results: [], ...provenance })
      })
    })

    test('a second search within ten minutes sends no request, and states the age of its answer', async () => {
      const wiki = start()
      await wiki.run('search_page', { query: 'flows' })
      wiki.time.pass(9 * minute)
      expect(await wiki.run('search_page', { query: 'flows' })).toMatchObject({
        cache: { hit: true, age_s: 540, stale: false },
      })
      expect(wiki.requests()).toBe(1)
    })
  })
}

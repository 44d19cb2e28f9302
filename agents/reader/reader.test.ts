import { gzipSync } from 'node:zlib'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type { Action, Context } from '../../schemas/action.ts'
import { createSafeFetch } from '../../src/net/fetch/safe-fetch.ts'
import { rejection, serve } from '../../test/net/support.ts'
import { hintFor } from './extract-content.ts'
import { createExtractor } from './extractor.ts'
import { emptyReasons } from './html-to-markdown/empty-reason.ts'
import { createReader } from './index.ts'
import type { FetchPage } from './port.ts'

const filler = 'It was a long sentence, with commas, of the kind that articles are made of. '.repeat(12)
const html = (body: string, head = '<title>A title</title>') => `<!doctype html>${head}<body>${body}</body>`
const latin = (text: string) => Buffer.from(text, 'latin1')
const parts = Array.from({ length: 40 }, (_, number) => `<p>Part ${number}. ${filler}</p>`).join('')

/** The answer of the server at a path: a type, a body, and anything unusual. */
const site: Record<
  string,
  { type?: string; body?: string | Buffer; status?: number; headers?: Record<string, string> }
> = {
  '/article': {
    type: 'text/html; charset=utf-8',
    body: html(`<article><h2>Hällo</h2><p>${filler}</p></article>`),
  },
  '/long': { type: 'text/html', body: html(`<article>${parts}</article>`) },
  '/moved': { status: 301, headers: { location: '/article' } },
  '/plain': { type: 'text/plain', body: '# not *changed* <b>\n' },
  '/markdown': { type: 'text/markdown; charset=utf-8', body: '# Title\n\n- ä\n' },
  '/data.json': { type: 'application/json', body: '{"a":"```"}' },
  '/problem.json': { type: 'application/problem+json', body: '{"b":1}' },
  '/data.csv': { type: 'text/csv', body: 'a,b\n1,2\n' },
  '/feed.xml': { type: 'application/rss+xml', body: '<rss><title>x</title></rss>' },
  '/untyped.html': { body: html(`<p>${filler}</p>`) },
  '/untyped.txt': { body: 'a < b\n' },
  '/empty': { type: 'text/html', body: '' },
  '/image': { type: 'image/png', body: latin('\x89PNG\r\n\x1a\n') },
  '/lying-image': { type: 'text/html', body: latin('\x89PNG\r\n\x1a\n\0\0') },
  '/pdf': { type: 'application/pdf', body: '%PDF-1.7' },
  '/no-pdf': { type: 'application/pdf', body: 'Pay first.' },
  '/lying-pdf': { type: 'text/plain', body: '%PDF-1.7' },
  '/video': { type: 'video/mp4', body: 'x' },
  '/bytes': { type: 'application/octet-stream', body: 'text, or so it seems' },
  '/garbage': {
    type: 'text/html',
    body: Buffer.from(Uint8Array.from({ length: 5000 }, (_, index) => (index * 7919) >> 3)),
  },
  '/shift-jis': {
    type: 'text/html',
    body: latin(html('<p>\x93\xfa\x96\x7b\x8c\xea</p>', '<meta charset="Shift_JIS">')),
  },
  '/gbk': {
    type: 'text/html',
    body: latin(
      html('<p>\xd6\xd0\xce\xc4</p>', '<meta http-equiv="Content-Type" content="text/html; charset=gb2312">'),
    ),
  },
  '/1251': {
    type: 'text/html; charset=windows-1251',
    body: latin(html('<p>\xcf\xf0\xe8\xe2\xe5\xf2</p>', '<meta charset="utf-8">')),
  },
  '/1252': { type: 'text/html', body: latin(html('<p>caf\xe9 \x80</p>')) },
  '/utf-16': { type: 'text/html', body: Buffer.from(`\ufeff${html('<p>Привет</p>')}`, 'utf16le') },
  '/utf-7': { type: 'text/html; charset=utf-7', body: html('<p>+ADw-script+AD4-</p>') },
  '/late-meta': {
    type: 'text/html',
    body: html('<p>ä</p>', `<!--${' '.repeat(1100)}--><meta charset="koi8-r">`),
  },
  '/app': {
    type: 'text/html',
    body: html(
      '<div id="root"></div><script src="app.js"></script><noscript>Please enable JavaScript.</noscript>',
    ),
  },
  '/login': { type: 'text/html', body: html('<h1>Sign in</h1><form><input type="password"></form>') },
  '/bomb': {
    type: 'text/html',
    headers: { 'content-encoding': 'gzip' },
    body: gzipSync(Buffer.alloc(32 * 1024 * 1024)),
  },
  '/unavailable': {
    status: 503,
    type: 'text/html',
    body: html('<h1>Down</h1>'),
    headers: { 'retry-after': '120' },
  },
  '/busy': { status: 429, headers: { 'retry-after': '7' } },
  '/error': { status: 500, type: 'text/html', body: html('<h1>Oops</h1>') },
  '/gone': { status: 410 },
  '/forbidden': { status: 403 },
  '/unauthorised': { status: 401 },
  '/teapot': { status: 418 },
}

let now = Date.parse('2026-11-21T12:00:00Z')
let read: (params: { url: string } & Record<string, unknown>, signal?: AbortSignal) => Promise<Content>

type Content = Record<string, unknown> & { markdown: string; next_cursor: string | null }

const server = await serve((request, response) => {
  const page = site[new URL(request.url ?? '/', 'http://x').pathname]
  if (request.url === '/hang') return
  if (!page) return response.writeHead(404).end('nothing here')
  response.writeHead(page.status ?? 200, {
    ...(page.type && { 'content-type': page.type }),
    ...page.headers,
  })
  response.end(page.body)
})
const outside = createSafeFetch({ user_agent: 'test', allow_origins: [server.origin] })
const extractor = createExtractor({ worker: new URL('./worker.ts', import.meta.url) })

afterAll(async () => {
  for (const resource of [extractor, outside, server]) await resource?.[Symbol.asyncDispose]()
})

beforeEach(() => {
  read = reader(outside.fetch)
})

/** A reader with an empty cache, called as the router calls it; relative URLs are the server's. */
function reader(fetch: FetchPage): typeof read {
  const agent = createReader({ fetch, extract: extractor.extract, clock: () => now })
  const action = agent.actions[0] as Action<unknown, Content>
  return async (params, signal = new AbortController().signal) => {
    const context: Context = {
      id: 'test',
      principal: null,
      signal,
      deadline: Infinity,
      via: [],
      emit: async () => {},
      attach() {},
      call: () => Promise.reject(new Error('calls nobody')),
    }
    const input = action.input.parse({ ...params, url: params.url.replace(/^\//, `${server.origin}/`) })
    return action.output.parse(await action.run(input, context))
  }
}

test('the agent has the names of the interface', () => {
  const agent = createReader({ fetch: outside.fetch, extract: extractor.extract, clock: () => now })
  expect(agent).toMatchObject({
    package_name: 'svc.utility.reader',
    tags: ['test'],
    category: 'utilities',
    target: 'developer',
  })
  expect(agent.actions.map(({ name, access, advertised }) => ({ name, access, advertised }))).toEqual([
    { name: 'extract_content', access: { scope: 'a2a:call' }, advertised: true },
  ])
  expect(agent.actions[0]?.input.json.required).toEqual(['url'])
})

test('a page is read whole, with its source', async () => {
  const content = await read({ url: '/moved' })
  expect(content.markdown).toBe(`## Hällo\n\n${filler.trim()}`)
  expect(content).toMatchObject({
    url: `${server.origin}/moved`,
    final_url: `${server.origin}/article`,
    status: 200,
    content_type: 'text/html',
    charset: 'utf-8',
    title: 'A title',
    byline: null,
    word_count: 181,
    extractor: 'blocks',
    truncated: false,
    next_cursor: null,
    empty_reason: null,
    content_trust: 'untrusted',
    source: { name: new URL(server.origin).host, url: `${server.origin}/article` },
    fetched_at: '2026-11-21T12:00:00.000Z',
    cache: { hit: false, age_s: 0, stale: false },
    warnings: [],
  })
})

test('the options decide what is included', async () => {
  const wants = [{}, { selector: 'h2' }, { mode: 'full' }, { include_links: false }, { selector: '.absent' }]
  const contents = await Promise.all(wants.map((want) => read({ url: '/article', ...want })))
  expect(contents.map(({ extractor }) => extractor)).toEqual([
    'blocks',
    'selector',
    'whole',
    'blocks',
    'selector',
  ])
  expect(contents[1]?.markdown).toBe('## Hällo')
  expect(contents[4]).toMatchObject({ markdown: '', empty_reason: 'no_match', hint: expect.any(String) })
})

test('plain text has no Markdown syntax', async () => {
  expect((await read({ url: '/article', format: 'text' })).markdown).toBe(`Hällo\n\n${filler.trim()}`)
})

test.each([
  ['/plain', '# not *changed* <b>\n'],
  ['/markdown', '# Title\n\n- ä\n'],
  ['/data.json', '````json\n{"a":"```"}\n````'],
  ['/problem.json', '```json\n{"b":1}\n```'],
  ['/data.csv', '| a | b |\n| - | - |\n| 1 | 2 |'],
  ['/feed.xml', '<rss><title>x</title></rss>'],
  ['/untyped.txt', 'a < b\n'],
])('%s is returned unchanged', async (url, markdown) => {
  expect(await read({ url })).toMatchObject({ markdown, extractor: 'verbatim' })
})

test('a page without a type is recognised by its first bytes', async () => {
  expect(await read({ url: '/untyped.html' })).toMatchObject({ extractor: 'blocks', content_type: null })
})

test.each([
  ['/shift-jis', 'shift_jis', '日本語'],
  ['/gbk', 'gbk', '中文'],
  ['/1251', 'windows-1251', 'Привет'],
  ['/1252', 'windows-1252', 'café €'],
  ['/utf-16', 'utf-16le', 'Привет'],
  ['/utf-7', 'utf-8', '+ADw-script+AD4-'],
  ['/late-meta', 'utf-8', 'ä'],
])('%s is decoded as %s', async (url, charset, markdown) => {
  expect(await read({ url })).toMatchObject({ charset, markdown })
})

test.each([
  ['/app', 'js_only_page'],
  ['/login', 'login_wall'],
  ['/empty', 'no_text'],
])('%s is empty because of %s', async (url, empty_reason) => {
  expect(await read({ url })).toMatchObject({ empty_reason })
})

test.each([
  ['/image', 'image/png'],
  ['/lying-image', 'image/png'],
  ['/pdf', 'The PDF is broken'],
  ['/lying-pdf', 'The PDF is broken'],
  ['/no-pdf', 'labelled as a PDF'],
  ['/video', 'video/mp4'],
  ['/bytes', 'application/octet-stream'],
  ['/garbage', 'binary data'],
])('%s is refused as %s', async (url, type) => {
  const failure = await rejection(read({ url }))
  expect(failure).toMatchObject({ code: 'upstream_invalid', message: expect.stringContaining(type) })
})

test.each([
  ['/nothing', 'not_found', { upstream: { status: 404 } }],
  ['/gone', 'not_found', { upstream: { status: 410 } }],
  ['/unauthorised', 'upstream_failed', { upstream: { status: 401 }, hint: expect.any(String) }],
  ['/forbidden', 'upstream_failed', { upstream: { status: 403 }, hint: expect.any(String) }],
  ['/busy', 'upstream_failed', { upstream: { status: 429 }, retry_after_s: 7 }],
  ['/error', 'upstream_failed', { upstream: { status: 500 } }],
  ['/unavailable', 'upstream_failed', { upstream: { status: 503 }, retry_after_s: 120 }],
  ['/teapot', 'upstream_failed', { upstream: { status: 418 } }],
  ['/bomb', 'too_large', {}],
  ['http://169.254.169.254/', 'blocked_address', { hint: expect.stringContaining('DRAGOMAN_ALLOW_ORIGINS') }],
  ['file:///etc/passwd', 'invalid_request', { errors: [{ pointer: '/url', detail: expect.any(String) }] }],
  [
    'example.com',
    'invalid_request',
    { errors: [{ pointer: '/url', detail: expect.stringContaining('begin it with https://') }] },
  ],
])('%s fails as %s', async (url, code, details) => {
  expect(await rejection(read({ url }))).toMatchObject({ code, details })
})

test('a server that hangs times out', async () => {
  const impatient = reader((request) => outside.fetch({ ...request, timeout_ms: 100 }))
  expect(await rejection(impatient({ url: '/hang' }))).toMatchObject({ code: 'upstream_timeout' })
})

test('a caller that disconnects gets cancelled', async () => {
  const failure = await rejection(read({ url: '/hang' }, AbortSignal.timeout(50)))
  expect(failure).toMatchObject({ code: 'cancelled' })
})

describe('a long page', () => {
  test('has parts that make up the whole, from one reading', async () => {
    const whole = (await read({ url: '/long', max_chars: 200_000 })).markdown
    const before = server.hits()
    const got: string[] = []
    let cursor: string | null = null
    do {
      const part: Content = await read({ url: '/long', max_chars: 5_000, ...(cursor && { cursor }) })
      expect(part.markdown.length).toBeLessThanOrEqual(5_000)
      expect(part.truncated).toBe(part.next_cursor !== null)
      got.push(part.markdown)
      cursor = part.next_cursor
    } while (cursor)
    expect(got.join('')).toBe(whole)
    expect(got.length).toBeGreaterThan(7)
    expect(got[0]).toMatch(/\n\n$/)
    expect(server.hits()).toBe(before)
  })

  test('is cached for a minute and then read again', async () => {
    await read({ url: '/long' })
    now += 30_000
    expect(await read({ url: '/long' })).toMatchObject({ cache: { hit: true, age_s: 30 } })
    now += 30_000
    expect(await read({ url: '/long' })).toMatchObject({ cache: { hit: false, age_s: 0 } })
  })

  test('that has changed in between is not continued', async () => {
    const { next_cursor } = await read({ url: '/long', max_chars: 5_000 })
    now += 61_000
    const original = site['/long']
    site['/long'] = { type: 'text/html', body: html(`<article>${parts}<p>More.</p></article>`) }
    const failure = await rejection(read({ url: '/long', max_chars: 5_000, cursor: next_cursor }))
    if (original) site['/long'] = original
    expect(failure).toMatchObject({ code: 'invalid_request', details: { errors: [{ pointer: '/cursor' }] } })
  })

  test('refuses malformed cursors and cursors of another page', async () => {
    const { next_cursor } = await read({ url: '/long', max_chars: 5_000 })
    const far = { ...JSON.parse(Buffer.from(next_cursor ?? '', 'base64url').toString()), offset: 9_999_999 }
    const junk = ['', 'x', 'e30', '%%%', 'bnVsbA', Buffer.from(JSON.stringify(far)).toString('base64url')]
    const attempts = [
      ...junk.map((cursor) => read({ url: '/long', cursor })),
      read({ url: '/article', cursor: next_cursor }),
      read({ url: '/long', format: 'text', cursor: next_cursor }),
      read({ url: '/long', mode: 'full', cursor: next_cursor }),
      read({ url: '/long', selector: 'p', cursor: next_cursor }),
      read({ url: '/long', include_links: false, cursor: next_cursor }),
      read({ url: '/long', include_images: false, cursor: next_cursor }),
    ]
    for (const failure of await Promise.all(attempts.map(rejection))) {
      expect(failure).toMatchObject({
        code: 'invalid_request',
        details: { errors: [{ pointer: '/cursor' }] },
      })
    }
  })

  test('never ends a part within a character', async () => {
    site['/emoji'] = { type: 'text/plain; charset=utf-8', body: '😀'.repeat(200) }
    const { markdown } = await read({ url: '/emoji', max_chars: 101 })
    expect(markdown).toBe('😀'.repeat(50))
  })
})

test.each([
  [{}, '/url'],
  [{ url: 'http://x.test', max_chars: 99 }, '/max_chars'],
  [{ url: 'http://x.test', format: 'html' }, '/format'],
  [{ url: 'http://x.test', what: 1 }, '/what'],
  [{ url: 'http://x.test', selector: 'p:has(b)' }, '/selector'],
  [{ url: 'http://x.test', selector: 'p'.repeat(201) }, '/selector'],
  [{ url: 'http://x.test', mode: 'half' }, '/mode'],
  [{ url: 'http://x.test', include_links: 'no' }, '/include_links'],
])('params %j are refused at %s', (params, pointer) => {
  const agent = createReader({ fetch: outside.fetch, extract: extractor.extract, clock: () => now })
  expect(() => agent.actions[0]?.input.parse(params)).toThrow(
    expect.objectContaining({
      code: 'invalid_request',
      details: expect.objectContaining({ errors: [expect.objectContaining({ pointer })] }),
    }),
  )
})

test.each(emptyReasons)('%s has a hint', (reason) => {
  expect(hintFor(reason)).toMatch(/\.$/)
})

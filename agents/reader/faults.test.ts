import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Action, Context } from '../../schemas/action.ts'
import { createSafeFetch } from '../../src/net/fetch/safe-fetch.ts'
import { rejection, serve, serveRaw, type TestServer } from '../../test/net/support.ts'
import { createExtractor } from './extractor.ts'
import { createReader } from './index.ts'

const bomb = Buffer.alloc(24 * 1024 * 1024)
const html = { 'content-type': 'text/html' }
const page = '<p>An ordinary page.</p>'

/** The answer of a server, and the code that the caller receives; null if the page is still read. */
const faults: Record<
  string,
  readonly [headers: Record<string, string>, body: string | Buffer, code: string | null]
> = {
  'a gzip bomb': [{ ...html, 'content-encoding': 'gzip' }, gzipSync(bomb), 'too_large'],
  'a brotli bomb': [
    { ...html, 'content-encoding': 'br' },
    brotliCompressSync(bomb, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
    'too_large',
  ],
  'a deflate bomb': [{ ...html, 'content-encoding': 'deflate' }, deflateSync(bomb), 'too_large'],
  'a bomb labelled as a PDF': [
    { 'content-type': 'application/pdf', 'content-encoding': 'gzip' },
    gzipSync(bomb),
    'too_large',
  ],
  'a bomb that is too large before it is unpacked': [html, bomb, 'too_large'],
  'two codings at once': [
    { ...html, 'content-encoding': 'gzip, gzip' },
    gzipSync(gzipSync(page)),
    'upstream_invalid',
  ],
  'a coding nobody asked for': [{ ...html, 'content-encoding': 'zstd' }, page, 'upstream_invalid'],
  'a coding that is a lie': [{ ...html, 'content-encoding': 'gzip' }, page, 'upstream_invalid'],
  'half of a coded page': [
    { ...html, 'content-encoding': 'gzip' },
    gzipSync(bomb).subarray(0, 200),
    'upstream_invalid',
  ],
  'a picture called a page': [html, Buffer.from('\x89PNG\r\n\x1a\n\0\0', 'latin1'), 'upstream_invalid'],
  'a page called a picture': [{ 'content-type': 'image/png' }, page, 'upstream_invalid'],
  'a page called a PDF': [{ 'content-type': 'application/pdf' }, page, 'upstream_invalid'],
  'an archive called text': [
    { 'content-type': 'text/plain' },
    Buffer.from('PK\x03\x04...'),
    'upstream_invalid',
  ],
  'bytes that are no UTF-8': [
    { 'content-type': 'text/html; charset=utf-8' },
    Buffer.from('<p>\xff\xfe\xc3(</p>', 'latin1'),
    null,
  ],
  'a charset that does not exist': [{ 'content-type': 'text/html; charset=klingon' }, page, null],
  '50,000 elements, one in the other': [html, '<div>'.repeat(50_000) + page, null],
  'headers that say nothing': [{}, page, null],
}

let server: TestServer
let read: (url: string) => Promise<{ markdown: string }>
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  server = stack.use(
    await serve((request, response) => {
      const name = decodeURIComponent(request.url?.slice(1) ?? '')
      if (name === 'ordinary') return response.writeHead(200, html).end(page)
      if (name === 'loop') return response.writeHead(302, { location: '/loop' }).end()
      if (name === 'file') return response.writeHead(302, { location: 'file:///etc/passwd' }).end()
      if (name === 'data') return response.writeHead(302, { location: 'data:text/html,x' }).end()
      if (name === 'drip') {
        response.writeHead(200, html).write('<p>')
        const timer = setInterval(() => response.write('x'), 10)
        return response.on('close', () => clearInterval(timer))
      }
      const [headers, body] = faults[name] ?? [{}, '']
      response.writeHead(200, headers).end(body)
    }),
  )
  const outside = stack.use(createSafeFetch({ user_agent: 'test', allow_origins: [server.origin] }))
  const extractor = stack.use(createExtractor({ worker: new URL('./worker.ts', import.meta.url) }))
  const agent = createReader({
    fetch: (request) =>
      outside.fetch({ ...request, timeout_ms: request.url.endsWith('/drip') ? 400 : 20_000 }),
    extract: extractor.extract,
    clock: Date.now,
  })
  read = readerOf(agent.actions[0] as Action<unknown, { markdown: string }>)
})
afterAll(() => stack.disposeAsync())

function readerOf(action: Action<unknown, { markdown: string }>): typeof read {
  const context: Context = {
    id: 'test',
    principal: null,
    signal: new AbortController().signal,
    deadline: Infinity,
    via: [],
    emit: async () => {},
    attach() {},
    call: () => Promise.reject(new Error('calls nobody')),
  }
  return (url) => action.run(action.input.parse({ url: new URL(url, server.origin).href }), context)
}

test.each(Object.entries(faults).map(([name, [, , code]]) => [name, code] as const))(
  '%s ends as %s, and a page read at the same time is not affected',
  async (name, code) => {
    const faulty = read(`/${encodeURIComponent(name)}`)
    const outcome = code === null ? faulty : rejection(faulty)
    expect((await read('/ordinary')).markdown).toBe('An ordinary page.')
    expect(await outcome).toMatchObject(code === null ? { empty_reason: null } : { code })
  },
)

test.each([
  ['drip', 'upstream_timeout'],
  ['loop', 'upstream_invalid'],
  ['file', 'upstream_invalid'],
  ['data', 'upstream_invalid'],
])('a server with an endless redirect (%s) ends as %s', async (path, code) => {
  expect(await rejection(read(`/${path}`))).toMatchObject({ code })
})

test.each([
  ['shorter than it said', 'HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nshort', 'upstream_failed'],
  [
    'of two lengths',
    'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello',
    'upstream_invalid',
  ],
  ['that is no HTTP', 'SSH-2.0-OpenSSH\r\n', 'upstream_invalid'],
])('an answer %s is refused', async (_, bytes, code) => {
  await using raw = await serveRaw((socket) => socket.end(bytes))
  await using outside = createSafeFetch({ user_agent: 'test', allow_origins: [raw.origin] })
  const unread = () => Promise.reject(new Error('nothing to read'))
  const agent = createReader({ fetch: outside.fetch, extract: unread, clock: Date.now })
  expect(await rejection(readerOf(agent.actions[0] as never)(raw.origin))).toMatchObject({ code })
})

test('a redirect from https to http is reported', async () => {
  const extractor = createExtractor({ worker: new URL('./worker.ts', import.meta.url) })
  stack.use(extractor)
  const agent = createReader({
    fetch: async () => ({
      status: 200,
      headers: html,
      url: 'http://a.test/',
      redirects: ['https://a.test/'],
      body: Buffer.from(page),
    }),
    extract: extractor.extract,
    clock: Date.now,
  })
  const outcome = await readerOf(agent.actions[0] as never)('https://a.test/')
  expect(outcome).toMatchObject({ warnings: ['A redirect led from https to http.'] })
})

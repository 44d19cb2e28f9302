import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import type { FetchRequest } from '../../src/net/fetch/fetch.ts'
import { createSafeFetch } from '../../src/net/fetch/safe-fetch.ts'
import { rejection, resolver, serve, serveRaw } from './support.ts'

const signal = new AbortController().signal

const echo = (headers: object, method: string | undefined, body: string) =>
  JSON.stringify({ method, headers, body })

const other = await serve(async (request, response) => {
  const chunks = await request.toArray()
  response.end(echo(request.headers, request.method, Buffer.concat(chunks).toString()))
})
const server = await serve(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://x')
  const chunks = await request.toArray()
  const repeated = Buffer.alloc(1024 * 1024, 'a')
  switch (pathname) {
    case '/echo':
      return response.end(echo(request.headers, request.method, Buffer.concat(chunks).toString()))
    case '/to':
      response.writeHead(Number(searchParams.get('status')), { location: searchParams.get('url') ?? '' })
      return response.end('moved')
    case '/count': {
      const left = Number(searchParams.get('left'))
      if (left === 0) return response.end('arrived')
      return response.writeHead(302, { location: `?left=${left - 1}` }).end()
    }
    case '/loop':
      return response.writeHead(302, { location: '/loop' }).end()
    case '/status':
      return response.writeHead(418, { 'set-cookie': 'a=1', 'x-twice': ['1', '2'] }).end('teapot')
    case '/nowhere':
      return response.writeHead(302).end('no location')
    case '/gzip':
      return response.setHeader('content-encoding', 'gzip').end(gzipSync('zipped'))
    case '/br':
      return response.setHeader('content-encoding', 'BR').end(brotliCompressSync('zipped'))
    case '/deflate':
      return response.setHeader('content-encoding', 'deflate').end(deflateSync('zipped'))
    case '/empty-gzip':
      return response.setHeader('content-encoding', 'gzip').end()
    case '/broken-gzip':
      return response.setHeader('content-encoding', 'gzip').end('this is not gzip')
    case '/short-gzip':
      return response.setHeader('content-encoding', 'gzip').end(gzipSync(repeated).subarray(0, 100))
    case '/gzip-bomb':
      return response
        .setHeader('content-encoding', 'gzip')
        .end(gzipSync(Buffer.concat(Array(16).fill(repeated))))
    case '/br-bomb':
      return response.setHeader('content-encoding', 'br').end(
        brotliCompressSync(Buffer.concat(Array(16).fill(repeated)), {
          params: { [constants.BROTLI_PARAM_QUALITY]: 4 },
        }),
      )
    case '/double':
      return response.setHeader('content-encoding', 'gzip, gzip').end(gzipSync(gzipSync('twice')))
    case '/exotic':
      return response.setHeader('content-encoding', 'zstd').end('whatever')
    case '/large':
      return response.end(repeated)
    case '/promises-much':
      response.writeHead(200, { 'content-length': '999999999' }).flushHeaders()
      return
    case '/drip': {
      response.write('.')
      const timer = setInterval(() => response.write('.'), 20)
      return response.on('close', () => clearInterval(timer))
    }
    case '/header-flood':
      return response.setHeader('x-flood', 'a'.repeat(17_000)).end()
    default:
      return // hangs before its headers
  }
})
const guard = createSafeFetch({
  user_agent: 'dragoman/test (mailto:x@example.com)',
  allow_origins: [server.origin, other.origin],
})

afterAll(async () => {
  for (const resource of [guard, server, other]) await resource?.[Symbol.asyncDispose]()
})

const get = (path: string, more: Partial<FetchRequest> = {}) =>
  guard.fetch({ url: `${server.origin}${path}`, signal, ...more })
const body = async (answer: ReturnType<typeof get>) => Buffer.from((await answer).body).toString()
const failing = (path: string, more: Partial<FetchRequest> = {}) => rejection(get(path, more))

describe('an ordinary fetch', () => {
  test('sends its user agent, asks for two codings, and sends neither cookies nor a foreign host', async () => {
    const headers = { Accept: 'text/html', Cookie: 'a=1', Host: 'evil.example', 'User-Agent': 'other' }
    const echoed = JSON.parse(await body(get('/echo', { headers })))
    expect(echoed.headers).toMatchObject({
      accept: 'text/html',
      'accept-encoding': 'gzip, br',
      'user-agent': 'dragoman/test (mailto:x@example.com)',
      host: new URL(server.origin).host,
    })
    expect(echoed.headers).not.toHaveProperty('cookie')
  })

  test('returns an error status as an answer, without its cookies', async () => {
    const answer = await get('/status')
    expect(answer).toMatchObject({ status: 418, url: `${server.origin}/status`, redirects: [] })
    expect(answer.headers).toMatchObject({ 'x-twice': '1, 2' })
    expect(answer.headers).not.toHaveProperty('set-cookie')
  })

  test('posts a body, and sends HEAD', async () => {
    expect(JSON.parse(await body(get('/echo', { method: 'POST', body: '{"a":1}' })))).toMatchObject({
      method: 'POST',
      body: '{"a":1}',
    })
    expect(await get('/gzip', { method: 'HEAD' })).toMatchObject({ status: 200, body: new Uint8Array() })
  })

  test.each(['/gzip', '/br', '/deflate'])('decodes %s', async (path) => {
    expect(await body(get(path))).toBe('zipped')
  })

  test('accepts an empty body with a content coding as empty', async () => {
    expect(await body(get('/empty-gzip'))).toBe('')
  })

  test('refuses a header that would split the request', async () => {
    const failure = await failing('/echo', { headers: { accept: 'a\r\nx-evil: 1' } })
    expect(failure).toMatchObject({ code: 'invalid_request' })
  })
})

describe('a redirect', () => {
  test('is followed at most five times', async () => {
    const answer = await get('/count?left=5')
    expect(answer.url).toBe(`${server.origin}/count?left=0`)
    expect(answer.redirects).toHaveLength(5)
    expect(await failing('/count?left=6')).toMatchObject({ code: 'upstream_invalid' })
    expect(await failing('/loop')).toMatchObject({ code: 'upstream_invalid' })
  })

  test('without a location is the answer itself', async () => {
    expect(await get('/nowhere')).toMatchObject({ status: 302 })
  })

  test.each([
    [301, 'GET', ''],
    [302, 'GET', ''],
    [303, 'GET', ''],
    [307, 'POST', 'x'],
    [308, 'POST', 'x'],
  ])('of status %i makes a POST a %s', async (status, method, sent) => {
    const path = `/to?status=${status}&url=/echo`
    expect(JSON.parse(await body(get(path, { method: 'POST', body: 'x' })))).toMatchObject({
      method,
      body: sent,
    })
  })

  test('that makes a GET of a call is refused, with the address to publish', async () => {
    const call = { method: 'POST', body: 'x', same_origin_only: true } as const
    expect(await failing('/to?status=301&url=/echo?key=k', call)).toMatchObject({
      code: 'upstream_invalid',
      message: expect.stringMatching(/ redirects to http:\/\/127\.0\.0\.1:\d+\/echo\.$/),
      details: { hint: expect.stringContaining('makes a GET of a POST') },
    })
    expect(JSON.parse(await body(get('/to?status=307&url=/echo', call)))).toMatchObject({ body: 'x' })
  })

  test('keeps credentials within an origin and drops them for another', async () => {
    const headers = { authorization: 'Bearer t', 'x-api-key': 'k', accept: 'text/html' }
    const within = JSON.parse(await body(get('/to?status=302&url=/echo', { headers })))
    const redirected = JSON.parse(await body(get(`/to?status=307&url=${other.origin}/`, { headers })))
    expect(within.headers).toMatchObject(headers)
    expect(redirected.headers).toMatchObject({ accept: 'text/html' })
    expect(redirected.headers).not.toHaveProperty('authorization')
    expect(redirected.headers).not.toHaveProperty('x-api-key')
  })
})

describe('an allowed origin', () => {
  test('does not allow its redirect targets', async () => {
    await using secret = await serve((_request, response) => response.end('secret'))
    const failure = await failing(`/to?status=302&url=${secret.origin}/`)
    expect(failure).toMatchObject({ code: 'blocked_address' })
    expect(secret.hits()).toBe(0)
  })

  test('is allowed by name too, whatever the name resolves to', async () => {
    const lookup = resolver({ 'wiki.internal': [['127.0.0.1']], localhost: [['127.0.0.1']] })
    const origin = `http://wiki.internal:${server.port}`
    await using fetcher = createSafeFetch({ user_agent: 'test', lookup, allow_origins: [`${origin}/`] })
    expect((await fetcher.fetch({ url: `${origin}/status`, signal })).status).toBe(418)
    const failure = await rejection(fetcher.fetch({ url: `http://localhost:${server.port}/`, signal }))
    expect(failure).toMatchObject({ code: 'blocked_address' })
  })

  test.each(['127.0.0.1', 'localhost', 'LOCALHOST.', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0', '127.9'])(
    "is refused if it is the gateway's own, spelt %s",
    async (host) => {
      const origin = `http://${host}:${server.port}`
      await using fetcher = createSafeFetch({
        user_agent: 'test',
        allow_origins: [origin],
        refuse_origins: () => [server.origin],
      })
      const before = server.hits()
      const failure = await rejection(fetcher.fetch({ url: `${origin}/status`, signal }))
      expect(failure).toMatchObject({ code: 'blocked_address', message: 'The gateway does not call itself.' })
      expect(server.hits()).toBe(before)
    },
  )
})

describe('a faulty upstream', () => {
  test.each(['/hang', '/drip'])('whose answer never ends (%s) times out', async (path) => {
    expect(await failing(path, { timeout_ms: 120 })).toMatchObject({ code: 'upstream_timeout' })
  })

  test.each(['/gzip-bomb', '/br-bomb', '/large', '/promises-much'])(
    'that sends too much (%s) is cut off',
    async (path) => {
      expect(await failing(path, { max_bytes: 100_000 })).toMatchObject({ code: 'too_large' })
    },
  )

  test.each(['/double', '/exotic', '/broken-gzip', '/short-gzip', '/header-flood'])(
    'that sends a malformed answer (%s) is invalid',
    async (path) => {
      expect(await failing(path)).toMatchObject({ code: 'upstream_invalid' })
    },
  )

  test.each([
    ['a garbage status line', 'HELO 999 what\r\n\r\n', 'upstream_invalid'],
    ['not HTTP at all', '220 mail.example ESMTP\r\n', 'upstream_invalid'],
    ['a body shorter than it said', 'HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nshort', 'upstream_failed'],
    [
      'two lengths',
      'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello',
      'upstream_invalid',
    ],
    [
      'a broken chunk',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nhello',
      'upstream_invalid',
    ],
    ['nothing', '', 'upstream_failed'],
  ])('that answers with %s fails', async (_name, bytes, code) => {
    await using raw = await serveRaw((socket) => socket.end(bytes))
    await using fetcher = createSafeFetch({ user_agent: 'test', allow_origins: [raw.origin] })
    expect(await rejection(fetcher.fetch({ url: raw.origin, signal }))).toMatchObject({ code })
  })

  test('that resets in the middle fails', async () => {
    await using raw = await serveRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nshort', () => socket.resetAndDestroy())
    })
    await using fetcher = createSafeFetch({ user_agent: 'test', allow_origins: [raw.origin] })
    const failure = await rejection(fetcher.fetch({ url: raw.origin, signal }))
    expect(failure).toMatchObject({
      code: 'upstream_failed',
      details: { upstream: { code: expect.any(String) } },
    })
  })

  test('that does not exist or does not listen is reported with its error code', async () => {
    const closed = await serve((_request, response) => response.end())
    await closed[Symbol.asyncDispose]()
    await using fetcher = createSafeFetch({
      user_agent: 'test',
      lookup: resolver({}),
      allow_origins: [closed.origin, 'http://no-such-name-either.test'],
    })
    for (const url of ['http://no-such-name.test/', 'http://no-such-name-either.test/']) {
      expect(await rejection(fetcher.fetch({ url, signal }))).toMatchObject({
        code: 'upstream_failed',
        message: `${new URL(url).host} has no address: no name server knows the host.`,
        details: { upstream: { code: 'ENOTFOUND' } },
      })
    }
    expect(await rejection(fetcher.fetch({ url: closed.origin, signal }))).toMatchObject({
      code: 'upstream_failed',
      message: expect.stringContaining('refused the connection: nothing listens there.'),
      details: { upstream: { code: 'ECONNREFUSED' } },
    })
  })

  test('whose name server never answers times out', async () => {
    await using fetcher = createSafeFetch({ user_agent: 'test', lookup: () => {} })
    const failure = await rejection(fetcher.fetch({ url: 'http://slow.test/', signal, timeout_ms: 100 }))
    expect(failure).toMatchObject({ code: 'upstream_timeout' })
  })
})

describe('a caller that disconnects', () => {
  test.each(['/hang', '/drip'])('cancels %s', async (path) => {
    const caller = new AbortController()
    const pending = rejection(get(path, { signal: caller.signal }))
    setImmediate(() => caller.abort())
    expect(await pending).toMatchObject({ code: 'cancelled' })
  })

  test('before the fetch began cancels it without a request', async () => {
    await using untouched = await serve((_request, response) => response.end())
    await using fetcher = createSafeFetch({ user_agent: 'test', allow_origins: [untouched.origin] })
    const failure = await rejection(fetcher.fetch({ url: untouched.origin, signal: AbortSignal.abort() }))
    expect(failure).toMatchObject({ code: 'cancelled' })
    expect(untouched.hits()).toBe(0)
  })

  test('with a reason of its own gets that reason back', async () => {
    const { Failure } = await import('../../schemas/failure.ts')
    const reason = new Failure('deadline_exceeded', 'The time for this call ran out.')
    expect(await failing('/hang', { signal: AbortSignal.abort(reason) })).toBe(reason)
  })
})

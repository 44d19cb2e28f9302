import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { Failure } from '../../../../schemas/failure.ts'
import type { Fetch, FetchRequest } from '../../../../src/net/fetch/fetch.ts'
import type { Embedder } from '../../../../src/search/embedders/embedder.ts'
import { createHttpEmbedder } from '../../../../src/search/embedders/http/http-embedder.ts'
import { rejection } from '../../../net/support.ts'
import { json, meaning, type Reply, right, startEndpoint, status, unit } from './support.ts'

const signal = new AbortController().signal
const hang: Reply = () => {}
const cutShort: Reply = (response) => {
  response.writeHead(200, { 'content-length': '1000' })
  response.write('{"data":[', () => response.destroy())
}

const cutZip: Reply = (response) =>
  response.setHeader('content-encoding', 'gzip').end(gzipSync('x'.repeat(99)).subarray(0, 20))

const vector = (index: number) => ({ index, embedding: [1, 2, 3] })
const embedOne = (embedder: Embedder, caller = signal) => embedder.embed(['a flight'], 'query', caller)
const right1 = [{ vector: unit(meaning('a flight')), coverage: 1 }]

/** Limits a request to 50 ms, whatever its time-out is. */
const hurried = (fetch: Fetch) => (request: FetchRequest) =>
  fetch(request.body?.includes('flight') ? { ...request, timeout_ms: 50 } : request)

describe('a transient error', () => {
  test.each<[string, Reply[], number[]]>([
    ['an error twice', [status(500), status(503)], [500, 1000]],
    ['the rate limit', [status(429, { 'retry-after': '7' })], [7000]],
    [
      'the rate limit, until a date',
      [status(429, { 'retry-after': 'Thu, 01 Jan 1970 00:00:12 GMT' })],
      [10_000],
    ],
    ['a Retry-After of an hour', [status(503, { 'retry-after': '3600' })], [30_000]],
    ['a malformed Retry-After', [status(429, { 'retry-after': 'soon' })], [500]],
    ['a negative Retry-After', [status(429, { 'retry-after': '-1' })], [500]],
    ['a fractional Retry-After', [status(429, { 'retry-after': '1.5' })], [500]],
    ['a connection lost', [(response) => response.destroy()], [500]],
    ['an answer cut short', [cutShort], [500]],
    ['a compressed answer cut short', [cutZip], [500]],
    ['three faults in a row', [status(500), cutShort, status(502)], [500, 1000, 2000]],
  ])('is retried: %s', async (_, replies, pauses) => {
    await using endpoint = await startEndpoint(right, ...replies)
    await using embedder = await endpoint.create({ clock: () => 2000 })
    expect(await embedOne(embedder)).toEqual(right1)
    expect(endpoint.pauses).toEqual(pauses)
  })

  test('is retried where the endpoint hangs', async () => {
    await using endpoint = await startEndpoint(right, hang)
    await using embedder = await endpoint.create({ fetch: hurried(endpoint.fetch) })
    expect(await embedOne(embedder)).toEqual(right1)
  })

  test('is retried at the start', async () => {
    await using endpoint = await startEndpoint(status(503), (response) => response.destroy())
    await using embedder = await endpoint.create()
    expect(embedder.dimensions).toBe(3)
  })

  test.each<[string, Reply, string]>([
    ['errors', status(500), 'upstream_failed'],
    ['rate limits', status(429), 'upstream_failed'],
    ['lost connections', (response) => response.destroy(), 'upstream_failed'],
    ['silence', hang, 'upstream_timeout'],
  ])('fails after four attempts: %s', async (_, reply, code) => {
    await using endpoint = await startEndpoint(right, ...Array(9).fill(reply))
    // On a busy machine a hurried request may time out before it is refused.
    const options = reply === hang ? { fetch: hurried(endpoint.fetch) } : {}
    await using embedder = await endpoint.create(options)
    expect(await rejection(embedOne(embedder))).toMatchObject({ code })
    expect(endpoint.requests).toHaveLength(5)
    expect(endpoint.pauses).toEqual([500, 1000, 2000])
  })

  test('is retried with real pauses and a real time-out by default', async () => {
    await using endpoint = await startEndpoint(right, status(429, { 'retry-after': '0' }))
    const timeouts: unknown[] = []
    const { fetch } = endpoint
    const noting = (request: FetchRequest) => {
      timeouts.push(request.timeout_ms)
      return fetch(request)
    }
    const options = { url: `${endpoint.origin}/v1`, model: 'tiny', timeout_ms: 12_345 }
    await using embedder = await createHttpEmbedder({ ...options, fetch: noting })
    expect(await embedOne(embedder)).toEqual(right1)
    expect(timeouts).toEqual([12_345, 12_345, 12_345])
  })

  test('is retried after a pause that is up to a half shorter, at random', async () => {
    await using endpoint = await startEndpoint(right, status(500), status(500))
    await using embedder = await endpoint.create({ random: () => 0.5 })
    await embedOne(embedder)
    expect(endpoint.pauses).toEqual([375, 750])
  })
})

describe('a permanent error', () => {
  test.each<[string, Reply, RegExp]>([
    ['the key is revoked', status(401), /status 401/],
    ['the model is gone', status(404), /status 404/],
    ['the request is refused', status(400), /status 400/],
    ['accepted, and no answer', status(202), /status 202/],
    ['an HTML page', (response) => response.end('<html>'), /is not JSON/],
    ['another object', json({ error: 'no' }), /no list of vectors/],
    ['nothing', json(null), /no list of vectors/],
    ['fewer vectors', json({ data: [] }), /0 vectors for 1 texts/],
    ['more vectors', json({ data: [vector(0), vector(1)] }), /2 vectors for 1 texts/],
    ['an index too many', json({ data: [vector(1)] }), /without the index/],
    ['an index below', json({ data: [vector(-1)] }), /without the index/],
    ['no index', json({ data: [{ embedding: [1, 2, 3] }] }), /without the index/],
    ['a vector as text', json({ data: [{ index: 0, embedding: 'AACAPw==' }] }), /no vector in a row/],
    ['an empty vector', json({ data: [{ index: 0, embedding: [] }] }), /no vector in a row/],
    ['a null', json({ data: [{ index: 0, embedding: [1, null, 3] }] }), /values that are not numbers/],
    ['NaN', (response) => response.end('{"data":[{"index":0,"embedding":[1,NaN,3]}]}'), /is not JSON/],
    ['infinity', (response) => response.end('{"data":[{"index":0,"embedding":[1,1e999,3]}]}'), /not finite/],
    ['other dimensions', json({ data: [{ index: 0, embedding: [1, 2] }] }), /2 dimensions.* gave 3/],
    ['20 MB', (response) => response.end(`{"data":"${'x'.repeat(20e6)}"}`), /larger than 16777216 bytes/],
  ])('fails at once: %s', async (_, reply, message) => {
    await using endpoint = await startEndpoint(right, reply)
    await using embedder = await endpoint.create()
    const failure = await rejection(embedOne(embedder))
    expect(failure).toMatchObject({
      code: /status/.test(message.source) ? 'upstream_failed' : 'upstream_invalid',
    })
    expect((failure as Failure).message).toMatch(message)
    expect(endpoint.requests).toHaveLength(2)
    expect(await embedOne(embedder)).toEqual(right1)
  })

  test.each<[string, unknown[]]>([
    ['one index twice', [vector(0), vector(0)]],
    [
      'two dimensions',
      [
        [1, 2, 3],
        [1, 2],
      ].map((embedding, index) => ({ index, embedding })),
    ],
  ])('fails at once: %s', async (_, data) => {
    await using endpoint = await startEndpoint(right, json({ data }))
    await using embedder = await endpoint.create()
    const failure = await rejection(embedder.embed(['a', 'b'], 'document', signal))
    expect(failure).toMatchObject({ code: 'upstream_invalid' })
  })

  test('zeros of the endpoint stay zeros', async () => {
    await using endpoint = await startEndpoint(right, json({ data: [{ index: 0, embedding: [0, 0, 0] }] }))
    await using embedder = await endpoint.create()
    expect((await embedOne(embedder))[0]?.vector).toEqual(new Float32Array(3))
  })

  // Less than the ten seconds after which the safe fetch would end them.
  test('cancels the other batches', { timeout: 5_000 }, async () => {
    const ended = Promise.withResolvers<void>()
    const waits: Reply = (response) => response.on('close', ended.resolve)
    await using endpoint = await startEndpoint(right, waits, status(400))
    await using embedder = await endpoint.create()
    const texts = Array(64).fill('text')
    expect(await rejection(embedder.embed(texts, 'document', signal))).toMatchObject({
      code: 'upstream_failed',
    })
    await ended.promise
  })
})

describe('an aborted call', () => {
  const reason = new Failure('deadline_exceeded', 'too late')

  test.each([reason, 'gone'])('ends while the endpoint is silent', async (why) => {
    const caller = new AbortController()
    await using endpoint = await startEndpoint(right, () => caller.abort(why))
    await using embedder = await endpoint.create()
    expect(await rejection(embedOne(embedder, caller.signal))).toBe(why)
  })

  test('ends during a backoff', async () => {
    const caller = new AbortController()
    const later = status(429, { 'retry-after': 'Thu, 01 Jan 1970 00:00:29 GMT' })
    await using endpoint = await startEndpoint(right, later)
    const clock = () => {
      setImmediate(() => caller.abort('gone'))
      return 0
    }
    const options = { url: `${endpoint.origin}/v1`, model: 'tiny', fetch: endpoint.fetch }
    await using embedder = await createHttpEmbedder({ ...options, clock })
    expect(await rejection(embedOne(embedder, caller.signal))).toBe('gone')
    expect(endpoint.requests).toHaveLength(2)
  })

  test('ends while it waits for a slot', async () => {
    const [isFull, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const hold: Reply = async (response, request) => {
      if (endpoint.requests.length === 5) isFull.resolve()
      await release.promise
      right(response, request)
    }
    await using endpoint = await startEndpoint(right, ...Array(4).fill(hold))
    await using embedder = await endpoint.create()
    const running = [1, 2, 3, 4].map(() => embedOne(embedder))
    await isFull.promise
    const caller = new AbortController()
    const waiting = rejection(embedOne(embedder, caller.signal))
    caller.abort(reason)
    expect(await waiting).toBe(reason)
    release.resolve()
    expect(await Promise.all(running)).toHaveLength(4)
    expect(endpoint.requests).toHaveLength(5)
  })

  test('sends nothing if the signal has aborted already', async () => {
    await using endpoint = await startEndpoint()
    await using embedder = await endpoint.create()
    const gone = AbortSignal.abort(reason)
    expect(await rejection(embedOne(embedder, gone))).toBe(reason)
    expect(await rejection(embedder.embed([''], 'query', gone))).toBe(reason)
    expect(endpoint.requests).toHaveLength(1)
  })

  test('ends the creation', async () => {
    const caller = new AbortController()
    await using endpoint = await startEndpoint(() => caller.abort(reason))
    expect(await rejection(endpoint.create({ signal: caller.signal }))).toBe(reason)
  })
})

describe('documents', () => {
  test('leave a slot to queries', async () => {
    const held = Promise.withResolvers<void>()
    const hold: Reply = async (response, request) => {
      if (request.body.input.length > 1) await held.promise
      right(response, request)
    }
    await using endpoint = await startEndpoint(right, ...Array(9).fill(hold))
    await using embedder = await endpoint.create()
    const documents = embedder.embed(Array(200).fill('a flight'), 'document', signal)
    expect(await embedOne(embedder)).toEqual(right1)
    held.resolve()
    expect(await documents).toHaveLength(200)
  })
})

describe('a closed embedder', () => {
  test('fails calls in flight and new ones', async () => {
    const requested = Promise.withResolvers<void>()
    await using endpoint = await startEndpoint(right, () => requested.resolve())
    const embedder = await endpoint.create()
    const running = rejection(embedOne(embedder))
    await requested.promise
    await embedder[Symbol.asyncDispose]()
    expect(await running).toMatchObject({ code: 'unavailable' })
    expect(await rejection(embedOne(embedder))).toMatchObject({ code: 'unavailable' })
  })
})

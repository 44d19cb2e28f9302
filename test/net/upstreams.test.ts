import { describe, expect, test } from 'vitest'
import { Failure } from '../../schemas/failure.ts'
import type { UpstreamAnswer, UpstreamLimits } from '../../src/common/upstream.ts'
import { createSafeFetch } from '../../src/net/fetch/safe-fetch.ts'
import { createUpstreams } from '../../src/net/upstream/upstreams.ts'
import { failureOf } from '../support/agent.ts'
import { hang, html, type Routes, replay, serverError, text, tooMany } from '../support/replay.ts'
import { createTime } from '../support/time.ts'

const now = Date.parse('2026-03-02T15:00:00Z')
const second = 1_000
const ample: UpstreamLimits = { gap_ms: 1, burst: 1_000, max_in_flight: 100 }
const ok = text('ok')

const failureCode = (thrown: unknown) => (thrown instanceof Failure ? thrown.code : 'none')

/** An upstream on a replay server, with a stopped clock; an answer of HTML counts against it. */
async function open(routes: Routes, limits: UpstreamLimits = ample) {
  const server = await replay(routes)
  const safe = createSafeFetch({ user_agent: 'test', allow_origins: [server.url] })
  const time = createTime(now)
  const upstreams = createUpstreams({ fetch: safe.fetch, ...time })
  const ask = upstreams.create_upstream(limits)
  const read = ({ status, headers, body }: UpstreamAnswer) => {
    if (headers['content-type']?.includes('html')) throw new Failure('upstream_invalid', 'HTML')
    return `${status} ${new TextDecoder().decode(body)}`
  }
  return {
    server,
    time,
    upstreams,
    get: (path = '/', signal = new AbortController().signal, caller = 'caller') =>
      ask({ url: server.url + path, signal, caller }, read),
    async [Symbol.asyncDispose]() {
      await upstreams[Symbol.asyncDispose]()
      await safe[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

describe('an upstream that fails', () => {
  test('five times in a row has its circuit opened for half a minute; then one request decides', async () => {
    const response = Promise.withResolvers<typeof ok>()
    await using upstream = await open({
      'GET /': [...Array(6).fill(serverError), () => response.promise, ok],
    })
    for (let count = 0; count < 5; count++) {
      expect((await failureOf(upstream.get())).code).toBe('upstream_failed')
    }
    expect(await failureOf(upstream.get())).toMatchObject({
      code: 'circuit_open',
      details: { retry_after_s: 30 },
    })
    upstream.time.pass(30 * second)
    expect((await failureOf(upstream.get())).code).toBe('upstream_failed')
    expect((await failureOf(upstream.get())).code).toBe('circuit_open')
    upstream.time.pass(30 * second)
    const probe = upstream.get()
    await upstream.server.arrived(7)
    expect((await failureOf(upstream.get())).code).toBe('circuit_open')
    response.resolve(ok)
    expect(await probe).toBe('200 ok')
    expect(await upstream.get()).toBe('200 ok')
    expect(upstream.server.requests).toHaveLength(8)
  })

  test('with answers that its reader cannot read counts as failing', async () => {
    await using upstream = await open({ 'GET /': html() })
    for (let count = 0; count < 5; count++) await failureOf(upstream.get())
    expect((await failureOf(upstream.get())).code).toBe('circuit_open')
  })

  test('now and then keeps its circuit closed, and so does one that answers 404', async () => {
    await using upstream = await open({ 'GET /': [...Array(4).fill(serverError), ok, serverError] })
    for (let count = 0; count < 9; count++) await upstream.get().catch(() => {})
    for (let count = 0; count < 9; count++) expect(await upstream.get('/nowhere')).toMatch(/^404/)
    expect(upstream.server.requests).toHaveLength(18)
  })

  test('is not blamed for cancelled requests, though a cancelled probe does not close the circuit', async () => {
    await using upstream = await open({ 'GET /': serverError, 'GET /hang': hang })
    async function leave() {
      const caller = new AbortController()
      const left = failureOf(upstream.get('/hang', caller.signal))
      await upstream.server.arrived(upstream.server.requests.length + 1)
      caller.abort()
      expect((await left).code).toBe('cancelled')
    }
    for (let count = 0; count < 6; count++) await leave()
    for (let count = 0; count < 5; count++) await failureOf(upstream.get())
    upstream.time.pass(30 * second)
    await leave()
    const code = async () => (await failureOf(upstream.get())).code
    await expect.poll(code, { interval: 1 }).toBe('upstream_failed')
    expect((await failureOf(upstream.get())).code).toBe('circuit_open')
  })

  test('does not delay another origin', async () => {
    await using other = await replay({ 'GET /': ok })
    await using upstream = await open({ 'GET /': serverError })
    for (let count = 0; count < 5; count++) await failureOf(upstream.get())
    const safe = createSafeFetch({ user_agent: 'test', allow_origins: [other.url, upstream.server.url] })
    const ask = createUpstreams({ fetch: safe.fetch, ...upstream.time }).create_upstream(ample)
    const { signal } = new AbortController()
    for (let count = 0; count < 5; count++) {
      await failureOf(ask({ url: upstream.server.url, signal }, () => ''))
    }
    expect(await ask({ url: other.url, signal }, ({ status }) => status)).toBe(200)
    await safe[Symbol.asyncDispose]()
  })
})

describe('an upstream that sends Retry-After', () => {
  test.each([
    ['429 and seconds', tooMany(40), 'rate_limited', 'rate_limited'],
    [
      '503 and a date',
      text('', 503, { 'retry-after': 'Mon, 02 Mar 2026 15:00:40 GMT' }),
      'upstream_failed',
      'circuit_open',
    ],
  ])('by %s gets no request before that time', async (_, busy, first, then) => {
    await using upstream = await open({ 'GET /': [busy, ok] })
    expect(await failureOf(upstream.get())).toMatchObject({
      code: first,
      details: { retry_after_s: 40 },
    })
    upstream.time.pass(39 * second)
    expect(await failureOf(upstream.get())).toMatchObject({
      code: then,
      details: { retry_after_s: 1 },
    })
    upstream.time.pass(second)
    expect(await upstream.get()).toBe('200 ok')
    expect(upstream.server.requests).toHaveLength(2)
  })
})

describe('the rate', () => {
  const limits = { gap_ms: second, burst: 4, max_in_flight: 9 }

  test('allows a burst at once, then a request per gap, and refuses requests that would wait too long', async () => {
    await using upstream = await open({ 'GET /': ok }, limits)
    const get = (caller: string) => upstream.get('/', undefined, caller)
    await Promise.all([get('one'), get('two'), get('three'), get('four')])
    const queued = [get('one'), get('two'), get('three')]
    await expect.poll(() => upstream.time.waiting(), { interval: 1 }).toBe(3)
    expect(await failureOf(get('four'))).toMatchObject({
      code: 'rate_limited',
      details: { retry_after_s: 4 },
    })
    upstream.time.pass(second)
    await queued[0]
    expect(upstream.server.requests).toHaveLength(5)
    upstream.time.pass(2 * second)
    await Promise.all(queued)
    expect(upstream.server.requests).toHaveLength(7)
  })

  test('leaves half of it to other callers when one caller asks for all', async () => {
    await using upstream = await open({ 'GET /': ok }, limits)
    const flood = Array.from({ length: 20 }, () => upstream.get('/', undefined, 'flood').catch(failureCode))
    await upstream.server.arrived(2)
    expect(await Promise.all(flood.slice(3))).toEqual(Array(17).fill('rate_limited'))
    expect(upstream.server.requests).toHaveLength(2)
    expect(await upstream.get('/', undefined, 'other')).toBe('200 ok')
  })

  test('lets a caller leave the queue', async () => {
    await using upstream = await open({ 'GET /': ok }, { gap_ms: second, burst: 1, max_in_flight: 9 })
    await upstream.get()
    const caller = new AbortController()
    const left = failureOf(upstream.get('/', caller.signal))
    caller.abort()
    expect((await left).code).toBe('cancelled')
    expect(upstream.server.requests).toHaveLength(1)
  })

  test('bounds the concurrent requests, half of them for one caller', async () => {
    const response = Promise.withResolvers<typeof ok>()
    await using upstream = await open({ 'GET /': () => response.promise }, { ...ample, max_in_flight: 2 })
    const get = (caller: string, signal?: AbortSignal) => upstream.get('/', signal, caller)
    const all = [get('one'), get('one'), get('two'), get('two')]
    await upstream.server.arrived(2)
    const leaving = new AbortController()
    const left = failureOf(get('three', leaving.signal))
    leaving.abort()
    expect((await left).code).toBe('cancelled')
    expect(upstream.server.requests).toHaveLength(2)
    response.resolve(ok)
    await Promise.all(all)
    expect(upstream.server.requests).toHaveLength(4)
  })

  test('refuses a caller whose requests hold its slots for three seconds', async () => {
    await using upstream = await open({ 'GET /': hang, 'GET /well': ok }, { ...ample, max_in_flight: 2 })
    const ending = new AbortController()
    const held = upstream.get('/', ending.signal, 'slow').catch(failureCode)
    await upstream.server.arrived(1)
    const waits = failureOf(upstream.get('/well', undefined, 'slow'))
    await expect.poll(() => upstream.time.waiting(), { interval: 1 }).toBe(1)
    upstream.time.pass(3 * second)
    expect(await waits).toMatchObject({ code: 'rate_limited', details: { retry_after_s: 3 } })
    expect(await upstream.get('/well', undefined, 'other')).toBe('200 ok')
    ending.abort()
    expect(await held).toBe('cancelled')
  })
})

describe('the circuit', () => {
  const routes = { 'GET /': ok, 'GET /bad': serverError }

  async function failFive(upstream: Awaited<ReturnType<typeof open>>, caller: string) {
    for (let count = 0; count < 5; count++) await failureOf(upstream.get('/bad', undefined, caller))
  }

  test('opens for one caller by its own failures, and stays closed for the others', async () => {
    await using upstream = await open(routes)
    await failFive(upstream, 'one')
    expect((await failureOf(upstream.get('/', undefined, 'one'))).code).toBe('circuit_open')
    expect(await upstream.get('/', undefined, 'two')).toBe('200 ok')
  })

  test('opens for all callers when three of them fail in a row', async () => {
    await using upstream = await open(routes)
    await failFive(upstream, 'one')
    await failFive(upstream, 'two')
    await failureOf(upstream.get('/bad', undefined, 'three'))
    expect((await failureOf(upstream.get('/', undefined, 'four'))).code).toBe('circuit_open')
    upstream.time.pass(30 * second)
    expect(await upstream.get('/', undefined, 'four')).toBe('200 ok')
  })
})

describe('the cache', () => {
  const periods = { entries: 10, lifetime: () => 10_000, refresh: () => 20_000, stand_in: () => 60_000 }

  async function openCache(routes: Routes) {
    const upstream = await open(routes)
    const recall = upstream.upstreams.create_cache<{ text: string }>(periods)
    const find = (signal = new AbortController().signal) =>
      recall('key', { signal, caller: 'caller' }, async (shared) => ({
        text: await upstream.get('/', shared.signal, shared.caller),
      }))
    return { ...upstream, find, [Symbol.asyncDispose]: () => upstream[Symbol.asyncDispose]() }
  }

  test('serves a stale value at once to all callers while one request fetches the next', async () => {
    const response = Promise.withResolvers<typeof ok>()
    await using cache = await openCache({ 'GET /': [text('old'), () => response.promise] })
    await cache.find()
    cache.time.pass(10_000)
    const found = await Promise.all([cache.find(), cache.find(), cache.find()])
    const stale = { hit: true, age_s: 10, stale: true }
    expect(found).toMatchObject(
      Array(3).fill({ value: { text: '200 old' }, cache: stale, in_trouble: false }),
    )
    await cache.server.arrived(2)
    response.resolve(text('new'))
    await expect.poll(() => cache.find(), { interval: 1 }).toMatchObject({ value: { text: '200 new' } })
    expect(cache.server.requests).toHaveLength(2)
  })

  test('waits for the next value if the cached one is older than that, by the same fetch', async () => {
    const response = Promise.withResolvers<typeof ok>()
    await using cache = await openCache({ 'GET /': [text('old'), () => response.promise] })
    await cache.find()
    cache.time.pass(10_000)
    await cache.find()
    cache.time.pass(20_000)
    const next = cache.find()
    response.resolve(text('new'))
    expect(await next).toMatchObject({ value: { text: '200 new' }, cache: { hit: false } })
    expect(cache.server.requests).toHaveLength(2)
  })

  test('marks a stale value whose upstream fails', async () => {
    await using cache = await openCache({ 'GET /': [text('old'), serverError] })
    await cache.find()
    cache.time.pass(10_000)
    await cache.find()
    await expect
      .poll(() => cache.find(), { interval: 1 })
      .toMatchObject({ in_trouble: true, cache: { stale: true } })
    cache.time.pass(40_000)
    expect(await cache.find()).toMatchObject({ in_trouble: true, value: { text: '200 old' } })
    cache.time.pass(10_000)
    expect((await failureOf(cache.find())).code).toMatch(/upstream_failed|circuit_open/)
  })

  test('attempts a fetch that fails for one caller in the name of the next', async () => {
    await using upstream = await open({})
    const recall = upstream.upstreams.create_cache<{ name: string }>(periods)
    const { signal } = new AbortController()
    const names: string[] = []
    const find = (caller: string) =>
      recall('key', { signal, caller }, async (shared) => {
        names.push(shared.caller)
        await Promise.resolve()
        if (shared.caller === 'slow') throw new Failure('rate_limited', 'Too many.')
        return { name: shared.caller }
      })
    const found = await Promise.all([find('slow'), find('slow'), find('other'), find('third')])
    expect(found.map(({ value }) => value.name)).toEqual(Array(4).fill('other'))
    expect(names).toEqual(['slow', 'other'])
  })

  test('attempts a fetch that fails for everybody three times at most', async () => {
    await using upstream = await open({})
    const recall = upstream.upstreams.create_cache<{ name: string }>(periods)
    const { signal } = new AbortController()
    const names: string[] = []
    const all = Array.from({ length: 9 }, (_, index) =>
      recall('key', { signal, caller: `${index}` }, async ({ caller }) => {
        names.push(caller)
        await Promise.resolve()
        throw new Failure('upstream_failed', 'Down.')
      }).catch(failureCode),
    )
    expect(await Promise.all(all)).toEqual(Array(9).fill('upstream_failed'))
    expect(names).toEqual(['0', '1', '2'])
  })

  test('a background fetch outlives its callers, and ends by its deadline', async () => {
    await using cache = await openCache({ 'GET /': [text('old'), hang] })
    await cache.find()
    cache.time.pass(10_000)
    const caller = new AbortController()
    await cache.find(caller.signal)
    caller.abort()
    await cache.server.arrived(2)
    cache.time.pass(30_000)
    await cache.server.requests[1]?.dropped
  })

  test('every fetch ends at the close, background fetches too', async () => {
    await using cache = await openCache({ 'GET /': [text('old'), hang] })
    await cache.find()
    cache.time.pass(10_000)
    await cache.find()
    await cache.server.arrived(2)
    await cache.upstreams[Symbol.asyncDispose]()
    await cache.server.requests[1]?.dropped
    cache.time.pass(30_000)
    expect((await failureOf(cache.find())).code).toBe('cancelled')
    expect(cache.server.requests).toHaveLength(2)
  })
})

import { createHmac } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { unseen } from '../../../schemas/liveness.ts'
import type { Delivery } from '../../../schemas/webhook.ts'
import { startLeasedJob } from '../../../src/registry/leased-job.ts'
import type { StoredEntry } from '../../../src/store/stored-entry.ts'
import { sampleEntry } from '../../support/entries.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { startRevision } from '../../support/hosted.ts'
import { list } from '../../support/listed.ts'
import { createTime, type Time } from '../../support/time.ts'
import { serveTargets, type Targets } from './targets.ts'

const day = 24 * 3_600_000
const { signal } = new AbortController()

let time: Time
let home: TestGateway
let targets: Targets
let token: string
beforeEach(async () => {
  time = createTime(Date.parse('2026-11-01T00:00:00Z'))
  targets = await serveTargets()
  home = await startGateway(
    { DRAGOMAN_ALLOW_ORIGINS: targets.url },
    { clock: time.clock, changes: { random: () => 0.5, webhook_timeout_ms: 3000 } },
  )
  token = await home.token('ada', { ttl_s: 90 * 24 * 3600 })
})
afterEach(async () => {
  await home[Symbol.asyncDispose]()
  await targets[Symbol.asyncDispose]()
})

const ask = (method: string, path: string, body?: unknown, as = token) =>
  home.request(method, `/api/webhooks${path}`, { token: as, body })
const create = async (path: string, more = {}) =>
  (await ask('POST', '', { url: targets.url + path, ...more })).json
const read = async (id: string) => (await ask('GET', `/${id}`)).json
const put = (...entries: StoredEntry[]) =>
  home.gateway.store.write(async (writer) => {
    for (const entry of entries) await writer.put(entry)
  })
const deliver = () => home.gateway.changes.deliverer.run(signal)
const isDue = () => home.gateway.changes.deliverer.isDue()

describe('a webhook', () => {
  test('is shown its secret once, and is its owner’s alone', async () => {
    const made = await ask('POST', '', { url: `${targets.url}/hook` })
    expect(made.status).toBe(201)
    const { secret, ...shown } = made.json
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(await read(shown.id)).toEqual(shown)
    expect((await ask('GET', '')).json).toEqual({ webhooks: [shown] })
    const eve = await home.token('eve')
    for (const [method, body] of [['GET'], ['PUT', {}], ['DELETE']] as const) {
      expect((await ask(method, `/${shown.id}`, body, eve)).json.code).toBe('not_found')
    }
    expect((await ask('GET', '', undefined, eve)).json).toEqual({ webhooks: [] })
    const reader = await home.token('ada', { scopes: ['agents:read'] })
    expect((await ask('GET', '', undefined, reader)).json.code).toBe('forbidden')
    expect((await ask('DELETE', `/${shown.id}`)).status).toBe(204)
    expect((await read(shown.id)).code).toBe('not_found')
  })

  test('does not let its secret be read in the store', async () => {
    const { secret, id } = await create('/hook')
    const stored = await home.gateway.store.webhooks.get(id)
    expect(JSON.stringify(stored)).not.toContain(secret.slice('whsec_'.length))
  })

  test.each([
    ['http://169.254.169.254/latest/meta-data', 'blocked_address'],
    ['https://localhost/hook', 'blocked_address'],
    ['https://example.com:8443/hook', 'blocked_address'],
    ['https://user:word@example.com/hook', 'invalid_request'],
    ['ftp://example.com/hook', 'invalid_request'],
    ['hook', 'invalid_request'],
  ])('is not made for %s', async (url, code) => {
    expect((await ask('POST', '', { url })).json.code).toBe(code)
  })

  test('is not made for the gateway itself, nor set to it', async () => {
    expect((await ask('POST', '', { url: `${home.url}/rpc` })).json.code).toBe('blocked_address')
    const { id } = await create('/hook')
    expect((await ask('PUT', `/${id}`, { url: `${home.url}/rpc` })).json.code).toBe('blocked_address')
  })

  test('begins at a revision that is there, and one has ten at most', async () => {
    expect((await create('/', { since: 99 })).code).toBe('invalid_request')
    for (let count = 0; count < 10; count++) await create('/')
    expect((await create('/')).code).toBe('conflict')
  })
})

describe('a delivery', () => {
  test('is signed as Standard Webhooks has it, and holds what happened since', async () => {
    const { secret, id } = await create('/hook')
    const entry = sampleEntry()
    const { revision } = await put(entry)
    expect(await isDue()).toBe(true)
    await deliver()
    const [{ headers, body }] = targets.received as [Targets['received'][number]]
    const at = headers['webhook-timestamp']
    expect(at).toBe(String(time.clock() / 1000))
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
    const signature = createHmac('sha256', key)
      .update(`${headers['webhook-id']}.${at}.${body}`)
      .digest('base64')
    expect(headers['webhook-signature']).toBe(`v1,${signature}`)
    expect(JSON.parse(body)).toMatchObject({
      type: 'registry.changes',
      data: { changes: [{ revision, kind: 'listed', id: entry.id }], next_since: revision },
    })
    expect(await read(id)).toMatchObject({
      delivered_revision: revision,
      failures: 0,
      next_attempt_at: null,
      deliveries: [{ id: headers['webhook-id'], ok: true, status: 204, failure: null }],
    })
    expect(await isDue()).toBe(false)
    expect(await deliver()).toBe(0)
  })

  test('brings every change once and in order, however many there are', async () => {
    await create('/hook', { since: 0 })
    await put(...Array.from({ length: 250 }, () => sampleEntry()))
    await deliver()
    expect(targets.revisions('/hook')).toEqual(
      Array.from({ length: startRevision + 250 }, (_, index) => index + 1),
    )
    expect(targets.received).toHaveLength(3)
  })

  test('delivers only the subscribed kinds, and only own agents if requested', async () => {
    await create('/gone', { kinds: ['deleted', 'unlisted'] })
    await create('/mine', { mine: true, kinds: ['liveness'] })
    const endpoints = [{ protocol: 'envelope' as const, url: 'https://example.com/' }]
    const mine = await list(home, { package_name: 'com.example.mine', endpoints }, token)
    const other = sampleEntry()
    await put(other)
    for (const id of [mine, other.id]) {
      await home.gateway.store.liveness.watch([{ entry_id: id, place: 'here', active: true }])
      const probe = await home.gateway.store.liveness.get(id)
      if (probe) await home.gateway.store.liveness.save([{ ...probe, shown: { ...unseen, status: 'dead' } }])
    }
    const { revision } = await put({ ...other, deleted: true })
    await deliver()
    const bodies = Object.fromEntries(targets.received.map(({ path, body }) => [path, JSON.parse(body).data]))
    expect(bodies['/gone'].changes).toMatchObject([{ revision, kind: 'deleted', id: other.id }])
    expect(bodies['/mine'].changes).toMatchObject([
      { kind: 'liveness', id: mine, liveness: { status: 'dead' } },
    ])
    expect(targets.received).toHaveLength(2)
  })

  test('that fails is repeated with the same id at growing intervals, and loses no changes', async () => {
    const { id } = await create('/hook')
    targets.answers.set('/hook', (response) => response.writeHead(500).end())
    const first = await put(sampleEntry())
    await deliver()
    expect(await deliver()).toBe(0)
    expect(await read(id)).toMatchObject({
      failures: 1,
      failing_since: '2026-11-01T00:00:00.000Z',
      next_attempt_at: '2026-11-01T00:00:05.000Z',
      deliveries: [{ ok: false, status: 500, failure: 'status' }],
    })
    const second = await put(sampleEntry())
    time.pass(5_000)
    await deliver()
    expect(await read(id)).toMatchObject({ failures: 2, next_attempt_at: '2026-11-01T00:00:20.000Z' })
    targets.answers.delete('/hook')
    time.pass(15_000)
    await deliver()
    const names = targets.received.map(({ headers }) => headers['webhook-id'])
    expect(names).toHaveLength(4)
    expect(new Set(names.slice(0, 3)).size).toBe(1)
    expect(names[3]).not.toBe(names[0])
    expect(targets.revisions('/hook')).toEqual([
      first.revision,
      first.revision,
      first.revision,
      second.revision,
    ])
    const { failures, failing_since, deliveries } = await read(id)
    expect([failures, failing_since]).toEqual([0, null])
    expect(deliveries.map(({ ok }: Delivery) => ok)).toEqual([true, true, false, false])
  })

  test('respects the Retry-After of its target', async () => {
    const { id } = await create('/hook')
    targets.answers.set('/hook', (response) => response.writeHead(429, { 'Retry-After': '600' }).end())
    await put(sampleEntry())
    await deliver()
    expect((await read(id)).next_attempt_at).toBe('2026-11-01T00:10:00.000Z')
  })

  test('is disabled after five days, and continues at its position once it is enabled again', async () => {
    const { id } = await create('/hook')
    targets.answers.set('/hook', (response) => response.writeHead(503).end())
    const { revision } = await put(sampleEntry())
    await deliver()
    time.pass(4.9 * day)
    await deliver()
    expect((await read(id)).enabled).toBe(true)
    time.pass(0.5 * day)
    await deliver()
    const over = await read(id)
    expect(over).toMatchObject({ enabled: false, next_attempt_at: null, failures: 3 })
    expect(over.disabled_at).toBe(new Date(time.clock()).toISOString())
    time.pass(30 * day)
    expect(await isDue()).toBe(false)
    targets.answers.delete('/hook')
    const last = await put(sampleEntry())
    expect((await ask('PUT', `/${id}`, { enabled: true })).json).toMatchObject({ enabled: true, failures: 0 })
    await deliver()
    expect(targets.revisions('/hook').slice(-2)).toEqual([revision, last.revision])
  })

  test('is disabled at once if the target answers 410', async () => {
    const { id } = await create('/hook')
    targets.answers.set('/hook', (response) => response.writeHead(410).end())
    await put(sampleEntry())
    await deliver()
    expect(await read(id)).toMatchObject({ enabled: false, deliveries: [{ status: 410 }] })
  })

  test('waits while its owner wants none, and comes then', async () => {
    const { id } = await create('/hook')
    await ask('PUT', `/${id}`, { enabled: false })
    const { revision } = await put(sampleEntry())
    expect(await deliver()).toBe(0)
    await ask('PUT', `/${id}`, { enabled: true, url: `${targets.url}/other` })
    await deliver()
    expect(targets.revisions('/other')).toEqual([revision])
  })

  test.each([
    ['a redirect', 'redirect', (response: Answer) => response.writeHead(307, { Location: '/other' }).end()],
    [
      'a redirect to an address that is not public',
      'blocked_address',
      (response: Answer) => response.writeHead(302, { Location: 'http://169.254.169.254/' }).end(),
    ],
    ['a broken connection', 'unreachable', (response: Answer) => response.destroy()],
    ['silence', 'timeout', () => {}],
    ['a body without end', 'timeout', (response: Answer) => void response.writeHead(200).write('x')],
    [
      'a body that is too long',
      'invalid',
      (response: Answer) => response.writeHead(200).end('x'.repeat(2 * 1024 * 1024)),
    ],
    ['what is no HTTP', 'invalid', (response: Answer) => response.socket?.end('nonsense\r\n\r\n')],
  ])('that meets %s fails as %s, without delaying others', async (_, failure, answer) => {
    const { id } = await create('/hook')
    await create('/sound')
    targets.answers.set('/hook', answer)
    const { revision } = await put(sampleEntry())
    await deliver()
    expect((await read(id)).deliveries).toMatchObject([{ ok: false, failure }])
    expect(targets.revisions('/sound')).toEqual([revision])
    expect(targets.received.map(({ path }) => path)).not.toContain('/other')
  })

  test('whose secret cannot be opened says so', async () => {
    const { id } = await create('/hook')
    const stored = await home.gateway.store.webhooks.get(id)
    if (stored) await home.gateway.store.webhooks.set(id, stored.version, { sealed: 'nonsense' })
    await put(sampleEntry())
    await deliver()
    expect((await read(id)).deliveries).toMatchObject([{ failure: 'secret' }])
    expect(targets.received).toEqual([])
  })

  test('is made by one process of those that share the store', async () => {
    await create('/hook')
    const { deliverer } = home.gateway.changes
    const { leases } = home.gateway.store
    const loops = ['one', 'two', 'three'].map((holder) =>
      startLeasedJob({
        job: deliverer,
        leases,
        lease: 'webhooks',
        holder,
        clock: time.clock,
        onError: (fault) => {
          throw fault
        },
        beat_ms: 5,
      }),
    )
    const written: number[] = []
    for (let count = 0; count < 20; count++) written.push((await put(sampleEntry())).revision)
    await expect.poll(() => targets.revisions('/hook').length, { timeout: 10_000 }).toBe(20)
    expect(targets.revisions('/hook')).toEqual(written)
    await Promise.all(loops.map((loop) => loop[Symbol.asyncDispose]()))
  })

  test('is made once, though its owner changes the webhook at the same moment', async () => {
    const { id } = await create('/hook')
    const { webhooks } = home.gateway.store
    const get = webhooks.get
    const { revision } = await put(sampleEntry())
    // The delivery ends between the read and the write of the owner's change.
    const reading = vi.spyOn(webhooks, 'get').mockImplementationOnce(async (request) => {
      const read = await get(request)
      await deliver()
      return read
    })
    expect((await ask('PUT', `/${id}`, { mine: false })).status).toBe(200)
    reading.mockRestore()
    expect(await read(id)).toMatchObject({ delivered_revision: revision, deliveries: [{ ok: true }] })
    await deliver()
    expect(targets.revisions('/hook')).toEqual([revision])
  })

  test('is awaited if the store fails, since the next run would repeat it', async () => {
    const { id } = await create('/slow')
    await create('/quick')
    const storeError = new Error('The store is away.')
    const due = vi.spyOn(home.gateway.store.webhooks, 'due')
    const both = Promise.withResolvers<void>()
    targets.answers.set('/slow', () => both.resolve())
    targets.answers.set('/quick', (response) => {
      void both.promise.then(() => {
        due.mockRejectedValueOnce(storeError)
        response.end()
      })
    })
    await put(sampleEntry())
    await expect(deliver()).rejects.toBe(storeError)
    expect((await read(id)).deliveries).toMatchObject([{ failure: 'timeout' }])
  })

  test('that is cut off in the middle is made again under the same name, and is no failure', async () => {
    const { id } = await create('/hook')
    const stop = new AbortController()
    targets.answers.set('/hook', () => stop.abort())
    await put(sampleEntry())
    await home.gateway.changes.deliverer.run(stop.signal)
    expect(await read(id)).toMatchObject({ failures: 0, deliveries: [] })
    targets.answers.delete('/hook')
    await deliver()
    const [first, second] = targets.received.map(({ headers }) => headers['webhook-id'])
    expect(first).toBe(second)
  })
})

type Answer = Parameters<Parameters<Targets['answers']['set']>[1]>[0]

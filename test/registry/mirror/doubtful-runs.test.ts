import { expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { official, startRegistryReplay } from '../../support/official-registry.ts'
import { mirrorNamed, operate, runToEnd } from './mirror-run.ts'

const day = 86_400_000
const rows = (count: number, meta: object = {}) =>
  Array.from({ length: count }, (_, index) => ({
    server: { name: `com.example/weather-${index}`, description: 'Forecasts.', version: '1.0.0' },
    _meta: { [official]: { status: 'active', publishedAt: '2026-01-01T00:00:00Z', isLatest: true, ...meta } },
  }))

interface Source {
  subject: TestGateway
  requests: string[]
  serve(servers: unknown[], nextCursor?: string, status?: number, headers?: Record<string, string>): void
  pass(milliseconds: number): void
}

/** A gateway with a mirror `other` of a registry that serves the same page for each address. */
async function withSource(work: (source: Source) => Promise<void>): Promise<void> {
  const requests: string[] = []
  let body = ''
  let code = 200
  let fields: Record<string, string> = {}
  await using registry = await startRegistryReplay([], (request, response) => {
    requests.push(request.url ?? '')
    response.writeHead(code, fields).end(body)
    return true
  })
  let passed = 0
  const clock = () => Date.now() + passed
  await using subject = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: registry.url }, { clock })
  await operate(subject.gateway, 'add_mirror', { source: `${registry.url}/v0.1`, name: 'other' })
  await work({
    subject,
    requests,
    serve(servers, nextCursor, status = 200, headers = {}) {
      body = JSON.stringify({ servers, metadata: { nextCursor } })
      code = status
      fields = headers
    },
    pass(milliseconds) {
      passed += milliseconds
    },
  })
}

test('agents are not hidden where the source lacks most of them, unless it still does a day later', async () => {
  await withSource(async ({ subject: { gateway, request }, serve, pass }) => {
    const isListed = async () =>
      (await request('GET', '/public/agents/com.example%2Fweather-0')).status === 200
    serve(rows(30))
    await runToEnd(gateway, 'other')
    serve([])
    pass(8 * day)
    await expect(runToEnd(gateway, 'other')).rejects.toMatchObject({ code: 'upstream_invalid' })
    expect(await mirrorNamed(gateway, 'other')).toMatchObject({
      status: 'failing',
      counts: { removed: 0 },
      error: { message: expect.stringContaining('lacks 30 of 30 agents') },
    })
    expect(await isListed()).toBe(true)
    pass(day / 2)
    await expect(runToEnd(gateway, 'other')).rejects.toMatchObject({ code: 'upstream_invalid' })
    pass(day / 2)
    expect(await runToEnd(gateway, 'other')).toMatchObject({ mode: 'all', counts: { removed: 30 } })
    expect(await isListed()).toBe(false)
    serve(rows(30))
    pass(8 * day)
    await runToEnd(gateway, 'other')
    serve(rows(15))
    pass(8 * day)
    expect(await runToEnd(gateway, 'other')).toMatchObject({ counts: { removed: 15 } })
  })
})

test('a source that refuses its own cursor is read from the beginning', async () => {
  await withSource(async ({ subject: { gateway }, serve, requests }) => {
    serve(rows(1), 'a')
    await expect(runToEnd(gateway, 'other')).rejects.toMatchObject({ code: 'upstream_invalid' })
    serve([], undefined, 400)
    await expect(runToEnd(gateway, 'other')).rejects.toMatchObject({ code: 'upstream_failed' })
    expect(requests.at(-1)).toContain('cursor=a')
    serve(rows(1))
    expect(await runToEnd(gateway, 'other')).toMatchObject({ status: 'waiting' })
    expect(requests.at(-1)).not.toContain('cursor')
  })
})

test('a source that refuses to name its changes is read from the beginning', async () => {
  await withSource(async ({ subject: { gateway }, serve }) => {
    serve(rows(1))
    await runToEnd(gateway, 'other')
    serve([], undefined, 422)
    await expect(runToEnd(gateway, 'other')).rejects.toMatchObject({ code: 'upstream_failed' })
    serve(rows(1))
    expect(await runToEnd(gateway, 'other')).toMatchObject({ mode: 'all' })
  })
})

test('a removal that was interrupted stops the runs of the mirror, and ends when it is asked for again', async () => {
  await withSource(async ({ subject: { gateway }, serve }) => {
    serve(rows(2))
    await runToEnd(gateway, 'other')
    const stored = await gateway.store.mirrors.get('other')
    if (!stored) throw new Error('There is no mirror.')
    await gateway.store.mirrors.put({ ...stored, phase: 'removal', next_at: stored.created_at })
    expect(await gateway.mirrors.isDue()).toBe(false)
    await expect(gateway.mirrors.start('other')).rejects.toMatchObject({ code: 'cancelled' })
    expect(await gateway.store.mirrors.get('other')).toMatchObject({ phase: 'removal' })
    expect(await operate(gateway, 'remove_mirror', { name: 'other' })).toEqual({ removed: 2, left: 0 })
  })
})

test.each([
  ['without agents', [[]]],
  ['that repeat their agents', [rows(3), rows(5).slice(2)]],
])('pages %s end', async (_, pages) => {
  let count = 0
  await using registry = await startRegistryReplay([], (_, response) => {
    count += 1
    const servers = pages[count % pages.length]
    response.end(JSON.stringify({ servers, metadata: { nextCursor: `page-${count}` } }))
    return true
  })
  await using subject = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: registry.url })
  await operate(subject.gateway, 'add_mirror', { source: `${registry.url}/v0.1`, name: 'other' })
  await expect(runToEnd(subject.gateway, 'other')).rejects.toMatchObject({ code: 'upstream_invalid' })
  expect(count).toBeLessThan(200)
  expect((await mirrorNamed(subject.gateway, 'other')).error).toMatchObject({
    message: expect.stringContaining('without a server that it had not given before'),
  })
})

test.each(['9999-12-31T23:59:59-01:00', '+010000-01-01T00:00:00Z', '-000100-01-01T00:00:00Z'])(
  'a source that states the time %s does no harm',
  async (time) => {
    await withSource(async ({ subject: { gateway }, serve }) => {
      serve(
        [...rows(1, { status: 'deprecated', statusChangedAt: time }), ...rows(2).slice(1)],
        undefined,
        200,
        {
          Date: time,
        },
      )
      expect(await runToEnd(gateway, 'other')).toMatchObject({ counts: { created: 1, rejected: 1 } })
      expect(await runToEnd(gateway, 'other')).toMatchObject({ status: 'waiting' })
    })
  },
)

test('a leap second and a time without an offset are times', async () => {
  await withSource(async ({ subject: { gateway }, serve }) => {
    serve([
      ...rows(1, { publishedAt: '2016-12-31T23:59:60Z' }),
      ...rows(2, { publishedAt: '2026-01-01T00:00:00.5' }).slice(1),
    ])
    expect(await runToEnd(gateway, 'other')).toMatchObject({ counts: { created: 2 } })
    const times = await gateway.store.servers.list({ limit: 100 })
    expect(times.filter(({ mirror }) => mirror).map(({ published_at }) => published_at)).toEqual([
      '2016-12-31T23:59:59.000000000Z',
      '2026-01-01T00:00:00.500000000Z',
    ])
  })
})

test('the words of a source on a status hold no hidden characters, and a name of this gateway is refused', async () => {
  await withSource(async ({ subject: { gateway }, serve }) => {
    const [reserved] = rows(1)
    serve([
      { ...reserved, server: { ...reserved?.server, name: 'svc/registry-of-others' } },
      ...rows(1, { status: 'deprecated', statusMessage: `Use\0\u202e it.${'x'.repeat(1000)}` }),
    ])
    const mirror = await runToEnd(gateway, 'other')
    expect(mirror.counts).toMatchObject({ created: 1, rejected: 1 })
    expect(mirror.rejections[0]?.reason).toContain('reserved')
    const [row] = await gateway.store.servers.versions('com.example/weather-0', true)
    expect(row?.status_message).toMatch(/^Use it\.x{1,}/)
    expect(row?.status_message?.length).toBeLessThanOrEqual(500)
  })
})

test('metrics show the last finished run of each mirror and its failures since', async () => {
  await withSource(async ({ subject: { gateway, request }, serve }) => {
    const metrics = async () => (await request('GET', '/metrics')).text
    expect(await metrics()).toContain('dragoman_mirror_failures{mirror="other"} 0')
    serve(rows(1))
    const { finished_at } = await runToEnd(gateway, 'other')
    serve([], undefined, 404)
    await expect(runToEnd(gateway, 'other')).rejects.toMatchObject({ code: 'upstream_failed' })
    const text = await metrics()
    expect(text).toContain('dragoman_mirror_failures{mirror="other"} 1')
    const seconds = Date.parse(finished_at ?? '') / 1000
    expect(text).toContain(`dragoman_mirror_last_success_timestamp_seconds{mirror="other"} ${seconds}`)
    await operate(gateway, 'remove_mirror', { name: 'other' })
    expect(await metrics()).not.toContain('dragoman_mirror_failures{mirror="other"}')
  })
})

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startLeasedJob } from '../../../src/registry/leased-job.ts'
import { serveA2a, serveLegacyA2a } from '../../support/a2a-agents.ts'
import { list } from '../../support/listed.ts'
import { behaviours, type LivingAgents, serveLiving, soundAnswer, soundCard } from '../../support/living.ts'
import { day, type Home, hour, minute, nameOf, openHome, signal } from './home.ts'

const retryFor = { timeout: 20_000 }
const sound = { card: soundCard, endpoint: soundAnswer }
const dead = behaviours['is gone'] ?? sound

describe('an agent that stops answering', () => {
  let agents: LivingAgents
  let home: Home
  beforeEach(async () => {
    agents = await serveLiving()
    home = await openHome([agents])
    for (const name of ['weather one', 'weather two', 'weather three']) agents.become(name, sound)
  })
  afterEach(async () => {
    await home[Symbol.asyncDispose]()
    await agents[Symbol.asyncDispose]()
  })

  const found = async (filters = {}) => {
    const body = { query: 'weather one', filters }
    const { json } = await home.gateway.request('POST', '/api/agents/search', { body })
    // A hosted agent may be close to the query too.
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
    return (json.agents as any[]).filter(({ package_name }) => package_name.startsWith('com.example.'))
  }
  const names = async (filters = {}) => (await found(filters)).map(({ name }) => name)
  const look = async (pause: number) => {
    home.time.pass(pause)
    return await home.cycle()
  }

  test('sinks in search within one cycle, further once it is dead, and rises when it is back', async () => {
    await home.list(agents, 'weather one', 'weather two')
    expect(await look(0)).toBe(2)
    expect(await names()).toEqual(['weather one', 'weather two'])
    const score = async () => (await found()).find(({ name }) => name === 'weather one').score
    const whole = await score()

    agents.become('weather one', dead)
    // Its card is unchanged, so the agent itself is probed only once a day.
    await look(day)
    expect((await home.entry('weather one')).liveness).toMatchObject({
      status: 'degraded',
      failure: 'wrong_protocol',
    })
    expect(await score()).toBeLessThan(whole)
    await look(2 * minute)
    await look(6 * minute)
    expect((await home.entry('weather one')).liveness.status).toBe('dead')
    expect(await score()).toBeCloseTo(whole / 2)
    const degraded = (await found()).find(({ name }) => name === 'weather one')
    expect(degraded.match.scores.liveness).toBe(0.5)

    agents.become('weather one', sound)
    await look(hour)
    expect((await home.entry('weather one')).liveness).toMatchObject({ status: 'alive', failure: null })
    expect(await score()).toBe(whole)
    expect((await found())[0].match.scores).not.toHaveProperty('liveness')
  })

  test('whose whole host is gone sinks below one that fits less', async () => {
    await using other = await serveLiving()
    await using far = await openHome([other, agents])
    other.become('send email', sound)
    agents.become('email', sound)
    await far.list(other, 'send email')
    await far.list(agents, 'email')
    await far.cycle()
    const first = async () =>
      (await far.gateway.request('GET', '/public/agents?q=send+email')).json.agents[0].name
    expect(await first()).toBe('send email')
    await other[Symbol.asyncDispose]()
    for (const pause of [hour + 10 * minute, 2 * minute, 6 * minute]) {
      far.time.pass(pause)
      await far.cycle()
    }
    expect((await far.entry('send email')).liveness.failure).toBe('refused')
    expect(await first()).toBe('email')
  })

  test('is filtered by live on every way to a list; an agent that was never probed is unknown', async () => {
    agents.become('weather two', behaviours['has nothing but a lost card'] ?? sound)
    await home.list(agents, 'weather one', 'weather two')
    for (const pause of [0, 2 * minute, 6 * minute]) await look(pause)
    await home.list(agents, 'weather three')
    expect(await names({ live: true })).toEqual(['weather one'])
    expect(await names({ live: false })).toEqual(['weather two'])
    expect((await names()).toSorted()).toEqual(['weather one', 'weather three', 'weather two'])
    const { json } = await home.gateway.request('GET', '/public/agents?live=false')
    expect(json.agents.map(({ name }: { name: string }) => name)).toEqual(['weather two'])
    expect(json.total).toBe(1)
    const hosted = await home.gateway.request('GET', '/api/agents?live=true&q=encyclopedia')
    expect(hosted.json.agents[0].package_name).toBe('svc.utility.wiki')
    expect((await home.gateway.request('GET', '/public/agents?live=yes')).status).toBe(400)
  })

  test('is probed at growing intervals, becomes stale after a week, and is never deleted', async () => {
    agents.become('weather one', behaviours['has nothing but a lost card'] ?? sound)
    await home.list(agents, 'weather one')
    const probes: number[] = []
    for (let minutes = 0; minutes < 3 * 24 * 60; minutes += 30) {
      if ((await look(30 * minute)) > 0) probes.push(minutes)
    }
    expect(probes.length).toBeLessThan(16)
    expect((await home.entry('weather one')).liveness.status).toBe('dead')
    for (let days = 0; days < 5; days++) await look(day)
    const { liveness, state } = await home.entry('weather one')
    expect([liveness.status, liveness.last_ok, state]).toEqual(['stale', null, 'ACTIVE'])
    expect(liveness.uptime_30d).toBe(0)
  }, 30_000)

  test('is remembered after a restart', async () => {
    await home.list(agents, 'weather one')
    await look(0)
    const before = await home.entry('weather one')
    await using again = await openHome([agents], { DRAGOMAN_DATA: home.gateway.data }, home.time)
    await again.gateway.gateway.ready
    expect(await again.entry('weather one')).toEqual(before)
    expect(before.liveness).toMatchObject({ status: 'alive', last_ok: '2026-11-01T00:00:00.000Z' })
    expect(await again.cycle()).toBe(0)
  })

  test('is probed when a call to it fails, although its card is unchanged', async () => {
    await using far = await openHome([agents], { DRAGOMAN_LIVENESS: 'on' })
    await far.list(agents, 'weather one')
    await far.cycle()
    agents.become('weather one', dead)
    const token = await far.gateway.token('caller')
    const body = { to: nameOf('weather one'), action: 'anything', params: {} }
    const called = await far.gateway.request('POST', '/a2a/message', { token, body })
    expect(called.json.code).toBe('upstream_invalid')
    const status = async () => (await far.entry('weather one')).liveness.status
    await expect.poll(status, retryFor).toBe('degraded')
    const { length } = agents.requests
    await far.gateway.request('POST', '/a2a/message', { token, body })
    expect(agents.requests).toHaveLength(length + 1)
    for (const pause of [2 * minute, 6 * minute]) {
      far.time.pass(pause)
      await far.cycle()
    }
    expect(await status()).toBe('dead')
  })

  test('shows what share of the time it answered, and how fast', async () => {
    await home.list(agents, 'weather one')
    await look(0)
    expect((await home.entry('weather one')).liveness.uptime_30d).toBeNull()
    for (let hours = 0; hours < 8; hours++) await look(hour)
    agents.become('weather one', {
      card: behaviours['is gone']?.endpoint ?? soundCard,
      endpoint: soundAnswer,
    })
    await home.gateway.gateway.liveness.livenessCache.sweep()
    const { liveness } = await home.entry('weather one')
    expect(liveness.uptime_30d).toBe(1)
    expect(liveness.p50_ms).toBeGreaterThanOrEqual(0)
    expect(liveness.p95_ms).toBeGreaterThanOrEqual(liveness.p50_ms)
  })

  test('shows by days what its probes found', async () => {
    await home.list(agents, 'weather one')
    const path = `/public/agents/${nameOf('weather one')}/liveness`
    await look(0)
    await look(hour)
    agents.become('weather one', {
      card: behaviours['is gone']?.card ?? soundCard,
      endpoint: behaviours['is gone']?.endpoint ?? soundAnswer,
    })
    await look(day)
    const { json } = await home.gateway.request('GET', `${path}?days=2`)
    expect(json).toMatchObject({
      package_name: nameOf('weather one'),
      from: '2026-11-01',
      to: '2026-11-02',
      days: [
        { date: '2026-11-01', probes: 2, failures: 0, p50_ms: expect.any(Number) },
        { date: '2026-11-02', probes: 1, failures: 1, p50_ms: null },
      ],
    })
    expect((await home.gateway.request('GET', `${path}?days=1`)).json.days).toHaveLength(1)
    expect((await home.gateway.request('GET', `${path}?days=0`)).status).toBe(400)
    expect((await home.gateway.request('GET', '/public/agents/com.example.none/liveness')).status).toBe(404)
  })
})

test('an agent whose address this gateway does not call has no share of the time it answered', async () => {
  await using agents = await serveLiving()
  await using elsewhere = await openHome([])
  await elsewhere.list(agents, 'weather one')
  for (let hours = 0; hours < 3; hours++) {
    elsewhere.time.pass(hour)
    await elsewhere.cycle()
  }
  const { liveness } = await elsewhere.entry('weather one')
  expect(liveness).toMatchObject({ failure: 'blocked_address', uptime_30d: null })
})

describe('a probe', () => {
  let agents: LivingAgents
  let home: Home
  beforeEach(async () => {
    agents = await serveLiving()
    home = await openHome([agents])
  })
  afterEach(async () => {
    await home[Symbol.asyncDispose]()
    await agents[Symbol.asyncDispose]()
  })

  test('is one conditional request for the card, and the question whether it answers once a day', async () => {
    agents.become('sun', {
      ...sound,
      card(response) {
        const isKnown = response.req.headers['if-none-match'] === '"v1"'
        if (isKnown) response.writeHead(304).end()
        else response.writeHead(200, { etag: '"v1"' }).end('{"name": "Sun", "description": "Shines."}')
      },
    })
    await home.list(agents, 'sun')
    for (let hours = 0; hours < 24; hours++) {
      await home.cycle()
      home.time.pass(hour)
    }
    const lines = agents.requests.map(({ line }) => line)
    expect(lines.filter((line) => line === 'GET /sun/card')).toHaveLength(24)
    expect(lines.filter((line) => line === 'POST /sun/agent')).toHaveLength(2)
    expect(agents.requests.filter(({ headers }) => headers['if-none-match'] === '"v1"')).toHaveLength(23)
    expect((await home.entry('sun')).liveness.status).toBe('alive')
  })

  test('changes the entry and the change log only if the status changes', async () => {
    agents.become('sun', sound)
    const [listed] = await home.list(agents, 'sun')
    const { store } = home.gateway.gateway
    const revision = await store.read.revision()
    for (let hours = 0; hours < 5; hours++) {
      await home.cycle()
      home.time.pass(hour)
    }
    const changes = await store.changes(revision, 10)
    expect(changes).toMatchObject([{ kind: 'liveness', entry_id: listed?.id }])
    expect((await home.entry('sun')).revision).toBe(revision)
    expect(await store.read.audit(listed?.id ?? '', 10)).toHaveLength(1)
  })

  test('skips entries that are hosted, in STAGE, suspended, deleted, or without an address', async () => {
    agents.become('sun', sound)
    const owner = await home.gateway.token('owner')
    const { manifest_url } = agents.siteOf('sun')
    const id = await list(home.gateway, { package_name: 'com.example.sun', manifest_url }, owner)
    const act = (path: string, body = {}) =>
      home.gateway.request('POST', `/api/agents/${id}/${path}`, { token: owner, body })
    await act('unpublish')
    expect(await home.cycle()).toBe(0)
    await act('go-live')
    expect(await home.cycle()).toBe(1)
    const admin = await home.gateway.token('root', { scopes: ['admin'] })
    await home.gateway.request('POST', `/api/agents/${id}/suspend`, {
      token: admin,
      body: { reason: 'Bad.' },
    })
    home.time.pass(day)
    expect(await home.cycle()).toBe(0)
    await home.gateway.request('DELETE', `/api/agents/${id}`, { token: owner })
    await list(home.gateway, {
      package_name: 'com.example.no',
      capabilities: [{ name: 'x', description: 'Does.' }],
    })
    expect(await home.cycle()).toBe(0)
    expect((await home.gateway.request('GET', '/public/agents/com.example.no')).json.liveness.status).toBe(
      'unknown',
    )
    expect((await home.gateway.request('GET', '/public/agents/svc.utility.wiki')).json.liveness.status).toBe(
      'alive',
    )
  })

  test('is made once, although several processes probe due agents', async () => {
    for (const name of ['sun', 'moon']) agents.become(name, sound)
    await home.list(agents, 'sun', 'moon')
    await using other = await openHome([agents], { DRAGOMAN_DATA: home.gateway.data }, home.time)
    await using loops = new AsyncDisposableStack()
    for (const [
      number,
      {
        gateway: { gateway },
      },
    ] of [home, other].entries()) {
      loops.use(
        startLeasedJob({
          job: gateway.liveness.prober,
          leases: gateway.store.leases,
          lease: 'liveness',
          holder: String(number),
          clock: home.time.clock,
          onError: (fault) => expect.fail(String(fault)),
          beat_ms: 5,
        }),
      )
    }
    await expect.poll(async () => (await other.entry('sun')).liveness.status, retryFor).toBe('alive')
    const live = async () => (await other.gateway.request('GET', '/public/agents?q=sun&live=true')).json.total
    await expect.poll(live, retryFor).toBe(1)
    await expect.poll(async () => (await home.entry('moon')).liveness.status, retryFor).toBe('alive')
    await loops.disposeAsync()
    expect(agents.requests.map(({ line }) => line).toSorted()).toEqual([
      'GET /moon/card',
      'GET /sun/card',
      'POST /moon/agent',
      'POST /sun/agent',
    ])
  })

  test('that finds another card has the registry read it, with its findings, long before the day is over', async () => {
    const serves = (card: object) =>
      agents.become('sun', { ...sound, card: (response) => void response.end(JSON.stringify(card)) })
    serves({ name: 'Sun', description: 'Shines.' })
    const owner = await home.gateway.token('owner')
    const id = await list(
      home.gateway,
      { package_name: 'com.example.sun', manifest_url: agents.siteOf('sun').manifest_url },
      owner,
    )
    await home.gateway.gateway.verification.checker.check(id, signal)
    await home.cycle()
    serves({ name: 'Sun', description: 'Shines.', skills: 'none' })
    home.time.pass(hour)
    await home.cycle()
    const { json } = await home.gateway.request('GET', `/api/agents/${id}`, { token: owner })
    expect(json.manifest.findings.map((item: { code: string }) => item.code)).toContain('wrong_type')
    expect(json.liveness.status).toBe('alive')
  })

  test('respects an agent’s Retry-After, up to a day', async () => {
    agents.become('sun', {
      ...sound,
      card: (response) => void response.writeHead(503, { 'retry-after': '7200' }).end(),
    })
    await home.list(agents, 'sun')
    await home.cycle()
    home.time.pass(hour + 30 * minute)
    expect(await home.cycle()).toBe(0)
    home.time.pass(hour)
    expect(await home.cycle()).toBe(1)
  })

  test('respects the Retry-After of the agent’s own protocol too', async () => {
    agents.become('sun', {
      ...sound,
      endpoint: (response) => void response.writeHead(429, { 'retry-after': '7200' }).end(),
    })
    await home.list(agents, 'sun')
    await home.cycle()
    expect((await home.entry('sun')).liveness).toMatchObject({ status: 'alive', failure: 'rate_limited' })
    home.time.pass(hour + 30 * minute)
    expect(await home.cycle()).toBe(0)
    home.time.pass(hour)
    expect(await home.cycle()).toBe(1)
  })

  test('is postponed after an internal fault, without delaying others', async () => {
    for (const name of ['moon', 'sun']) agents.become(name, sound)
    const [broken] = await home.list(agents, 'moon', 'sun')
    await home.cycle()
    using database = new DatabaseSync(join(home.gateway.data, 'registry.sqlite'))
    database.prepare('update entry set document = ? where id = ?').run('nonsense', broken?.id ?? '')
    agents.become('sun', dead)
    home.time.pass(day)
    expect(await home.cycle()).toBe(2)
    expect((await home.entry('sun')).liveness.status).toBe('degraded')
    home.time.pass(minute / 2)
    expect(await home.cycle()).toBe(0)
  })

  test('recognises agents of A2A 1.0 and 0.3', async () => {
    await using modern = await serveA2a()
    await using old = await serveLegacyA2a()
    const nowhere = 'http://127.0.0.1:9'
    const allowed = [modern.origin, old.origin, agents.origin, nowhere].join()
    await using far = await openHome([], { DRAGOMAN_ALLOW_ORIGINS: allowed })
    agents.become('none', sound)
    const { manifest_url } = agents.siteOf('none')
    const card = (origin: string) => `${origin}/.well-known/agent-card.json`
    await list(far.gateway, { package_name: 'com.example.modern', manifest_url: card(modern.origin) })
    await list(far.gateway, { package_name: 'com.example.old', manifest_url: card(old.origin) })
    const endpoints = [{ protocol: 'a2a' as const, url: `${agents.origin}/none/agent` }]
    await list(far.gateway, { package_name: 'com.example.none', manifest_url, endpoints })
    const gone = [{ protocol: 'a2a' as const, url: `${nowhere}/agent` }]
    await list(far.gateway, { package_name: 'com.example.gone', endpoints: gone })
    const token = await far.gateway.token('anybody')
    const check = async (name: string) => {
      const { json } = await far.gateway.request('POST', `/api/agents/com.example.${name}/check`, { token })
      return [
        json.liveness?.status,
        json.liveness?.failure,
        json.signals?.map((item: { ok: boolean }) => item.ok),
      ]
    }
    expect(await check('modern')).toEqual(['alive', null, [true, true, true]])
    expect(await check('old')).toEqual(['alive', null, [true, true, true]])
    expect(await check('none')).toEqual(['degraded', 'wrong_protocol', [true, true, false]])
    expect(await check('gone')).toEqual(['unreachable', 'refused', [false]])
  })
})

describe('a check on request', () => {
  test('answers with each signal, is shown at once, and marks no agent as dead however often it is repeated', async () => {
    await using agents = await serveLiving()
    await using home = await openHome([agents])
    agents.become('sun', sound)
    await home.list(agents, 'sun')
    const token = await home.gateway.token('anybody', { scopes: ['agents:read'] })
    const check = () => home.gateway.request('POST', `/api/agents/${nameOf('sun')}/check`, { token })
    const first = await check()
    expect(first.json).toMatchObject({
      package_name: nameOf('sun'),
      liveness: { status: 'alive', failure: null },
    })
    expect(first.json.signals).toMatchObject([
      { signal: 'card', ok: true },
      { signal: 'form', ok: true },
      { signal: 'answer', ok: true },
    ])
    agents.become('sun', dead)
    for (let times = 0; times < 6; times++) await check()
    expect((await home.entry('sun')).liveness).toMatchObject({
      status: 'degraded',
      failure: 'wrong_protocol',
    })
    const { json } = await check()
    expect(json.signals[2]).toMatchObject({ ok: false, failure: 'wrong_protocol', ms: null })
    expect(json.signals[2].detail).toContain('HTTP 404')
  })

  test('changes the tags of the entry and of lists, and no tag that a change is made conditional on', async () => {
    await using agents = await serveLiving()
    await using home = await openHome([agents])
    agents.become('sun', sound)
    const token = await home.gateway.token('owner')
    const { manifest_url, endpoint_url } = agents.siteOf('sun')
    const endpoints = [{ protocol: 'envelope' as const, url: endpoint_url ?? '' }]
    const id = await list(home.gateway, { package_name: nameOf('sun'), manifest_url, endpoints }, token)
    const get = (path: string, tag?: string | null) =>
      home.gateway.request('GET', path, { headers: tag ? { 'If-None-Match': tag } : {} })
    const tags = async () => {
      const [single, all] = [await get(`/public/agents/${id}`), await get('/public/agents')]
      return [single.headers.get('etag'), all.headers.get('etag')]
    }
    const check = () => home.gateway.request('POST', `/api/agents/${id}/check`, { token })
    await check()
    const [entry, all] = await tags()
    expect((await get(`/public/agents/${id}`, entry)).status).toBe(304)
    expect((await get('/public/agents', all)).status).toBe(304)
    home.time.pass(minute)
    await check()
    expect((await get(`/public/agents/${id}`, entry)).status).toBe(200)
    expect((await get('/public/agents', all)).status).toBe(200)
    const changed = await home.gateway.request('PUT', `/api/agents/${id}`, {
      token,
      body: { description: 'Shines brightly.' },
      headers: { 'If-Match': entry ?? '' },
    })
    expect(changed.status).toBe(200)
  })

  test('of a hosted agent or of one without an address sends no request', async () => {
    await using home = await openHome([])
    const token = await home.gateway.token('anybody')
    const check = async (name: string) =>
      (await home.gateway.request('POST', `/api/agents/${name}/check`, { token })).json
    expect(await check('svc.utility.wiki')).toMatchObject({ liveness: { status: 'alive' }, signals: [] })
    await list(home.gateway, {
      package_name: 'com.example.no',
      capabilities: [{ name: 'x', description: 'Does.' }],
    })
    expect(await check('com.example.no')).toMatchObject({ liveness: { status: 'unknown' }, signals: [] })
    const endpoints = [{ protocol: 'a2a' as const, url: 'https://example.com/a2a', binding: 'GRPC' }]
    await list(home.gateway, { package_name: 'com.example.grpc', endpoints })
    expect(await check('com.example.grpc')).toMatchObject({
      liveness: { status: 'unknown', failure: 'no_endpoint' },
    })
    expect(await check('com.example.nobody')).toMatchObject({ code: 'not_found' })
  })
})

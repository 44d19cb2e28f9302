import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { applyChanges, madeDocuments, publishedDocuments } from '../../conformance/mcp-registry/documents.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import {
  type OfficialRegistry,
  type ServerJson,
  startRegistryReplay,
} from '../../support/official-registry.ts'
import { bothSides, mirrorNamed, operate, runToEnd } from './mirror-run.ts'

const weather: ServerJson = {
  name: 'com.example/Weather',
  description: 'Forecasts for any place.',
  version: '1.0.0',
  remotes: [{ type: 'streamable-http', url: 'https://weather.example.com/mcp' }],
}

describe('a mirror of an MCP registry', () => {
  let registry: OfficialRegistry
  let subject: TestGateway
  beforeEach(async () => {
    registry = await startRegistryReplay([weather])
    subject = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: registry.url })
    await operate(subject.gateway, 'add_mirror', { source: registry.url, name: 'other', license: 'CC0-1.0' })
  })
  afterEach(async () => {
    await subject[Symbol.asyncDispose]()
    await registry[Symbol.asyncDispose]()
  })

  const found = async (name: string) => {
    const { status, json } = await subject.request('GET', `/public/agents/${encodeURIComponent(name)}`)
    return status === 200 ? json : status
  }

  test('lists its agents, with their origin and without an owner', async () => {
    expect(await runToEnd(subject.gateway, 'other')).toMatchObject({
      status: 'waiting',
      mode: 'all',
      counts: { created: 1, rejected: 0 },
      error: null,
    })
    expect(await found('com.example/weather')).toMatchObject({
      name: 'Weather',
      description: weather.description,
      version: '1.0.0',
      state: 'ACTIVE',
      owner: null,
      verification_level: 'unclaimed',
      callable: 'stated',
      endpoints: [{ protocol: 'mcp', url: 'https://weather.example.com/mcp', binding: 'streamable-http' }],
      origin: {
        source: 'other',
        url: registry.url,
        name: 'com.example/Weather',
        license: 'CC0-1.0',
        removed: false,
      },
    })
    const { json } = await subject.request('POST', '/api/agents/search', { body: { query: 'forecast' } })
    expect(json.agents[0].package_name).toBe('com.example/weather')
  })

  test('writes nothing where its source states again what it stated before', async () => {
    await runToEnd(subject.gateway, 'other')
    const { updated_at } = await found('com.example/weather')
    expect(await runToEnd(subject.gateway, 'other')).toMatchObject({ counts: { updated: 0, unchanged: 1 } })
    expect((await found('com.example/weather')).updated_at).toBe(updated_at)
  })

  test('follows new versions, changes of status and deletions, and returns what comes back', async () => {
    await runToEnd(subject.gateway, 'other')
    await registry.publish({ ...weather, version: '2.0.0', description: 'Forecasts by the hour.' })
    expect(await runToEnd(subject.gateway, 'other')).toMatchObject({
      mode: 'changes',
      counts: { updated: 1 },
    })
    expect(await found('com.example/weather')).toMatchObject({ version: '2.0.0', deprecated: null })
    await registry.setStatus(weather.name, '2.0.0', 'deprecated', 'Use another.')
    await runToEnd(subject.gateway, 'other')
    expect(await found('com.example/weather')).toMatchObject({ deprecated: { message: 'Use another.' } })
    await registry.setStatus(weather.name, '2.0.0', 'deleted')
    await runToEnd(subject.gateway, 'other')
    expect(await found('com.example/weather')).toMatchObject({ version: '1.0.0', deprecated: null })
    await registry.setStatus(weather.name, '1.0.0', 'deleted', 'Malware.')
    expect(await runToEnd(subject.gateway, 'other')).toMatchObject({ counts: { removed: 1 } })
    expect(await found('com.example/weather')).toBe(404)
    const { here, there } = await bothSides(subject.gateway, registry.url)
    expect(here).toEqual(there)
    await registry.setStatus(weather.name, '1.0.0', 'active')
    await runToEnd(subject.gateway, 'other')
    expect(await found('com.example/weather')).toMatchObject({ version: '1.0.0', suspended: null })
  })

  test('hides what its source has removed also where somebody has claimed it', async () => {
    await runToEnd(subject.gateway, 'other')
    const ada = await subject.token('ada', { namespaces: ['com.example'] })
    const claim = await subject.request('POST', '/api/agents/com.example%2Fweather/claim', {
      token: ada,
      body: {},
    })
    expect(claim.status).toBe(200)
    const body = { description: 'By its owner.' }
    const path = '/api/agents/com.example%2Fweather'
    expect((await subject.request('PUT', path, { token: ada, body })).json.description).toBe('By its owner.')
    await registry.publish({ ...weather, version: '1.1.0' })
    await runToEnd(subject.gateway, 'other')
    expect((await found('com.example/weather')).description).toBe('By its owner.')
    for (const version of ['1.0.0', '1.1.0']) await registry.setStatus(weather.name, version, 'deleted')
    await runToEnd(subject.gateway, 'other')
    expect(await found('com.example/weather')).toBe(404)
    expect((await subject.request('GET', path, { token: ada })).json.suspended.reason).toContain('removed')
    const admin = await subject.token('root', { scopes: ['admin'] })
    const hidden = await subject.request('GET', '/api/suspensions?by=source', { token: admin })
    expect(hidden.json).toMatchObject({
      agents: [{ package_name: 'com.example/weather', owner: { subject: 'ada' }, suspended_by: null }],
      next_cursor: null,
    })
    expect((await subject.request('GET', '/api/suspensions', { token: admin })).json.agents).toEqual([])
  })

  test('leaves a name alone that has an owner here, or looks like one', async () => {
    const ada = await subject.token('ada', { namespaces: ['com.example'] })
    const body = {
      package_name: 'com.example/weather',
      name: 'Mine',
      description: 'My own.',
      endpoints: [{ protocol: 'mcp', url: 'https://mine.example.com/mcp' }],
    }
    expect((await subject.request('POST', '/api/agents/publish', { token: ada, body })).status).toBe(201)
    await registry.publish({ ...weather, name: 'corn.example/weather' })
    await registry.publish({ ...weather, name: 'com.example/rain' })
    const mirror = await runToEnd(subject.gateway, 'other')
    expect(mirror.counts).toMatchObject({ created: 1, rejected: 2 })
    expect(mirror.rejections.map(({ key }) => key).sort()).toEqual([weather.name, 'corn.example/weather'])
    expect(await found('com.example/rain')).toMatchObject({ owner: null })
  })

  test('that is removed leaves no row and no vector, and an agent with an owner stays', async () => {
    await registry.publish({ ...weather, name: 'com.example/rain' })
    await runToEnd(subject.gateway, 'other')
    const ada = await subject.token('ada', { namespaces: ['com.example'] })
    await subject.request('POST', '/api/agents/com.example%2Frain/claim', { token: ada, body: {} })
    const id = (await found('com.example/weather')).id
    expect(await operate(subject.gateway, 'remove_mirror', { name: 'other' })).toEqual({
      removed: 1,
      left: 1,
    })
    expect(await subject.gateway.mirrors.list()).toEqual([])
    expect(await found('com.example/weather')).toBe(404)
    expect(await found('com.example/rain')).toMatchObject({ origin: null })
    const { store } = subject.gateway
    expect(await store.read.entry({ id })).toBeUndefined()
    await store.dumpRestore.dump(async ({ rows }) => {
      for await (const page of rows()) {
        const naming = page.filter(([table, row]) => table !== 'change' && JSON.stringify(row).includes(id))
        expect(naming).toEqual([])
      }
    })
    const { json } = await subject.request('POST', '/api/agents/search', { body: { query: 'forecast' } })
    expect(json.agents.map((agent: { package_name: string }) => agent.package_name)).toEqual([
      'com.example/rain',
    ])
  })

  test('is managed by admins alone, under one name each, and never mirrors this gateway', async () => {
    const ada = await subject.token('ada')
    const add = (params: object, token = ada) =>
      subject.request('POST', '/a2a/message', {
        token,
        body: { to: 'svc.registry', action: 'add_mirror', params },
      })
    expect((await add({ source: 'official' })).json.code).toBe('forbidden')
    const admin = await subject.token('root', { scopes: ['admin'] })
    expect((await add({ source: registry.url, name: 'other' }, admin)).json.code).toBe('conflict')
    expect((await add({ source: subject.url }, admin)).json).toMatchObject({ code: 'invalid_request' })
    expect((await add({ source: 'ftp://example.com' }, admin)).json).toMatchObject({
      code: 'invalid_request',
    })
    expect((await add({ source: 'https://ada:secret@example.com' }, admin)).json).toMatchObject({
      code: 'invalid_request',
    })
    expect((await add({ source: 'https://import', kind: 'lines' }, admin)).json).toMatchObject({
      code: 'invalid_request',
      hint: 'State its name: lower-case letters, digits and dashes.',
    })
    expect((await add({ source: 'http://10.0.0.1/list' }, admin)).json).toMatchObject({
      code: 'blocked_address',
    })
    expect((await add({ source: 'official', kind: 'mcp-registry' }, admin)).json).toMatchObject({
      name: 'official',
      license: 'CC0-1.0',
      status: 'waiting',
    })
  })

  test('that is removed while it runs ends without a trace', async () => {
    for (const document of madeDocuments(300)) await registry.publish(document)
    await subject.gateway.mirrors.start('other')
    await operate(subject.gateway, 'remove_mirror', { name: 'other' })
    const rows = await subject.gateway.store.servers.list({ limit: 400, include_deleted: true })
    expect(rows.filter(({ mirror }) => mirror !== null)).toEqual([])
    expect(await found('com.example/weather')).toBe(404)
  })
})

test('a mirror of the latest versions alone lists no other one, and hides a latest one that its source deletes', async () => {
  await using registry = await startRegistryReplay([weather])
  await using subject = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: registry.url })
  const { gateway } = subject
  await operate(gateway, 'add_mirror', { source: registry.url, name: 'other', filter: ['latest'] })
  const listed = async () => {
    await runToEnd(gateway, 'other')
    const rows = await gateway.store.servers.list({ limit: 100 })
    return rows.filter(({ mirror }) => mirror !== null).map(({ version, is_latest }) => [version, is_latest])
  }
  const version = async () =>
    (await subject.request('GET', '/public/agents/com.example%2Fweather')).json.version
  expect(await listed()).toEqual([['1.0.0', true]])
  await registry.publish({ ...weather, version: '2.0.0' })
  expect(await listed()).toEqual([['2.0.0', true]])
  await registry.publish({ ...weather, version: '1.5.0' })
  expect(await listed()).toEqual([['2.0.0', true]])
  expect(await version()).toBe('2.0.0')
  await registry.setStatus(weather.name, '2.0.0', 'deleted', 'Malware.')
  expect(await listed()).toEqual([['1.5.0', true]])
  expect(await version()).toBe('1.5.0')
  for (const other of ['1.5.0', '1.0.0']) await registry.setStatus(weather.name, other, 'deleted')
  expect(await listed()).toEqual([])
  expect(await version()).toBeUndefined()
})

describe('a mirror of a registry with many versions', () => {
  test('holds what the registry serves, after a run that ended between pages and after changes', async () => {
    const documents = [...publishedDocuments().slice(0, 400), ...madeDocuments(500)]
    const unique = [
      ...new Map(documents.map((document) => [`${document.name} ${document.version}`, document])).values(),
    ]
    let refused = 0
    await using registry = await startRegistryReplay(unique, (request, response) => {
      const isPage = request.url?.includes('cursor') ?? false
      if (!isPage || refused !== 1) {
        if (isPage) refused += 1
        return false
      }
      refused += 1
      response.writeHead(403).end()
      return true
    })
    await using subject = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: registry.url })
    const { gateway } = subject
    await operate(gateway, 'add_mirror', { source: registry.url, name: 'other' })
    await expect(runToEnd(gateway, 'other')).rejects.toMatchObject({ code: 'upstream_failed' })
    expect(await mirrorNamed(gateway, 'other')).toMatchObject({
      status: 'failing',
      error: { code: 'upstream_failed' },
    })
    const first = await runToEnd(gateway, 'other')
    expect(first).toMatchObject({ run: 1, status: 'waiting', counts: { rejected: 0 } })
    expect(
      registry.requests.filter((url) => !url.includes('cursor') && url.includes('limit=100')),
    ).toHaveLength(1)
    const { here, there } = await bothSides(gateway, registry.url)
    expect(here).toEqual(there)
    await applyChanges(registry, { changes: 40, deletions: 20, statuses: 10 })
    expect(await runToEnd(gateway, 'other')).toMatchObject({ mode: 'changes', run: 2 })
    const after = await bothSides(gateway, registry.url)
    expect(after.here).toEqual(after.there)
    expect(after.here).not.toEqual(here)
  })
})

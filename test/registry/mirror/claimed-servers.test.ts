import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import {
  type OfficialRegistry,
  official,
  type ServerJson,
  startRegistryReplay,
} from '../../support/official-registry.ts'
import { operate, runToEnd } from './mirror-run.ts'

const weather: ServerJson = {
  name: 'com.example/weather',
  description: 'Forecasts for any place.',
  version: '1.0.0',
  remotes: [{ type: 'streamable-http', url: 'https://weather.example.com/mcp' }],
}
const path = '/api/agents/com.example%2Fweather'

describe('the MCP registry API, of a mirrored agent', () => {
  let registry: OfficialRegistry
  let subject: TestGateway
  let ada: string
  beforeEach(async () => {
    registry = await startRegistryReplay([weather])
    subject = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: registry.url })
    await operate(subject.gateway, 'add_mirror', { source: registry.url, name: 'other' })
    await runToEnd(subject.gateway, 'other')
    ada = await subject.token('ada', { namespaces: ['com.example'] })
  })
  afterEach(async () => {
    await subject[Symbol.asyncDispose]()
    await registry[Symbol.asyncDispose]()
  })

  const claim = async () => {
    const answer = await subject.request('POST', `${path}/claim`, { token: ada, body: {} })
    expect(answer.status).toBe(200)
  }
  const change = async (body: object) => {
    const answer = await subject.request('PUT', path, { token: ada, body })
    expect(answer.json).toMatchObject(body)
  }
  const listed = async () => {
    const { json } = await subject.request('GET', '/v0.1/servers?limit=100')
    return json.servers
      .map(({ server }: { server: ServerJson }) => server)
      .filter(({ name }: ServerJson) => name === weather.name)
  }
  const versions = async () => (await listed()).map(({ version }: ServerJson) => version)
  const latest = async () => {
    const { json } = await subject.request('GET', '/v0.1/servers?limit=100&version=latest')
    return json.servers
      .filter(({ server }: { server: ServerJson }) => server.name === weather.name)
      .map(({ server }: { server: ServerJson }) => server.version)
  }

  test('lists no new version of an agent that an admin suspended', async () => {
    const admin = await subject.token('root', { scopes: ['admin'] })
    const body = { reason: 'Under review.' }
    expect((await subject.request('POST', `${path}/suspend`, { token: admin, body })).status).toBe(200)
    expect(await versions()).toEqual([])
    await registry.publish({ ...weather, version: '1.1.0' })
    await runToEnd(subject.gateway, 'other')
    expect(await versions()).toEqual([])
  })

  test('lists what an owner publishes beside what the source lists, with one latest version', async () => {
    await claim()
    await change({ version: '2.0.0', description: 'By its owner.' })
    await registry.publish({ ...weather, version: '1.5.0' })
    await runToEnd(subject.gateway, 'other')
    expect(await versions()).toEqual(['1.0.0', '1.5.0', '2.0.0'])
    expect(await latest()).toEqual(['2.0.0'])
    await registry.publish({ ...weather, version: '2.0.0', description: 'By the source.' })
    await runToEnd(subject.gateway, 'other')
    expect((await listed()).at(-1)).toMatchObject({ version: '2.0.0', description: 'By its owner.' })
    expect(await latest()).toEqual(['2.0.0'])
    await registry.publish({ ...weather, version: '3.0.0' })
    await runToEnd(subject.gateway, 'other')
    expect(await latest()).toEqual(['3.0.0'])
  })

  test('hides the versions of the owner too when the source removes the agent, and shows them when it returns', async () => {
    await claim()
    await change({ version: '2.0.0', description: 'By its owner.' })
    await registry.setStatus(weather.name, '1.0.0', 'deleted', 'Malware.')
    await runToEnd(subject.gateway, 'other')
    expect(await versions()).toEqual([])
    await registry.setStatus(weather.name, '1.0.0', 'active')
    await runToEnd(subject.gateway, 'other')
    expect(await versions()).toEqual(['1.0.0', '2.0.0'])
  })

  test.each<[string, string | undefined]>([
    ['without a change', undefined],
    ['with a version', '2.0.0'],
  ])('lists a claimed agent %s also when its mirror is removed', async (_, version) => {
    await claim()
    if (version) await change({ version, description: 'By its owner.' })
    await operate(subject.gateway, 'remove_mirror', { name: 'other' })
    expect(await versions()).toEqual(version ? ['1.0.0', version] : ['1.0.0'])
    expect(await latest()).toEqual([version ?? '1.0.0'])
    if (version) expect((await listed()).at(-1).description).toBe('By its owner.')
    const { json } = await subject.request('GET', '/v0.1/servers/com.example%2Fweather/versions/latest')
    expect(json._meta[official]).toMatchObject({ status: 'active', isLatest: true })
  })
})

test('what a source removes without a trace is no longer served', async () => {
  let serves = [weather, { ...weather, name: 'com.example/rain' }, { ...weather, name: 'com.example/snow' }]
  await using registry = await startRegistryReplay([], (request, response) => {
    if (!request.url?.includes('/servers')) return false
    const servers = serves.map((server) => ({
      server,
      _meta: { [official]: { status: 'active', publishedAt: '2026-01-01T00:00:00Z', isLatest: true } },
    }))
    response.writeHead(200).end(JSON.stringify({ servers, metadata: { count: servers.length } }))
    return true
  })
  let days = 0
  const clock = () => Date.now() + days * 86_400_000
  await using subject = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: registry.url }, { clock })
  await operate(subject.gateway, 'add_mirror', { source: registry.url, name: 'other' })
  await runToEnd(subject.gateway, 'other')
  const names = async () => {
    const { json } = await subject.request('GET', '/v0.1/servers?limit=100')
    return json.servers
      .map(({ server }: { server: ServerJson }) => server.name)
      .filter((name: string) => name.startsWith('com.example/'))
  }
  expect(await names()).toEqual(['com.example/rain', 'com.example/snow', 'com.example/weather'])
  const all = serves
  serves = all.slice(0, 2)
  days = 8
  expect(await runToEnd(subject.gateway, 'other')).toMatchObject({ mode: 'all', counts: { removed: 1 } })
  expect(await names()).toEqual(['com.example/rain', 'com.example/weather'])
  serves = all
  await runToEnd(subject.gateway, 'other')
  expect(await names()).toEqual(['com.example/rain', 'com.example/snow', 'com.example/weather'])
})

test('an imported agent that nobody owns goes to the mirror of its registry', async () => {
  const document = { server: { ...weather, version: '0.9.0' } }
  await using registry = await startRegistryReplay([weather])
  await using subject = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: registry.url })
  const { gateway } = subject
  const load = () => operate(gateway, 'import_entries', { lines: [JSON.stringify(document)], first_line: 1 })
  expect(await load()).toMatchObject({ created: 1, rejected: [] })
  const found = async () =>
    (await subject.request('GET', '/public/agents/com.example%2Fweather')).json as {
      id: string
      origin: { source: string } | null
    }
  const { id } = await found()
  await operate(gateway, 'add_mirror', { source: registry.url, name: 'other' })
  expect(await runToEnd(gateway, 'other')).toMatchObject({ counts: { updated: 1, rejected: 0 } })
  expect(await found()).toMatchObject({ id, version: '1.0.0', origin: { source: 'other' } })
  const rows = await gateway.store.servers.versions(weather.name, true)
  expect(rows.map(({ version, mirror }) => [version, mirror])).toEqual([['1.0.0', 'other']])
  await load()
  expect(await found()).toMatchObject({ id, version: '1.0.0', origin: { source: 'other' } })
  expect(await gateway.store.servers.versions(weather.name, true)).toEqual(rows)
})

test('a name that a removed mirror had goes to another mirror of the registry at its next run', async () => {
  await using registry = await startRegistryReplay([weather])
  await using subject = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: registry.url })
  const { gateway } = subject
  for (const name of ['first', 'second']) {
    await operate(gateway, 'add_mirror', { source: registry.url, name })
    await runToEnd(gateway, name)
  }
  await operate(gateway, 'remove_mirror', { name: 'first' })
  expect(await runToEnd(gateway, 'second')).toMatchObject({ mode: 'all', counts: { created: 1 } })
})

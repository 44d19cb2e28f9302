import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { applyChanges, madeDocuments, readAll } from '../../conformance/mcp-registry/documents.ts'
import { operate, runToEnd } from '../../registry/mirror/mirror-run.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { type OfficialRegistry, official, startRegistryReplay } from '../../support/official-registry.ts'

const own = 'io.github.dragoman/registry'
const weather = {
  $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
  name: 'com.example/Weather',
  description: 'Forecasts for any place.',
  version: '1.0.0',
  remotes: [{ type: 'streamable-http', url: 'https://weather.example.com/mcp' }],
}

describe('servers of another registry', () => {
  let registry: OfficialRegistry
  let home: TestGateway
  beforeAll(async () => {
    registry = await startRegistryReplay([weather, ...madeDocuments(120)])
    home = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: registry.url })
    await operate(home.gateway, 'add_mirror', { source: registry.url, name: 'other', license: 'MIT' })
    await runToEnd(home.gateway, 'other')
  })
  afterAll(async () => {
    await home[Symbol.asyncDispose]()
    await registry[Symbol.asyncDispose]()
  })

  test('are served as their registry serves them, also after changes and deletions there', async () => {
    await applyChanges(registry, { changes: 20, deletions: 10, statuses: 4 })
    await runToEnd(home.gateway, 'other')
    const [here, there] = await Promise.all([readAll(home.url), readAll(registry.url)])
    const mirrored = here.filter(({ _meta }) => !JSON.stringify(_meta).includes('"package_name":"svc.'))
    const shown = mirrored.map(({ server, _meta }) => ({ server, _meta: { [official]: _meta[official] } }))
    expect(shown).toEqual(there)
    expect(new Set(there.map(({ _meta }) => _meta[official].status)).size).toBe(3)
  })

  test('state where they come from', async () => {
    const { json } = await home.request('GET', '/v0.1/servers/com.example%2FWeather/versions/latest')
    expect(json._meta[own]).toMatchObject({
      package_name: 'com.example/weather',
      verification_level: 'unclaimed',
      origin: { source: 'other', name: 'com.example/Weather', license: 'MIT' },
    })
  })

  test('go to their publisher, who publishes the next version under the same name', async () => {
    const next = { ...weather, version: '2.0.0', description: 'Forecasts by its own publisher.' }
    const publish = async (token: string) => await home.request('POST', '/v0/publish', { body: next, token })
    expect((await publish(await home.token('stranger'))).status).toBe(403)
    const token = await home.token('publisher', { namespaces: ['com.example'] })
    const { json, status, text } = await publish(token)
    expect(status, text).toBe(200)
    expect(json.server).toEqual(next)
    const { servers } = (await home.request('GET', '/v0.1/servers/com.example%2FWeather/versions')).json
    const facts = servers.map((row: (typeof servers)[number]) => [
      row.server.version,
      row._meta[official].isLatest,
    ])
    expect(facts).toEqual([
      ['2.0.0', true],
      ['1.0.0', false],
    ])
    const entry = await home.request('GET', '/public/agents/com.example%2Fweather')
    expect(entry.json).toMatchObject({
      verification_level: 'unverified',
      owner: { namespace: 'com.example' },
    })
  })
})

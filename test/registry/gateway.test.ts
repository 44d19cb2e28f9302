import { afterAll, describe, expect, test } from 'vitest'
import { temporaryFolder } from '../support/command.ts'
import { startGateway } from '../support/gateway.ts'
import { hostedNames, startRevision } from '../support/hosted.ts'
import { codeOf, openRegistry, person, publication } from '../support/registry.ts'
import { replay } from '../support/replay.ts'

const card = {
  protocolVersion: '0.3.0',
  name: 'Postman',
  description: 'Delivers letters.',
  url: 'https://post.example/a2a',
  version: '1.0.0',
  capabilities: { streaming: true, pushNotifications: false },
  skills: [{ id: 'deliver', name: 'Deliver', description: 'Delivers.', tags: ['post'] }],
}

const outside = await replay({
  'GET /card': { headers: { 'content-type': 'application/json' }, body: JSON.stringify(card) },
})
const home = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: outside.url })
afterAll(() => outside[Symbol.asyncDispose]())
afterAll(() => home[Symbol.asyncDispose]())

describe('the life of an agent over REST', () => {
  test('goes from published to live to unpublished to deleted, each step as the table says', async () => {
    const token = await home.token('ada')
    const path = '/api/agents/com.rest.agent'
    const made = await home.request('POST', '/api/agents/publish', {
      token,
      body: publication('com.rest.agent'),
    })
    expect(made.status).toBe(201)
    expect(made.headers.get('location')).toBe(`/api/agents/${made.json.id}`)
    expect((await home.request('GET', path)).status).toBe(404)
    expect((await home.request('GET', path, { token })).json.state).toBe('STAGE')

    const live = await home.request('POST', `${path}/go-live`, { token })
    expect([live.status, live.json.state]).toEqual([200, 'ACTIVE'])
    expect((await home.request('POST', `/api/agents/${made.json.id}/go-live`, { token })).json.code).toBe(
      'wrong_state',
    )
    expect((await home.request('GET', path)).json.owner).toEqual({ namespace: null })

    const changed = await home.request('PUT', path, { token, body: { name: 'Renamed' } })
    expect([changed.status, changed.json.name]).toEqual([200, 'Renamed'])
    const back = await home.request('POST', `${path}/unpublish`, { token })
    expect([back.status, back.json.state]).toEqual([200, 'STAGE'])
    const gone = await home.request('DELETE', path, { token })
    expect([gone.status, gone.text]).toEqual([204, ''])
    expect((await home.request('GET', path, { token })).status).toBe(404)
    const again = await home.request('POST', '/api/agents/publish', {
      token,
      body: publication('com.rest.agent'),
    })
    expect([again.status, again.json.id]).toEqual([201, made.json.id])
  })

  test('needs the scopes that the table says', async () => {
    const write = await home.token('writer', { scopes: ['agents:write'] })
    const body = publication('com.scoped.agent')
    expect((await home.request('POST', '/api/agents/publish', { token: write, body })).status).toBe(201)
    const refused = await home.request('POST', '/api/agents/com.scoped.agent/go-live', { token: write })
    expect([refused.status, refused.json.code, refused.json.scope]).toEqual([
      403,
      'forbidden',
      'agents:publish',
    ])
    const publish = await home.token('writer', { scopes: ['agents:publish'] })
    expect(
      (await home.request('POST', '/api/agents/com.scoped.agent/go-live', { token: publish })).status,
    ).toBe(200)
    expect((await home.request('DELETE', '/api/agents/com.scoped.agent', { token: publish })).status).toBe(
      403,
    )
  })

  test('by a manifest alone keeps the publisher’s own card, and serves it unchanged', async () => {
    const token = await home.token('ada')
    const made = await home.request('POST', '/api/agents/publish', {
      token,
      body: { manifest_url: `${outside.url}/card`, package_name: 'com.postman.agent' },
    })
    expect(made.json).toMatchObject({ name: 'Postman', tags: ['post'], card })
    await home.request('POST', '/api/agents/com.postman.agent/go-live', { token })
    const served = await home.request('GET', '/agents/com.postman.agent/.well-known/agent-card.json')
    expect([served.status, served.json]).toEqual([200, card])
    const params = { package_name: 'custom.com.postman.agent' }
    const resolved = await home.request('POST', '/a2a/message', {
      body: { to: 'svc.registry', action: 'resolve_package', params },
    })
    expect(resolved.json).toMatchObject({ manifest_url: `${outside.url}/card`, card })
  })

  test('hides a card in STAGE from all callers but its owner', async () => {
    const token = await home.token('ada')
    await home.request('POST', '/api/agents/publish', { token, body: publication('com.hidden.card') })
    const path = '/agents/com.hidden.card/.well-known/agent-card.json'
    expect((await home.request('GET', path)).status).toBe(404)
    expect((await home.request('GET', path, { token: await home.token('eve') })).status).toBe(404)
    expect((await home.request('GET', path, { token })).json.agent_id).toBe('custom.com.hidden.card')
  })
})

describe('hosted agents', () => {
  test('are listed, except the playground, and no caller can change one', async () => {
    const { json } = await home.request('GET', '/public/agents?target=developer&category=utilities')
    const names = json.agents.map((agent: { package_name: string }) => agent.package_name)
    expect(names.toSorted()).toEqual(hostedNames)
    expect(names).toEqual(
      expect.arrayContaining([
        'svc.registry',
        'svc.utility.finance',
        'svc.utility.reader',
        'svc.utility.wiki',
      ]),
    )
    expect(names).not.toContain('svc.playground')
    expect((await home.request('GET', '/public/agents/svc.playground')).status).toBe(404)
    const token = await home.token('root', { scopes: ['admin'] })
    for (const [method, path] of [
      ['PUT', ''],
      ['POST', '/unpublish'],
      ['POST', '/go-live'],
      ['DELETE', ''],
    ] as const) {
      const answer = await home.request(method, `/api/agents/svc.utility.wiki${path}`, { token, body: {} })
      expect([answer.status, answer.json.code]).toEqual([409, 'hosted_agent'])
    }
  })

  test('are written once, and again only after a change; at another address they state the new one', async () => {
    await using folder = await temporaryFolder()
    const environment = { DRAGOMAN_DATA: folder.path }
    async function visit(): Promise<{ revision: number; manifest: string; url: string }> {
      await using gateway = await startGateway(environment)
      const { json } = await gateway.request('GET', '/public/agents/svc.utility.wiki')
      return {
        revision: await gateway.gateway.store.read.revision(),
        manifest: json.manifest_url,
        url: gateway.url,
      }
    }
    const first = await visit()
    const second = await visit()
    expect(first.revision).toBe(startRevision)
    expect(second.revision).toBe(startRevision)
    for (const { manifest, url } of [first, second]) expect(manifest.startsWith(url)).toBe(true)
  })

  test('are not doubled by gateways that start at once over one folder', async () => {
    await using folder = await temporaryFolder()
    await using stack = new AsyncDisposableStack()
    const gateways = await Promise.all(
      [1, 2, 3].map(async () => stack.use(await startGateway({ DRAGOMAN_DATA: folder.path }))),
    )
    for (const gateway of gateways) expect(await gateway.gateway.store.read.revision()).toBe(startRevision)
    const token = await gateways[0]?.token('ada')
    expect((await gateways[2]?.request('GET', '/api/agents?mine=true', { token: token ?? '' }))?.status).toBe(
      200,
    )
  })
})

test('a gateway and another process over its folder see each other’s writes within two seconds', async () => {
  await using other = await openRegistry({ path: `${home.data}/registry.sqlite` })
  const ada = person('ada')
  await other.list(publication('com.other.process', { description: 'Grows pineapples.' }), ada)
  const { revision } = await other.get('com.other.process', null)
  await home.gateway.tailer.caughtUp(revision)
  const started = performance.now()
  const { json } = await home.request('POST', '/api/agents/search', { body: { query: 'pineapples' } })
  expect(json.agents[0].package_name).toBe('com.other.process')

  const token = await home.token('eve')
  const made = await home.request('POST', '/api/agents/publish', {
    token,
    body: publication('com.this.process'),
  })
  await home.request('POST', '/api/agents/com.this.process/go-live', { token })
  await other.tailer.caughtUp(made.json.revision + 1)
  expect((await other.find({ query: 'com.this.process' })).names[0]).toBe('com.this.process')
  expect(performance.now() - started).toBeLessThan(2000)
  expect(await codeOf(other.update({ agent: 'com.this.process' }, { name: 'Mine' }, ada))).toBe('forbidden')
})

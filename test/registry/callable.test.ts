import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Json } from '../../schemas/json.ts'
import { unseen } from '../../schemas/liveness.ts'
import type { AgentPage } from '../../schemas/search.ts'
import { callableOf } from '../../src/registry/entry/callable.ts'
import type { StoredEntry } from '../../src/store/stored-entry.ts'
import { run, temporaryFolder } from '../support/command.ts'
import { sampleEntry } from '../support/entries.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'
import { type McpServer, startHostileServer, startModernServer } from '../support/mcp-servers.ts'
import { restTransport } from '../support/rest-transport.ts'
import { openTransports, type TestTransport } from '../support/transports.ts'

const signal = new AbortController().signal
const mcp = [{ protocol: 'mcp' as const, url: 'https://tools.example.com/mcp' }]
const npm = [{ registry_type: 'npm', identifier: 'tools' }]
const at = '2026-01-01T00:00:00Z'

test.each<[string, Partial<StoredEntry>, Partial<typeof unseen>]>([
  ['hosted', { hosted: true }, {}],
  ['no', { hosted: true }, { failure: 'not_configured' }],
  ['stated', { endpoints: mcp }, {}],
  ['open', { endpoints: mcp, access: { kind: 'open', asked_at: at } }, {}],
  ['needs_key', { endpoints: mcp, packages: npm }, { access: { kind: 'needs_key', asked_at: at } }],
  ['package', { packages: npm }, {}],
  ['package', { packages: npm, endpoints: mcp }, { status: 'dead' }],
  ['no', { endpoints: mcp, access: { kind: 'open', asked_at: at } }, { status: 'dead' }],
  ['no', { endpoints: [{ protocol: 'a2a', url: 'https://a.example/', binding: 'GRPC' }] }, {}],
  ['no', {}, {}],
])('an entry is %s', (callable, facts, liveness) => {
  const fact = callableOf(sampleEntry(facts), { ...unseen, ...liveness } as typeof unseen)
  expect(fact).toMatchObject({ callable, callable_reason: expect.stringMatching(/\.$/) })
})

test('the later answer counts, but a vague challenge does not contradict a known sign-in', () => {
  const entry = sampleEntry({ endpoints: mcp, access: { kind: 'needs_sign_in', asked_at: at } })
  const later = (kind: 'open' | 'needs_key') =>
    callableOf(entry, { ...unseen, access: { kind, asked_at: '2026-02-01T00:00:00Z' } } as never).callable
  expect([later('open'), later('needs_key')]).toEqual(['open', 'needs_sign_in'])
})

const refuses = (challenge?: string, metadata = false) =>
  startHostileServer((request, response) => {
    if (metadata && request.url === '/.well-known/oauth-protected-resource/mcp') {
      response.writeHead(200, { 'content-type': 'application/json' })
      return response.end(JSON.stringify({ authorization_servers: ['https://login.example.com'] }))
    }
    return response.writeHead(401, challenge === undefined ? {} : { 'www-authenticate': challenge }).end()
  })

const resourceMetadata =
  'Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource"'
const kinds: Record<string, [string, () => Promise<McpServer>]> = {
  free: ['open', () => startModernServer()],
  keyed: ['needs_key', () => refuses('Bearer realm="api"')],
  silent: ['needs_key', () => refuses()],
  described: ['needs_sign_in', () => refuses(resourceMetadata)],
  older: ['needs_sign_in', () => refuses('Bearer', true)],
}

test('a hosted agent that lacks a setting says so wherever it is shown, until the setting is there', async () => {
  await using folder = await temporaryFolder()
  const wiki = 'svc.utility.wiki'
  const states = async (home: TestGateway) => {
    await home.gateway.ready
    const { json: entry } = await home.request('GET', `/public/agents/${wiki}`)
    const found = await home.request('GET', `/public/agents?q=encyclopedia&callable=${entry.callable}`)
    const page = await home.request('GET', `/agent/${wiki}`, { headers: { accept: 'text/html' } })
    const local = await run(['search', 'encyclopedia', '--json'], {
      ...home.environment,
      DRAGOMAN_DATA: home.data,
    })
    const [first] = JSON.parse(local.stdout).agents
    expect(page.text).toContain(entry.callable_reason)
    expect([first.package_name, first.callable]).toEqual([wiki, entry.callable])
    expect(found.json.agents[0].package_name).toBe(wiki)
    const install = await home.request('GET', `/public/agents/${wiki}/install`)
    expect(install.json.targets.map(({ kind }: { kind: string }) => kind)).toEqual(['gateway'])
    return [entry.callable, entry.callable_reason, entry.liveness.status, entry.liveness.failure]
  }
  {
    await using home = await startGateway({ DRAGOMAN_DATA: folder.path, DRAGOMAN_CONTACT: '' })
    expect(await states(home)).toEqual([
      'no',
      'This gateway runs it, and its operator has to set something first: a call says what.',
      'unknown',
      'not_configured',
    ])
    const body = { to: wiki, action: 'search_page', params: { query: 'Rome' } }
    const call = await home.request('POST', '/a2a/message', { token: await home.token('ada'), body })
    expect(call.json).toMatchObject({
      code: 'not_configured',
      detail: expect.stringContaining('DRAGOMAN_CONTACT'),
    })
  }
  await using home = await startGateway({ DRAGOMAN_DATA: folder.path, DRAGOMAN_CONTACT: 'tests@example.org' })
  expect(await states(home)).toEqual(['hosted', 'This gateway runs it.', 'alive', null])
})

test('the page of a package leads from the reason to the way in which each host uses it', async () => {
  await using home = await startGateway()
  await list(home, { package_name: 'com.example.packed', packages: npm })
  const { text } = await home.request('GET', '/agent/com.example.packed', {
    headers: { accept: 'text/html' },
  })
  expect(text).toContain('It runs on your machine: see <a href="#use">Use it</a>.')
  expect(text).toContain('id="use"')
})

describe('an agent that was asked', () => {
  const servers = new Map<string, McpServer>()
  let home: TestGateway
  let transports: TestTransport[]

  beforeAll(async () => {
    for (const [name, [, start]] of Object.entries(kinds)) servers.set(name, await start())
    const origins = [...servers.values()].map(({ origin }) => origin)
    home = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: origins.join() })
    transports = [...openTransports(home), restTransport(home)]
    for (const [name, { url }] of servers) {
      const description = 'Reads web pages.'
      const endpoints = [{ protocol: 'mcp' as const, url }]
      await list(home, { package_name: `com.example.${name}`, description, endpoints })
    }
    await home.gateway.verification.checker.run(signal)
  }, 60_000)
  afterAll(async () => {
    for (const transport of transports ?? []) await transport[Symbol.asyncDispose]()
    await home?.[Symbol.asyncDispose]()
    for (const server of servers.values()) await server[Symbol.asyncDispose]()
  })

  test.each(Object.entries(kinds))('is known by its answer: %s', async (name, [callable]) => {
    const { json } = await home.request('GET', `/public/agents/com.example.${name}`)
    expect(json).toMatchObject({ callable, callable_reason: expect.any(String) })
  })

  test('is found by several kinds at once, and counted, at every transport', async () => {
    const params = { filters: { callable: ['needs_key', 'open'] }, facets: true, sort: 'name' }
    for (const transport of transports) {
      const envelope = { to: 'svc.registry', action: 'search_agents', params }
      const outcome = await transport.call(envelope as Record<string, Json>, undefined)
      const output = ('output' in outcome ? outcome.output : outcome) as unknown as AgentPage
      const names = output.agents?.map((agent) => agent.package_name)
      expect([transport.name, names]).toEqual([
        transport.name,
        ['com.example.free', 'com.example.keyed', 'com.example.silent'],
      ])
      expect(output.facets?.callable).toEqual({ needs_key: 2, open: 1 })
    }
    const all = await home.request('GET', '/public/agents')
    expect((await home.request('GET', '/public/agents?callable=')).json.total).toBe(all.json.total)
    const words = await home.request(
      'GET',
      '/public/agents?q=web+page&callable=open&callable=hosted&limit=50',
    )
    expect(new Set(words.json.agents.map(({ callable }: { callable: string }) => callable))).toEqual(
      new Set(['open', 'hosted']),
    )
    const { stdout } = await run(['search', '--callable', 'open', '--json'], { DRAGOMAN_URL: home.url })
    expect(JSON.parse(stdout).agents).toMatchObject([{ package_name: 'com.example.free' }])
  })

  test('shows a caller that has its answers that a credential was stored meanwhile', async () => {
    const token = await home.token('eve')
    const paths = ['/public/agents/com.example.keyed', '/api/agents?callable=needs_key']
    const ask = (path: string, headers = {}) => home.request('GET', path, { token, headers })
    const before = await Promise.all(paths.map((path) => ask(path)))
    const conditions = before.map(({ headers }) => ({ 'If-None-Match': headers.get('etag') ?? '' }))
    const again = await Promise.all(paths.map((path, at) => ask(path, conditions[at])))
    expect(again.map(({ status }) => status)).toEqual([304, 304])
    const credential = '/api/agents/com.example.keyed/credential'
    await home.request('PUT', credential, { token, body: { value: 'Bearer secret' } })
    const after = await Promise.all(paths.map((path, at) => ask(path, conditions[at])))
    expect(after.map(({ status }) => status)).toEqual([200, 200])
    expect(after[0]?.json.credential_stored).toBe(true)
    await home.request('DELETE', credential, { token })
  })

  test('shows its callers alone whether they have stored a credential', async () => {
    const [ada, bob] = [await home.token('ada'), await home.token('bob')]
    const body = { agent: 'com.example.keyed', value: 'Bearer secret' }
    await home.request('POST', '/a2a/message', {
      token: ada,
      body: { to: 'svc.registry', action: 'set_credential', params: body },
    })
    const marks = async (token?: string) => {
      const options = token === undefined ? {} : { token }
      const entry = await home.request('GET', '/public/agents/com.example.keyed', options)
      const found = await home.request('GET', '/api/agents?q=keyed&callable=needs_key', options)
      return [entry.json.credential_stored, found.json.agents[0].credential_stored]
    }
    // An answer is kept from its second asking on.
    for (let time = 0; time < 3; time++) {
      expect([await marks(ada), await marks(bob), await marks()]).toEqual([
        [true, true],
        [false, false],
        [undefined, undefined],
      ])
    }
    await home.request('POST', '/a2a/message', {
      token: bob,
      body: { to: 'svc.registry', action: 'set_credential', params: body },
    })
    expect(await marks(bob)).toEqual([true, true])
  })
})

test('at equal relevance an agent that can be called comes before one that cannot', async () => {
  await using server = await startModernServer({ tools: [] })
  await using home = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: server.origin })
  const text = { name: 'Moon phases', description: 'Tells the phase of the moon.' }
  const capabilities = [{ name: 'phase', description: 'The phase of the moon.' }]
  await list(home, { package_name: 'com.example.later', ...text, capabilities, endpoints: [] })
  const endpoints = [{ protocol: 'mcp' as const, url: server.url }]
  await list(home, { package_name: 'com.example.earlier', ...text, capabilities, endpoints })
  const found = async () => {
    const { json } = await home.request('GET', '/public/agents?q=phase+of+the+moon')
    return json.agents
      .slice(0, 2)
      .map(({ callable, match }: { callable: string; match: { scores: object } }) => [
        callable,
        'callable' in match.scores,
      ])
  }
  expect(await found()).toEqual([
    ['stated', false],
    ['no', true],
  ])
  await home.gateway.verification.checker.run(signal)
  expect(await found()).toEqual([
    ['open', false],
    ['no', true],
  ])
})

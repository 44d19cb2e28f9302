import type { Tool } from '@modelcontextprotocol/server'
import { afterEach, describe, expect, test } from 'vitest'
import { createCapabilityRefresh } from '../../src/registry/capabilities/refresh.ts'
import { type LeasedJobOptions, startLeasedJob } from '../../src/registry/leased-job.ts'
import { sampleEntry } from '../support/entries.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'
import {
  type Answer,
  type McpServer,
  startHostileServer,
  startModernServer,
  startSessionServer,
  startSocketServer,
  startSseServer,
} from '../support/mcp-servers.ts'

const signal = new AbortController().signal
const package_name = 'com.example.weather'
const weather: Tool = {
  name: 'forecast',
  title: 'Weather forecast',
  description: 'Tells how much it will rain in a city tomorrow.',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  outputSchema: { type: 'object', properties: { rain_mm: { type: 'number' } } },
  annotations: { readOnlyHint: true },
}
const tides: Tool = {
  name: 'tides',
  description: 'Lists high water at a harbour.',
  inputSchema: { type: 'object' },
}

const open: AsyncDisposable[] = []
afterEach(async () => {
  for (const resource of open.splice(0).reverse()) await resource[Symbol.asyncDispose]()
})

async function startBoth(
  start: () => Promise<McpServer>,
  environment: Record<string, string> = {},
): Promise<{ gateway: TestGateway; server: McpServer; owner: string }> {
  const server = await start()
  open.push(server)
  const origins = [server.origin, server.origin.replace('http', 'ws')].join(',')
  const gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: origins, ...environment })
  open.push(gateway)
  return { gateway, server, owner: await gateway.token('owner') }
}

const check = ({ gateway }: TestGateway) => gateway.verification.checker.run(signal)
const named = async (gateway: TestGateway, token: string, name = package_name) =>
  (await gateway.request('GET', `/public/agents/${name}`, { token })).json

async function find(gateway: TestGateway, query: string): Promise<string[]> {
  const { json } = await gateway.request('GET', `/public/agents?q=${encodeURIComponent(query)}`)
  return json.agents.map((agent: { package_name: string }) => agent.package_name)
}

describe.each([
  ['2026-07-28', startModernServer],
  ['2025-11-25 with sessions', startSessionServer],
  ['2025-11-25 over WebSocket', startSocketServer],
])('a server of %s', (_, start) => {
  test('is found by the words of its tools once its endpoint is published', async () => {
    const { gateway, server, owner } = await startBoth(() => start({ tools: [weather] }))
    await list(gateway, { package_name, endpoints: [{ protocol: 'mcp', url: server.url }] })
    await check(gateway)
    expect(await find(gateway, 'will it rain in the city')).toContain(package_name)
    const { capabilities, reading } = await named(gateway, owner)
    expect(capabilities).toEqual([
      {
        name: 'forecast',
        title: 'Weather forecast',
        description: weather.description,
        input_schema: weather.inputSchema,
        output_schema: weather.outputSchema,
        read_only: true,
        annotations: { readOnlyHint: true },
      },
    ])
    expect(reading).toMatchObject({ status: 'ok', lists: true, changes: 0, findings: [] })
  })
})

test('the jobs of a running gateway read a published server without being asked', async () => {
  const { gateway, server } = await startBoth(() => startModernServer({ tools: [weather] }))
  const { verification, store } = gateway.gateway
  const job: LeasedJobOptions = {
    job: verification.checker,
    lease: 'checks',
    leases: store.leases,
    holder: 'test',
    clock: Date.now,
    onError: () => {},
    beat_ms: 20,
  }
  open.push(startLeasedJob(job))
  await list(gateway, { package_name, endpoints: [{ protocol: 'mcp', url: server.url }] })
  await expect.poll(() => find(gateway, 'rain in a city'), { timeout: 5000 }).toContain(package_name)
})

test('the publish request does not wait for the server', async () => {
  const { gateway, server } = await startBoth(() => startHostileServer(() => {}))
  await list(gateway, { package_name, endpoints: [{ protocol: 'mcp', url: server.url }] })
  expect(server.seen).toEqual([])
})

test('a tool that is added later is found after the next check, as a new version', async () => {
  const tools = [weather]
  const { gateway, server, owner } = await startBoth(() => startModernServer({ tools: () => tools }))
  const id = await list(gateway, { package_name, endpoints: [{ protocol: 'mcp', url: server.url }] })
  await check(gateway)
  const versions = async () => (await gateway.request('GET', `/public/agents/${package_name}/versions`)).json
  const before = (await versions()).total
  expect(await find(gateway, 'high water at a harbour')).not.toContain(package_name)
  tools.push(tides)
  await gateway.request('POST', `/api/agents/${id}/check`, { token: owner })
  expect(await find(gateway, 'high water at a harbour')).toContain(package_name)
  expect((await versions()).total).toBe(before + 1)
})

describe('the version that a server states', () => {
  const start = async () => {
    const { gateway, server, owner } = await startBoth(() => startModernServer({ tools: [weather] }))
    const body = {
      name: 'Weather',
      description: 'Weather.',
      endpoints: [{ protocol: 'mcp' as const, url: server.url }],
    }
    const id = await list(gateway, { package_name, ...body }, owner)
    await check(gateway)
    const update = (more: object) =>
      gateway.request('PUT', `/api/agents/${id}`, { token: owner, body: { ...body, ...more } })
    const versions = async () =>
      (await gateway.request('GET', `/public/agents/${package_name}/versions`)).json
    return { gateway, owner, update, versions }
  }

  test('is the version of its agent, which its owner may state with other content, once', async () => {
    const { update, versions } = await start()
    expect((await versions()).versions[0]).toMatchObject({ version: '1', current: true })
    const { status, json } = await update({ version: '1', description: 'Rain.' })
    expect([status, json.version]).toEqual([200, '1'])
    expect((await update({ version: '1', description: 'Snow.' })).json).toMatchObject({ code: 'conflict' })
    expect((await update({ version: '2', description: 'Snow.' })).status).toBe(200)
  })

  test('is told to an owner who states another one, and to nobody who states the same', async () => {
    const { gateway, owner, update } = await start()
    const findings = async () => {
      const path = `/api/agents/${package_name}`
      await gateway.request('POST', `${path}/check`, { token: owner })
      const { json } = await gateway.request('GET', path, { token: owner })
      return json.reading.findings
    }
    await update({ version: '0.9' })
    expect(await findings()).toMatchObject([
      { severity: 'info', field: '/version', message: 'The server says that it is version 1.' },
    ])
    await update({ version: '1' })
    expect(await findings()).toEqual([])
  })

  test('gets no second version from the same content, with the version or without, nor from an empty list of tools', async () => {
    const { gateway, update, versions } = await start()
    const { total } = await versions()
    for (const more of [{}, { version: '1' }, { capabilities: [] }, {}]) {
      expect((await update(more)).json).toMatchObject({ version: '1', capabilities: [{ name: 'forecast' }] })
      await check(gateway)
    }
    expect((await versions()).total).toBe(total)
  })

  test('is compared from its first version, where other content has the same version string', async () => {
    const { gateway, update } = await start()
    await update({ description: 'Rain.' })
    const { json } = await gateway.request('GET', `/public/agents/${package_name}/diff?from=1&to=latest`)
    expect(json).toMatchObject({ from: expect.stringMatching(/^r\d+$/), to: 'latest' })
    expect(json.differences).toContainEqual({ field: '/description', before: 'Weather.', after: 'Rain.' })
    const page = await gateway.request('GET', `/agent/${package_name}/versions`)
    expect(page.text).toMatch(new RegExp(`/versions/${json.from}\\.\\.\\.r\\d+">`))
    expect(page.text).toContain(`1 (${json.from})`)
  })
})

test('a server is read again when its agent goes live', async () => {
  const tools = [weather]
  const { gateway, server, owner } = await startBoth(() => startModernServer({ tools: () => tools }))
  const endpoints = [{ protocol: 'mcp', url: server.url }]
  const body = { package_name, name: 'Weather', description: 'Weather.', endpoints }
  const { json } = await gateway.request('POST', '/api/agents/publish', { body, token: owner })
  await check(gateway)
  tools.push(tides)
  await gateway.request('POST', `/api/agents/${json.id}/go-live`, { token: owner })
  await check(gateway)
  expect((await named(gateway, owner)).capabilities).toHaveLength(2)
})

test('tools stay beside a card without skills, and yield to a card with skills', async () => {
  const skills: object[] = []
  const site = await startHostileServer((_, response) => {
    const card = { name: 'Weather', description: 'Weather.', url: site.origin, skills }
    response.end(JSON.stringify({ ...card, mcpEndpoint: server.url }))
  })
  open.push(site)
  const server = await startModernServer({ tools: [weather] })
  open.push(server)
  const gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: `${site.origin},${server.origin}` })
  open.push(gateway)
  const owner = await gateway.token('owner')
  await list(gateway, { package_name, manifest_url: `${site.origin}/card.json` })
  const { id } = await named(gateway, owner)
  const names = async () => {
    await gateway.gateway.verification.checker.check(id, signal)
    return (await named(gateway, owner)).capabilities.map(({ name }: Tool) => name)
  }
  expect([await names(), await names()]).toEqual([['forecast'], ['forecast']])
  skills.push({ id: 'ask', name: 'Ask', description: 'Asks.', tags: [] })
  expect(await names()).toEqual(['Ask'])
  skills.pop()
  expect(await names()).toEqual(['forecast'])
  await server[Symbol.asyncDispose]()
  expect(await names()).toEqual(['forecast'])
  expect((await named(gateway, owner)).reading).toMatchObject({ status: 'unreachable', lists: true })
})

test('a server that tells that its tools changed is read again', async () => {
  const tools = [weather]
  const answers: Record<string, Answer> = {
    async forecast(_, { toolsChanged }) {
      tools.push(tides)
      await toolsChanged()
      return { content: [{ type: 'text', text: 'It will rain.' }] }
    },
  }
  const { gateway, server, owner } = await startBoth(() =>
    startSessionServer({ tools: () => tools, answers }),
  )
  await list(gateway, { package_name, endpoints: [{ protocol: 'mcp', url: server.url }] })
  await check(gateway)
  const body = { to: package_name, action: 'forecast', params: { city: 'Rome' } }
  expect((await gateway.request('POST', '/a2a/message', { body, token: owner })).status).toBe(200)
  await expect.poll(() => find(gateway, 'high water at a harbour')).toContain(package_name)
})

test('a call of a server that was not read for an hour has it read in the background', async () => {
  let now = Date.parse('2026-01-01')
  const tools = [weather]
  const server = await startModernServer({
    tools: () => tools,
    answers: { forecast: () => ({ content: [] }) },
  })
  open.push(server)
  const settings = { DRAGOMAN_ALLOW_ORIGINS: server.origin, DRAGOMAN_LIVENESS: 'on' }
  const gateway = await startGateway(settings, { clock: () => now })
  open.push(gateway)
  await list(gateway, { package_name, endpoints: [{ protocol: 'mcp', url: server.url }] })
  await check(gateway)
  tools.push(tides)
  const listings = () => server.seen.filter(({ rpc }) => rpc === 'tools/list').length
  const [token, before] = [await gateway.token('ada'), listings()]
  const body = { to: package_name, action: 'forecast', params: { city: 'Rome' } }
  await gateway.request('POST', '/a2a/message', { body, token })
  now += 2 * 3_600_000
  const later = await gateway.token('ada')
  await gateway.request('POST', '/a2a/message', { body, token: later })
  await expect.poll(() => find(gateway, 'high water at a harbour')).toContain(package_name)
  expect(listings()).toBe(before + 1)
  now += 2 * 3_600_000
  const resolving = { to: 'svc.registry', action: 'resolve_package', params: { agent: package_name } }
  await gateway.request('POST', '/a2a/message', { body: resolving })
  await expect.poll(listings).toBe(before + 2)
})

test('what the owner states stays, and a difference is a finding', async () => {
  const { gateway, server, owner } = await startBoth(() => startModernServer({ tools: [weather, tides] }))
  const stated = [{ name: 'forecast', description: 'Rain, as we say it.' }]
  const endpoints = [{ protocol: 'mcp' as const, url: server.url }]
  const id = await list(gateway, { package_name, endpoints, capabilities: stated })
  await check(gateway)
  const before = await named(gateway, owner)
  expect(before.capabilities).toEqual(stated)
  expect(before.reading).toMatchObject({ lists: false, findings: [{ code: 'differs_from_server' }] })
  await gateway.request('PUT', `/api/agents/${id}`, { body: { capabilities: [] }, token: owner })
  await check(gateway)
  const after = await named(gateway, owner)
  expect(after.capabilities.map(({ name }: Tool) => name)).toEqual(['forecast', 'tides'])
  await gateway.request('PUT', `/api/agents/${id}`, { body: { capabilities: stated }, token: owner })
  await check(gateway)
  expect((await named(gateway, owner)).capabilities).toEqual(stated)
})

test('a tool that only some callers see can be called, although the registry did not read it', async () => {
  const answers: Record<string, Answer> = {
    hidden: () => ({ content: [], structuredContent: { seen: true } }),
  }
  const { gateway, server, owner } = await startBoth(() => startModernServer({ tools: [weather], answers }))
  await list(gateway, { package_name, endpoints: [{ protocol: 'mcp', url: server.url }] })
  await check(gateway)
  const body = { to: package_name, action: 'hidden', params: {} }
  const answer = await gateway.request('POST', '/a2a/message', { body, token: owner })
  expect(answer.json, answer.text).toEqual({ seen: true })
})

test('an import keeps the tools that were read', async () => {
  const { gateway, server } = await startBoth(() => startModernServer({ tools: [weather] }))
  const token = await gateway.token('root', { scopes: ['admin', 'agents:read'] })
  const card = (description: string) => ({
    name: 'Imported',
    description,
    url: 'https://imported.example.com/',
    endpoints: [{ protocol: 'mcp', url: server.url }],
  })
  const load = async (description: string) => {
    const params = { lines: [JSON.stringify(card(description))], first_line: 1 }
    const body = { to: 'svc.registry', action: 'import_entries', params }
    return (await gateway.request('POST', '/a2a/message', { body, token })).json
  }
  expect(await load('First.')).toMatchObject({ created: 1 })
  const name = 'com.example.imported/imported'
  const body = { to: 'svc.registry', action: 'check', params: { agent: name } }
  await gateway.request('POST', '/a2a/message', { body, token })
  expect(await load('First.')).toMatchObject({ unchanged: 1 })
  expect(await load('Second.')).toMatchObject({ updated: 1 })
  const { description, capabilities } = await named(gateway, token, encodeURIComponent(name))
  expect([description, capabilities.length]).toEqual(['Second.', 1])
})

test('only the owner sees why a reading failed', async () => {
  const refuse = () =>
    startHostileServer((_, response) => void response.writeHead(401, { 'www-authenticate': 'Basic' }).end())
  const { gateway, server, owner } = await startBoth(refuse)
  await list(gateway, { package_name, endpoints: [{ protocol: 'mcp', url: server.url }] })
  await check(gateway)
  expect((await named(gateway, owner)).reading).toMatchObject({ status: 'refused', detail: /credential/ })
  const { json } = await gateway.request('GET', `/public/agents/${package_name}`)
  expect(json.reading).toMatchObject({ status: 'refused', detail: null, findings: [] })
})

describe('the address of an MCP server as manifest URL', () => {
  test('is enough to publish it', async () => {
    const { gateway, server, owner } = await startBoth(() => startModernServer({ tools: [weather] }))
    const body = { package_name, manifest_url: server.url }
    const answer = await gateway.request('POST', '/api/agents/publish', { body, token: owner })
    expect(answer.status, answer.text).toBe(201)
    expect(answer.json).toMatchObject({
      name: 'sample',
      description: 'MCP server with the tools forecast.',
      version: '1',
      endpoints: [{ protocol: 'mcp', url: server.url }],
      capabilities: [{ name: 'forecast' }],
      reading: { status: 'ok', lists: true },
    })
  })

  test('is listed as an endpoint after the first check', async () => {
    const { gateway, server, owner } = await startBoth(() => startModernServer({ tools: [weather] }))
    const body = { package_name, name: 'Weather', description: 'Weather.', manifest_url: server.url }
    await gateway.request('POST', '/api/agents/publish', { body, token: owner })
    await check(gateway)
    const { name, endpoints, capabilities, manifest } = await named(gateway, owner)
    expect({ name, endpoints, manifest }).toEqual({
      name: 'Weather',
      endpoints: [{ protocol: 'mcp', url: server.url }],
      manifest: null,
    })
    expect(capabilities).toMatchObject([{ name: 'forecast' }])
  })

  test('may be an older one, whose address answers with an endless stream', async () => {
    const { gateway, server, owner } = await startBoth(() => startSseServer({ tools: [weather] }))
    const body = { package_name, manifest_url: server.url }
    const { json } = await gateway.request('POST', '/api/agents/publish', { body, token: owner })
    expect(json).toMatchObject({
      endpoints: [{ protocol: 'mcp', url: server.url }],
      capabilities: [{ name: 'forecast' }],
    })
  })

  test('can be validated before it is published', async () => {
    const { gateway, server, owner } = await startBoth(() => startModernServer({ tools: [weather] }))
    const body = { manifest_url: server.url }
    const { json } = await gateway.request('POST', '/api/agents/validate', { body, token: owner })
    expect(json).toMatchObject({
      valid: true,
      form: 'mcp',
      preview: { name: 'sample', capabilities: ['forecast'] },
      // Its address is one of numbers, of which no name is made.
      findings: [{ severity: 'warning', code: 'missing_field', field: '/package_name' }],
    })
  })
})

describe('a hostile list of tools', () => {
  const read = async (tools: () => readonly object[]) => {
    const { gateway, server, owner } = await startBoth(() =>
      startModernServer({ tools: tools as () => Tool[] }),
    )
    const id = await list(gateway, { package_name, endpoints: [{ protocol: 'mcp', url: server.url }] })
    await check(gateway)
    return { gateway, owner, id, entry: await named(gateway, owner) }
  }
  const codes = ({ reading }: { reading: { findings: { code: string }[] } }) =>
    reading.findings.map(({ code }) => code)
  const many = (count: number, description = '') =>
    Array.from({ length: count }, (_, at) => ({ ...tides, name: `tool-${at}`, description }))

  test('of two tools with one name is listed with the first, and the owner is told', async () => {
    const { entry } = await read(() => [...many(2, 'first'), ...many(1, 'second')])
    expect(entry.capabilities.map(({ description }: Tool) => description)).toEqual(['first', 'first'])
    expect(codes(entry)).toEqual(['duplicate_tool'])
  })

  test('of 10,000 tools is cut, and the owner is told', async () => {
    const { entry } = await read(() => many(10_000))
    expect(entry.capabilities).toHaveLength(200)
    expect(codes(entry)).toEqual(['too_many_tools'])
  })

  test('above the size of an entry is cut, without what a call does not need', async () => {
    const outputSchema = { type: 'object', description: 'x'.repeat(2000) }
    const { entry } = await read(() => many(150, 'y'.repeat(1000)).map((tool) => ({ ...tool, outputSchema })))
    expect(entry.capabilities.length).toBeGreaterThan(50)
    expect(entry.capabilities.length).toBeLessThan(150)
    expect(entry.capabilities[0].output_schema).toBeUndefined()
    expect(codes(entry)).toEqual(['too_large'])
  })

  test('of 3 MB is not read, and the owner is told', async () => {
    const { entry } = await read(() => many(1000, 'z'.repeat(3200)))
    expect(entry.capabilities).toEqual([])
    expect(entry.reading).toMatchObject({ status: 'invalid' })
    expect(entry.reading.detail).toMatch(/bytes|large|long/)
  })

  test('with schemas that refer to themselves is read as it is', async () => {
    const inputSchema = {
      type: 'object',
      properties: { next: { $ref: '#/$defs/node' } },
      $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
    }
    const { gateway, owner, entry } = await read(() => [{ ...tides, inputSchema }])
    expect(entry.capabilities[0].input_schema).toEqual(inputSchema)
    const body = { to: package_name, action: 'tides', params: { next: { next: { next: 1 } } } }
    const answer = await gateway.request('POST', '/a2a/message', { body, token: owner })
    expect(answer.json).toMatchObject({ code: 'invalid_request' })
  })

  test('with schemas that are nested too deep loses these schemas', async () => {
    let schema: object = { type: 'string' }
    for (let depth = 0; depth < 40; depth++) schema = { type: 'object', properties: { deeper: schema } }
    const { entry } = await read(() => [{ ...weather, inputSchema: schema }, tides])
    expect(entry.capabilities[0]).toEqual({
      name: 'forecast',
      title: 'Weather forecast',
      description: weather.description,
      read_only: true,
    })
    expect(codes(entry)).toEqual(['too_deep'])
  })

  test('with hidden characters loses these tools', async () => {
    const { entry } = await read(() => [tides, { ...weather, description: 'Rain\u200b\u200b.' }])
    expect(entry.capabilities.map(({ name }: Tool) => name)).toEqual(['tides'])
    expect(codes(entry)).toEqual(['hidden_characters'])
  })

  test('that differs at each reading is read once a day, and the owner is told', async () => {
    let readings = 0
    const { gateway, owner, id } = await read(() => [{ ...tides, name: `tool-${readings++}` }])
    for (let round = 0; round < 3; round++) {
      await gateway.request('POST', `/api/agents/${id}/check`, { token: owner })
    }
    const entry = await named(gateway, owner)
    expect(entry.reading).toMatchObject({ changes: 3 })
    expect(codes(entry)).toEqual(['changes_often'])
  })
})

test('a list that changes at each reading is not read again within a day', async () => {
  let now = Date.parse('2026-01-01T12:00:00Z')
  const read: string[] = []
  const endpoints = [{ protocol: 'mcp' as const, url: 'https://tools.example.com/mcp' }]
  const at = '2026-01-01T00:00:00Z'
  const report = { status: 'ok' as const, detail: null, findings: [], lists: true, checked_at: at }
  const entryOf = (name: string) =>
    sampleEntry({ id: name, endpoints, reading: { ...report, changes: name === 'unstable' ? 3 : 0 } })
  await using refresh = createCapabilityRefresh({
    read: async (name) => entryOf(name),
    reader: { read: async (id) => read.push(id) },
    clock: () => now,
    wait: async () => {},
    onError: () => {},
  })
  const ask = async () => {
    for (const name of ['unstable', 'stable']) {
      refresh.used(name)
      refresh.toolsChanged(name)
    }
    await expect.poll(() => read.filter((name) => name === 'stable').length).toBe(2)
  }
  await ask()
  expect(read).not.toContain('unstable')
  now += 13 * 3_600_000
  read.length = 0
  await ask()
  expect(read).toContain('unstable')
})

test('an entry without an owner is not read because somebody resolves it', async () => {
  const read: string[] = []
  const endpoints = [{ protocol: 'mcp' as const, url: 'https://tools.example.com/mcp' }]
  await using refresh = createCapabilityRefresh({
    read: async (name) => sampleEntry({ id: name, endpoints }),
    reader: { read: async (id) => read.push(id) },
    clock: Date.now,
    wait: async () => {},
    onError: () => {},
  })
  refresh.shown('resolved')
  refresh.used('called')
  await expect.poll(() => read).toEqual(['called'])
})

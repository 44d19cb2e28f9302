import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Tool } from '@modelcontextprotocol/server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fittingConfidence } from '../../schemas/brief.ts'
import { localPrincipal } from '../../src/auth/authenticator.ts'
import { type A2aAgent, serveA2a } from '../support/a2a-agents.ts'
import { answerJson, type EnvelopeAgent, serveEnvelopes } from '../support/envelope-agent.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'
import { type McpServer, startModernServer } from '../support/mcp-servers.ts'

const data = resolve(import.meta.dirname, '../../../shared/data')
const tokensOf = (value: unknown) => JSON.stringify(value).length / 4

interface Action {
  readonly name: string
  readonly input_schema?: {
    readonly required?: readonly string[]
    readonly properties?: Record<string, object>
  }
  readonly required?: Record<string, string>
}

interface Hit {
  readonly package_name: string
  readonly actions?: readonly Action[]
}

/** A client by the official SDK, which checks structured content by the output schemas of the tools. */
async function connect(gateway: TestGateway, token?: string) {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  const options =
    token === undefined ? {} : { requestInit: { headers: { Authorization: `Bearer ${token}` } } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), options))
  const { tools } = await client.listTools()
  return {
    tools,
    async call(name: string, input: object) {
      // biome-ignore lint/suspicious/noExplicitAny: tests look into results freely
      const result = (await client.callTool({ name, arguments: { ...input } })) as any
      const [{ text }] = result.content
      const output = JSON.parse(text)
      if (!result.isError) expect(output).toEqual(result.structuredContent)
      const problem = result._meta?.['dragoman/problem']
      return { isError: result.isError === true, output, problem, meta: result._meta }
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}
type Peer = Awaited<ReturnType<typeof connect>>

/** Lists a server that is called by nobody before it is approved. */
async function importPackage(gateway: TestGateway, name: string, description: string): Promise<void> {
  const packages = [
    { registryType: 'npm', identifier: 'knit', version: '1.0.0', transport: { type: 'stdio' } },
  ]
  const document = { name, description, version: '1.0.0', packages }
  const params = { lines: [JSON.stringify({ server: document })] }
  const body = { to: 'svc.registry', action: 'import_entries', params }
  const token = await gateway.token('root', { scopes: ['admin'] })
  await gateway.request('POST', '/a2a/message', { body, token })
}

const forecast = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer' } },
  required: ['city'],
}
const long = {
  type: 'object',
  properties: { route: { type: 'string', description: 'x'.repeat(30_000) } },
  required: ['route'],
}
const capabilities = [
  { name: 'history', description: 'Past weather.', input_schema: forecast },
  { name: 'alerts', description: 'Storm warnings.', input_schema: long },
  { name: 'forecast', description: 'Tells the forecast of the weather of a city.', input_schema: forecast },
  { name: 'ask', description: 'Takes a question.' },
]
const booking = {
  name: 'Book a table',
  id: 'book',
  description: 'Books a table.',
  input_schema: forecast,
  annotations: { destructiveHint: true },
}
const conversion: Tool = {
  name: 'convert_money',
  description: 'Converts an amount of money to another currency.',
  inputSchema: {
    type: 'object',
    properties: { amount: { type: 'number' }, to: { type: 'string' } },
    required: ['amount', 'to'],
  },
}

describe('over agents with actions', () => {
  let agent: EnvelopeAgent
  let asking: A2aAgent
  let server: McpServer
  let home: TestGateway
  let peer: Peer
  let anonymous: Peer

  beforeAll(async () => {
    agent = await serveEnvelopes(({ action, params }, response) => {
      if (action === 'open') return void response.writeHead(401).end()
      answerJson(response, { action, params })
    })
    asking = await serveA2a()
    server = await startModernServer({
      tools: [conversion],
      answers: {
        convert_money: ({ amount, to }) => ({
          content: [{ type: 'text', text: JSON.stringify({ amount, to }) }],
          structuredContent: { amount, to },
        }),
      },
    })
    const origins = [agent, asking, server].map(({ origin }) => origin).join(',')
    home = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: origins })
    const endpoints = [{ protocol: 'envelope' as const, url: agent.url }]
    const description = `Tells the weather. ${'It is a long story. '.repeat(20)}`
    await list(home, { package_name: 'com.example.weather', description, endpoints, capabilities })
    await list(home, {
      package_name: 'com.example.greeter',
      endpoints: [{ protocol: 'a2a', url: `${asking.origin}/rpc`, version: '1.0', binding: 'JSONRPC' }],
      capabilities: [{ name: 'ask', description: 'Asks for the name first.' }],
    })
    await list(home, {
      package_name: 'com.example.silent',
      endpoints: [{ protocol: 'a2a', url: 'http://127.0.0.1:9/', version: '1.0', binding: 'JSONRPC' }],
    })
    await list(home, { package_name: 'com.example.booking', endpoints, capabilities: [booking] })
    await list(home, {
      package_name: 'com.example.locked',
      endpoints,
      capabilities: [{ name: 'open', description: 'Opens.' }],
    })
    await list(home, {
      package_name: 'com.example.money',
      endpoints: [{ protocol: 'mcp', url: server.url }],
    })
    await home.gateway.verification.checker.run(new AbortController().signal)
    peer = await connect(home, await home.token('ada'))
    anonymous = await connect(home)
  })

  afterAll(async () => {
    await anonymous?.[Symbol.asyncDispose]()
    await peer?.[Symbol.asyncDispose]()
    await home?.[Symbol.asyncDispose]()
    await server?.[Symbol.asyncDispose]()
    await asking?.[Symbol.asyncDispose]()
    await agent?.[Symbol.asyncDispose]()
  })

  test('a model that can call none of the agents found learns how to find others', async () => {
    await importPackage(home, 'com.example/knitting', 'Knits jumpers.')
    const noticeOf = async (input: object) =>
      (await anonymous.call('search_agents', { query: 'knits jumpers', limit: 1, ...input })).output.notice
    expect(await noticeOf({})).toContain('{"callable": ["hosted", "open", "stated"]}')
    const { output } = await anonymous.call('resolve_package', { agent: 'com.example/knitting' })
    expect(output).not.toHaveProperty('callable_reason')
    expect(output.next).toMatch(/asks the user, or says whom to ask\. .*list_capabilities asks it/)
    const [install] = /\{.*\}/.exec(output.next) ?? []
    const { output: installed } = await anonymous.call('call_agent', JSON.parse(String(install)))
    expect(installed).toMatchObject({ package_name: 'com.example/knitting', name: 'knitting' })
    expect(await noticeOf({ filters: { callable: ['package'] } })).toBeUndefined()
    expect(await noticeOf({ query: 'forecast of the weather' })).toBeUndefined()
  })

  test('a model that finds nothing learns what to try next, and that its filters may be the reason', async () => {
    const noticeOf = async (input: object) => (await anonymous.call('search_agents', input)).output.notice
    const query = 'qzxv wkjh'
    expect(await noticeOf({ query })).toBe('No agent fits this. Say it in other words.')
    expect(await noticeOf({ query, filters: { callable: ['open'] } })).toContain(
      'filters callable. Search without',
    )
    expect(await noticeOf({ query: 'forecast', filters: { category: 'wether' } })).toContain(
      'Categories that resemble it: weather.',
    )
  })

  test('a hit of a tool has the matching action first, and nothing that does not serve a call', async () => {
    const { output } = await anonymous.call('search_agents', { query: 'forecast of the weather', limit: 1 })
    expect(output).toEqual({
      agents: [
        {
          package_name: 'com.example.weather',
          description: expect.stringMatching(/^Tells the weather\. (It is a long story\. ?)+…$/),
          callable: 'stated',
          verification_level: 'unverified',
          confidence: expect.any(Number),
          actions: [
            {
              name: 'forecast',
              description: 'Tells the forecast of the weather of a city.',
              input_schema: forecast,
            },
            { name: 'history', input_schema: forecast },
            { name: 'alerts', required: { route: 'string' } },
          ],
          more_actions: 1,
        },
      ],
      total: 1,
    })
    expect(output.agents[0].description.length).toBeLessThanOrEqual(161)
    expect(String(output.agents[0].confidence)).toMatch(/^[01](\.\d\d?)?$/)
  })

  test('an action that its agent calls destructive is marked', async () => {
    const [hit] = (await anonymous.call('search_agents', { query: 'book a table', limit: 1 })).output.agents
    expect(hit.actions).toMatchObject([{ name: 'book', destructive: true }])
    const { output } = await anonymous.call('resolve_package', { agent: 'com.example.weather' })
    expect(output.actions).not.toContainEqual(expect.objectContaining({ destructive: expect.anything() }))
  })

  test('schemas become sketches where max_tokens leaves no room, the best actions last', async () => {
    const query = 'forecast of the weather'
    const actionsIn = async (max_tokens: number) => {
      const { output } = await anonymous.call('search_agents', { query, limit: 1, max_tokens })
      return output.agents[0].actions.map(({ name, input_schema }: Action) => [
        name,
        input_schema !== undefined,
      ])
    }
    expect(await actionsIn(10_000)).toEqual([
      ['forecast', true],
      ['history', true],
      ['alerts', true],
    ])
    expect(await actionsIn(160)).toEqual([
      ['forecast', true],
      ['history', false],
      ['alerts', false],
    ])
    expect(await actionsIn(50)).toEqual([
      ['forecast', false],
      ['history', false],
      ['alerts', false],
    ])
  })

  test('an agent that does not fit the request well shows its actions without their schemas', async () => {
    const { output } = await anonymous.call('search_agents', { query: 'history of the Roman empire' })
    const unlikely = output.agents.find(({ package_name }: Hit) => package_name === 'com.example.weather')
    expect(unlikely.confidence).toBeLessThan(fittingConfidence)
    expect(unlikely.actions[0]).toEqual({
      name: 'history',
      description: 'Past weather.',
      required: { city: 'string' },
    })
  })

  test('wrong params are answered with the input that the action takes, in one line', async () => {
    const call = { agent: 'com.example.weather', action: 'forecast', params: { town: 'Oslo' } }
    expect((await peer.call('call_agent', call)).output).toEqual({
      code: 'invalid_request',
      detail: '/city: This field is required.',
      retryable: false,
      hint: 'It takes {city: string, days?: integer}. It states no field town.',
    })
  })

  test('several errors are one text', async () => {
    const call = { agent: 'com.example.weather', action: 'history', params: { city: 7, days: 'all' } }
    const { output, problem } = await peer.call('call_agent', call)
    expect(output.detail).toMatch(/^\/city: This must be .*\. \/days: This must be .*\.$/)
    expect([Object.keys(output).sort(), problem.errors.length]).toEqual([
      ['code', 'detail', 'hint', 'retryable'],
      2,
    ])
  })

  test('a skill of A2A takes a message as text, and so does an A2A agent without skills', async () => {
    const input_schema = { type: 'object', properties: { text: { type: 'string' } } }
    const { output } = await anonymous.call('search_agents', {
      query: 'greeter that asks for a name',
      limit: 1,
    })
    expect(output.agents).toMatchObject([
      {
        package_name: 'com.example.greeter',
        actions: [{ name: 'ask', description: 'Asks for the name first.', input_schema }],
      },
    ])
    const { output: silent } = await anonymous.call('resolve_package', { agent: 'com.example.silent' })
    expect(silent.actions).toEqual([{ name: 'send_message', description: expect.any(String), input_schema }])
    const { output: skill } = await anonymous.call('resolve_package', { agent: 'com.example.greeter' })
    expect(skill.actions).toMatchObject([{ name: 'ask', input_schema }])
  })

  test('a model reads why an agent cannot be called at once, and how to learn actions that are unknown', async () => {
    const headers = [{ name: 'X-Key', is_required: true }]
    const endpoint = { protocol: 'mcp' as const, url: 'http://127.0.0.1:9/mcp', headers }
    await list(home, { package_name: 'com.example.sealed', endpoints: [endpoint] })
    const { output } = await anonymous.call('resolve_package', { agent: 'com.example.sealed' })
    expect(output).toMatchObject({
      callable: 'needs_key',
      callable_reason: 'It requires the header X-Key: store it with set_credential.',
      actions: [],
      next: expect.stringContaining('call_agent with the action list_capabilities'),
    })
    const { output: hosted } = await anonymous.call('resolve_package', { agent: 'svc.utility.finance' })
    for (const member of ['callable_reason', 'next']) expect(hosted).not.toHaveProperty(member)
  })

  test('a resolved agent has each action once, and as many as max_tokens allows', async () => {
    const { output } = await anonymous.call('resolve_package', { agent: 'com.example.weather' })
    expect(output.actions.map(({ name }: Action) => name)).toEqual(capabilities.map(({ name }) => name))
    expect(output.actions[1]).toEqual({ name: 'alerts', description: 'Storm warnings.', input_schema: long })
    expect(output.actions[3]).toEqual({ name: 'ask', description: 'Takes a question.' })
    expect(JSON.stringify(output).match(/Storm warnings/g)).toHaveLength(1)
    const { output: cut } = await anonymous.call('resolve_package', {
      agent: 'com.example.weather',
      max_tokens: 196,
    })
    expect([cut.actions.map(({ name }: Action) => name), cut.more_actions]).toEqual([
      ['history', 'alerts'],
      2,
    ])
    expect(tokensOf(cut)).toBeLessThan(206)
  })

  test('each form is that of its detail at every transport: tools answer in brief unless asked, all others full', async () => {
    const full = await anonymous.call('search_agents', { query: 'weather', detail: 'full' })
    const { json } = await home.request('POST', '/api/agents/search', { body: { query: 'weather' } })
    expect(full.output).toEqual(json)
    expect(json.agents[0]).toMatchObject({ manifest_url: expect.any(String), revision: expect.any(Number) })
    const body = { query: 'weather', detail: 'brief' }
    const brief = await home.request('POST', '/api/agents/search', { body })
    expect((await anonymous.call('search_agents', { query: 'weather' })).output).toEqual(brief.json)
    const params = { agent: 'svc.utility.wiki' }
    const envelope = { to: 'svc.registry', action: 'resolve_package', params }
    const resolved = await home.request('POST', '/a2a/message', { body: envelope })
    expect(resolved.json.card.capabilities).toHaveLength(2)
    expect((await anonymous.call('resolve_package', { ...params, detail: 'full' })).output).toEqual(
      resolved.json,
    )
  })

  test('the agent is named by agent, and by its older names', async () => {
    const { output } = await anonymous.call('resolve_package', { agent: 'svc.utility.wiki' })
    for (const name of ['package_name', 'to']) {
      expect((await anonymous.call('resolve_package', { [name]: 'custom.svc.utility.wiki' })).output).toEqual(
        output,
      )
      const called = { [name]: 'com.example.weather', action: 'forecast', params: { city: 'Oslo' } }
      expect((await peer.call('call_agent', called)).output).toMatchObject({ action: 'forecast' })
    }
    const twice = { agent: 'svc.utility.wiki', package_name: 'svc.utility.wiki' }
    for (const [tool, input] of [
      ['resolve_package', twice],
      ['call_agent', { ...twice, action: 'get_summary' }],
    ] as const) {
      expect((await peer.call(tool, input)).problem).toMatchObject({
        code: 'invalid_request',
        errors: [{ pointer: '/package_name', detail: expect.stringMatching('Give only agent') }],
      })
    }
    expect((await peer.call('call_agent', { agnet: 'svc.utility.wiki', action: 'x' })).problem).toMatchObject(
      {
        code: 'invalid_request',
        errors: [{ pointer: '/agent' }],
      },
    )
  })

  test('a call whose input stands beside params is told where it belongs, by the names of the tool', async () => {
    const flat = { agent: 'com.example.weather', action: 'forecast', city: 'Oslo' }
    const { output, problem } = await peer.call('call_agent', flat)
    expect(problem).toMatchObject({ code: 'invalid_request', errors: [{ pointer: '/city' }] })
    expect(output.detail).toContain(
      'call_agent takes agent, action, params, max_tokens, cursor. The input of the action goes into params.',
    )
    const { city: _, ...misspelt } = { ...flat, parms: { city: 'Oslo' } }
    expect((await peer.call('call_agent', misspelt)).output.nearest).toEqual(['params'])
    const long = { agent: 'x'.repeat(221), action: 'forecast' }
    expect((await peer.call('call_agent', long)).problem).toMatchObject({ errors: [{ pointer: '/agent' }] })
    expect((await peer.call('call_agent', { agent: 'com.example.weather' })).problem).toMatchObject({
      errors: [{ pointer: '/action', detail: expect.stringContaining('resolve_package') }],
    })
  })

  test('the objects and lists of the input may come as JSON text, as some hosts send them', async () => {
    const call = { agent: 'com.example.weather', action: 'forecast' }
    const params = { city: 'Oslo' }
    const { output } = await peer.call('call_agent', { ...call, params })
    expect(output).toMatchObject({ action: 'forecast' })
    expect((await peer.call('call_agent', { ...call, params: JSON.stringify(params) })).output).toEqual(
      output,
    )
    const found = await anonymous.call('search_agents', { query: 'weather', filters: '{"tags": ["none"]}' })
    expect(found.output).toMatchObject({ agents: [] })
    expect((await peer.call('call_agent', { ...call, params: '{"city"' })).problem).toMatchObject({
      code: 'invalid_request',
      errors: [{ pointer: '/params' }],
    })
  })

  test('a name that is not listed is answered with the names that resemble it, not with its neighbours', async () => {
    for (const [name, nearest] of [
      ['com.example.wether', ['com.example.weather']],
      ['com.example.gretter', ['com.example.greeter']],
      ['weather', ['com.example.weather']],
      ['org.other.weather', ['com.example.weather']],
      ['com.example.zzzzzzzzzzzzzzzz', undefined],
    ] as const) {
      const { output } = await peer.call('call_agent', { agent: name, action: 'x' })
      expect([name, output.code, output.nearest]).toEqual([name, 'not_found', nearest])
    }
  })

  test('a model that an agent asks for a credential is told that its user stores it', async () => {
    const { output, problem } = await peer.call('call_agent', {
      agent: 'com.example.locked',
      action: 'open',
      params: {},
    })
    expect(problem).toMatchObject({ code: 'upstream_failed', upstream: { status: 401 } })
    expect(output.hint).toContain('Do not ask the user for the secret')
    expect(output.hint).toMatch(
      new RegExp(`tell the user to store it for com.example.locked on the page ${home.url}/me/connections$`),
    )
  })

  test('a list of names of actions sends nobody to the user, and is short where there are many', async () => {
    const { output } = await peer.call('call_agent', { agent: 'svc.registry', action: 'zzzzzz', params: {} })
    expect(output.code).toBe('unknown_action')
    expect(output.hint).toContain('search_agents, resolve_package')
    expect(output.hint).toMatch(/and \d+ more: resolve_package lists them\.$/)
    expect(output.hint.split(', ')).toHaveLength(20)
  })

  test('a tool that is not there is answered with the tools that are listed, and how agents are called', async () => {
    await using unset = await startGateway({ DRAGOMAN_CONTACT: '' })
    const { json } = await unset.request('POST', '/mcp', {
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'order_pizza', arguments: {} } },
    })
    expect(json.error.message).toContain('Actions of listed agents are called by call_agent.')
  })

  test('a search without a query asks for one, where a model forgot it', async () => {
    for (const input of [{}, { limit: 3 }, { query: '', filters: {} }]) {
      expect(await anonymous.call('search_agents', input)).toMatchObject({
        isError: true,
        problem: { code: 'invalid_request', errors: [{ pointer: '/query' }] },
      })
    }
    expect((await anonymous.call('search_agents', { querry: 'weather' })).problem).toMatchObject({
      errors: [{ pointer: '/querry' }],
      nearest: ['query'],
    })
    const listed = await anonymous.call('search_agents', { filters: { category: 'utilities' } })
    expect(listed.output.agents.length).toBeGreaterThan(0)
    expect((await home.request('GET', '/api/agents')).json.agents.length).toBeGreaterThan(0)
  })

  test('a model that has only an HTTP client finds, calls and answers an agent by the steps of /llms.txt', async () => {
    const { text } = await home.request('GET', '/llms.txt')
    const steps = text
      .split('\n')
      .flatMap((line) => /^\d\. .*?(\{"to":.*?\}+)(?: |;|$)/.exec(line)?.[1] ?? [])
    const send = async (step: number, values: Record<string, string>, token?: string) => {
      const filled = Object.entries(values).reduce(
        (body, [place, value]) => body.replace(place, value),
        steps[step - 1] ?? '',
      )
      return (await home.request('POST', '/a2a/message', { body: JSON.parse(filled), token })).json
    }
    const token = await home.token('ada')
    const found = await send(1, { 'what you need': 'forecast of the weather' })
    const [{ package_name: PACKAGE, actions }] = found.agents
    expect(actions[0].input_schema).toEqual(forecast)
    expect((await send(2, { PACKAGE })).actions).toHaveLength(capabilities.length)
    const ACTION = actions[0].name
    expect(await send(3, { PACKAGE, ACTION, '{…}': '{"city":"Oslo"}' }, token)).toMatchObject({
      action: ACTION,
    })
    const greeter = { PACKAGE: 'com.example.greeter' }
    const waiting = await send(3, { ...greeter, ACTION: 'ask', '{…}': '{"text":"ask"}' }, token)
    expect(waiting.status).toBe('input_required')
    const [, answer] = /call (\{"to":"PACKAGE","action":"continue_task".*?\}\}\})/.exec(text) ?? []
    const body = JSON.parse(
      String(answer).replace('PACKAGE', greeter.PACKAGE).replace('…', waiting.task_id).replace('…', 'Ada'),
    )
    const answered = await home.request('POST', '/a2a/message', { body, token })
    expect([answered.status, answered.text]).toEqual([200, expect.not.stringContaining('input_required')])
  })

  test('a name that is like none that is listed leads to the search', async () => {
    const { output } = await anonymous.call('resolve_package', { agent: 'qqzzxx' })
    expect(output).toMatchObject({ code: 'not_found', hint: 'search_agents finds agents by what they do.' })
  })

  test('a failure is reported without what says nothing to a model, and is whole in the metadata', async () => {
    const { isError, output, meta } = await anonymous.call('resolve_package', { agent: 'com.example.wether' })
    expect(isError).toBe(true)
    expect(Object.keys(output).sort()).toEqual(['code', 'detail', 'nearest', 'retryable'])
    expect(meta['dragoman/problem']).toMatchObject({
      ...output,
      type: 'urn:dragoman:problem:not_found',
      instance: expect.any(String),
      title: expect.any(String),
    })
  })

  test('an agent that asks back is answered with the tool that the answer names', async () => {
    const called = { agent: 'com.example.greeter', action: 'ask', params: {} }
    const { output } = await peer.call('call_agent', called)
    expect(output).toMatchObject({
      status: 'input_required',
      next: expect.stringMatching('tool continue_task'),
    })
    const { agent: name, task_id } = output
    const answered = await peer.call('continue_task', { agent: name, task_id, input: { text: 'Ada' } })
    expect(answered.output).toEqual({ greeting: 'Hello Ada' })
  })

  test('two calls suffice for every action that has a schema: a search and a call', async () => {
    const declared = [
      ...capabilities.map((capability) => ({ ...capability, agent: 'com.example.weather' })),
      { ...booking, name: booking.id, agent: 'com.example.booking' },
      { ...conversion, input_schema: conversion.inputSchema, agent: 'com.example.money' },
      ...home.gateway.agents.flatMap(({ package_name, actions }) =>
        actions
          .filter(({ advertised, card_input }) => advertised && card_input !== false)
          .map(({ name, description, input }) => ({
            name,
            description,
            input_schema: input.json,
            agent: package_name,
          })),
      ),
    ].filter(({ input_schema }) => input_schema !== undefined)
    for (const { name, description, agent: expected } of declared) {
      const { output } = await peer.call('search_agents', { query: description })
      const hit = output.agents.find(({ package_name }: Hit) => package_name === expected)
      const found = hit?.actions.find((action: Action) => action.name === name)
      const params = Object.fromEntries(
        Object.entries(requiredOf(found)).map(([field, type]) => [field, type === 'string' ? 'BTC' : 1]),
      )
      const called = await peer.call('call_agent', { agent: expected, action: name, params })
      expect(['unknown_action', 'not_callable']).not.toContain(called.output.code)
      // An action may need more than its schema can say, such as one of two fields, or an address.
      expect([name, called.output.errors ?? []]).toEqual([name, expect.not.arrayContaining([missing])])
    }
  })
})

const missing = expect.objectContaining({ detail: 'This field is required.' })

function requiredOf({ input_schema, required }: Action): Record<string, string> {
  if (required) return required
  const names = input_schema?.required ?? []
  const fields = (input_schema?.properties ?? {}) as Record<string, { type?: string }>
  return Object.fromEntries(names.map((name) => [name, fields[name]?.type ?? 'any']))
}

test('a model that can call none of the best agents gets others that fit, within the same size', async () => {
  await using home = await startGateway()
  await using peer = await connect(home)
  await importPackage(home, 'com.example/web-page-reader', 'Reads web pages.')
  const input = { query: 'web page reader', limit: 1 }
  const { output } = await peer.call('search_agents', input)
  expect(output.agents).toMatchObject([{ package_name: 'com.example/web-page-reader', callable: 'package' }])
  const [best] = output.callable_agents as Hit[]
  expect(best).toMatchObject({ package_name: 'svc.utility.reader', callable: 'hosted' })
  expect(best?.actions?.[0]).toHaveProperty('input_schema')
  expect(output.notice).toContain('`callable_agents` can')
  const { output: small } = await peer.call('search_agents', { ...input, max_tokens: 100 })
  expect(small).not.toHaveProperty('callable_agents')
  const filters = { callable: ['package'] }
  expect((await peer.call('search_agents', { ...input, filters })).output).not.toHaveProperty(
    'callable_agents',
  )
})

describe('the list of tools', () => {
  test('costs a model at most 1,000 tokens, with the longest description of the registry', async () => {
    const categories = Object.fromEntries(
      [
        'customer-data-platforms',
        'data-science-tools',
        'location-services',
        'search-data-extraction',
        'support-service-management',
        'travel-transportation',
      ].map((category) => [category, 90_000]),
    )
    await using home = await startGateway({}, {}, (gateway) => ({
      ...gateway,
      async dispatch(envelope, call) {
        const reply = await gateway.dispatch(envelope, call)
        const output = { ...(reply.output as object), total: 987_654, facets: { categories } }
        return { ...reply, output }
      },
    }))
    await using peer = await connect(home)
    const shown = peer.tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
    expect(shown[0]?.description).toMatch(
      'About 990,000 agents are listed, most of them in the categories customer-data-platforms, ',
    )
    expect(tokensOf(shown)).toBeLessThanOrEqual(1000)
  })

  test('has schemas of the usual outputs alone, since some hosts show them to models', async () => {
    await using home = await startGateway()
    await using peer = await connect(home)
    const outputs = peer.tools.flatMap(({ name, outputSchema }) =>
      outputSchema ? [{ name, outputSchema }] : [],
    )
    expect(outputs.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['search_agents', 'resolve_package']),
    )
    expect(tokensOf(outputs)).toBeLessThan(6_000)
  })

  test('says of each tool when to use it, with an example that the tool takes', async () => {
    await using home = await startGateway()
    await using peer = await connect(home)
    for (const { name, description = '', inputSchema } of peer.tools) {
      const [, example] = /Example: (\{.*?\})\.(?: |$)/.exec(description) ?? []
      const fields = Object.keys(JSON.parse(example ?? '{}'))
      expect([name, fields]).toEqual([name, expect.arrayContaining([...(inputSchema.required ?? [])])])
      expect([name, Object.keys(inputSchema.properties ?? {})]).toEqual([
        name,
        expect.arrayContaining(fields),
      ])
    }
  })

  test('tells from the tools of an agent that lacks a setting that they fail, and each call what is missing', async () => {
    await using home = await startGateway({ DRAGOMAN_CONTACT: '' })
    await using peer = await connect(home, await home.token('ada'))
    const price = peer.tools.find(({ name }) => name === 'finance_get_current_price')
    expect(price?.description).toContain('price of a cryptocurrency or exchange rate.')
    const share = await peer.call('finance_get_current_price', { symbol: 'AAPL' })
    expect(share.output.hint).toContain('Until then use another agent.')
    const failing = peer.tools.filter(({ description }) =>
      description?.startsWith('Fails until the operator'),
    )
    expect(failing.map(({ name }) => name)).toEqual(['wiki_search_page', 'wiki_get_summary'])
    const { isError, output } = await peer.call('wiki_search_page', { query: 'x' })
    expect([isError, output.code]).toEqual([true, 'not_configured'])
    expect(output.detail).toContain('DRAGOMAN_CONTACT')
  })

  test('is what DRAGOMAN_MCP_TOOLS names, and an unknown name prevents the start', async () => {
    const namesWith = async (DRAGOMAN_MCP_TOOLS: string) => {
      await using home = await startGateway({ DRAGOMAN_MCP_TOOLS })
      await using peer = await connect(home)
      return peer.tools.map(({ name }) => name)
    }
    expect(await namesWith('call_agent, custom.svc.utility.wiki,search_agents')).toEqual([
      'search_agents',
      'wiki_search_page',
      'wiki_get_summary',
      'call_agent',
    ])
    await expect(namesWith('search_agent')).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringMatching('DRAGOMAN_MCP_TOOLS: search_agent is neither'),
      details: { nearest: ['search_agents'] },
    })
  })
})

test('max_tokens ends a page, and a page without it has as many agents as its limit', async () => {
  await using home = await startGateway()
  const lines = Array.from({ length: 60 }, (_, number) =>
    JSON.stringify({
      packageName: `tides-${number}`,
      name: `Tides ${number}`,
      description: `Tells the tides of harbour ${number}. ${'High water comes twice a day. '.repeat(6)}`,
      url: `https://github.com/tides/${number}`,
      runtime: 'node',
    }),
  )
  await importLines(home, lines)
  await using peer = await connect(home)
  const found = async (more: object) => {
    const { output } = await peer.call('search_agents', { query: 'tides of a harbour', limit: 60, ...more })
    return { count: output.agents.length, tokens: tokensOf(output), more: output.next_cursor !== undefined }
  }
  expect(await found({})).toMatchObject({ count: 60, tokens: expect.any(Number), more: false })
  expect((await found({})).tokens).toBeGreaterThan(4000)
  const cut = await found({ max_tokens: 1000 })
  expect(cut.more).toBe(true)
  expect(cut.tokens).toBeLessThan(1100)
})

async function importLines(
  { gateway }: TestGateway,
  lines: readonly string[],
  first_line = 1,
): Promise<void> {
  const { signal } = new AbortController()
  const envelope = { to: 'svc.registry', action: 'import_entries', params: { lines, first_line } }
  await gateway.dispatch(envelope, { principal: localPrincipal, client: 'local', signal })
}

describe.skipIf(!existsSync(data))('over the lists that people published', () => {
  test('a brief hit without its schemas costs at most 90 tokens in the median', async () => {
    await using home = await startGateway()
    for (const file of ['mcp-servers.jsonl', 'a2a-cards.jsonl']) {
      const lines = readFileSync(`${data}/${file}`, 'utf8').trimEnd().split('\n')
      for (let start = 0; start < lines.length; start += 400) {
        await importLines(home, lines.slice(start, start + 400), start + 1)
      }
    }
    await using peer = await connect(home)
    const sizes: number[] = []
    for (const query of [
      'send an email',
      'book a flight',
      'weather',
      'query a database',
      'translate a text',
    ]) {
      const { output } = await peer.call('search_agents', { query, limit: 20 })
      for (const { actions = [], ...hit } of output.agents as Hit[]) {
        sizes.push(tokensOf({ ...hit, actions: actions.map(({ name }) => ({ name })) }))
      }
    }
    sizes.sort((a, b) => a - b)
    expect(sizes[Math.floor(sizes.length / 2)]).toBeLessThanOrEqual(90)
  })
})

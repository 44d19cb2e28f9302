import {
  Client,
  type ClientCapabilities,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, inputRequired, Server } from '@modelcontextprotocol/server'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createWebSocketTransport } from '../../src/client/index.ts'
import { type Fixture, startFixture } from '../conformance/mcp/fixture.ts'
import { serve } from '../net/support.ts'
import { a2aVersion } from '../support/a2a.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'

const package_name = 'com.example.fixture'
const info = { name: 'test', version: '1' }

describe.each([
  ['2026-07-28', true],
  ['the revisions with sessions', false],
])('a server of %s that asks during a call', (_, modern) => {
  let fixture: Fixture
  let gateway: TestGateway
  let token: string

  beforeAll(async () => {
    fixture = await startFixture({ modern })
    gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: new URL(fixture.url).origin })
    await list(gateway, { package_name, endpoints: [{ protocol: 'mcp', url: fixture.url }] })
    token = await gateway.token('ada')
  })
  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]()
    await fixture?.[Symbol.asyncDispose]()
  })

  const send = async (action: string, params: object, by = token) =>
    (await gateway.request('POST', '/a2a/message', { body: { to: package_name, action, params }, token: by }))
      .json

  const question = {
    status: 'input_required',
    agent: package_name,
    question: {
      text: `${package_name} asks: Who are you?`,
      schema: { type: 'object', properties: { response: { type: 'string' } }, required: ['response'] },
    },
  }
  const ask = { action: 'test_elicitation', params: { message: 'Who are you?' } }

  test('asks a caller of REST in its answer, and goes on with continue_task', async () => {
    const waiting = await send(ask.action, ask.params)
    expect(waiting).toMatchObject(question)
    const input = { response: 'Ada' }
    expect(await send('continue_task', { task_id: waiting.task_id, input })).toEqual({
      text: 'User response: action=accept, content={"response":"Ada"}',
    })
  })

  test('is told that its question is declined', async () => {
    const { task_id } = await send(ask.action, ask.params)
    const input = { action: 'decline' }
    expect(await send('continue_task', { task_id, input })).toEqual({
      text: 'User response: action=decline, content={}',
    })
  })

  test('is answered by nobody but the caller that it asked', async () => {
    const { task_id } = await send(ask.action, ask.params)
    const input = { response: 'Bob' }
    const other = await gateway.token('bob')
    expect(await send('continue_task', { task_id, input }, other)).toMatchObject({ code: 'not_found' })
    expect(await send('continue_task', { task_id, input })).toMatchObject({
      text: expect.stringContaining('Bob'),
    })
  })

  test('asks a caller of A2A in the task, and goes on with the next message', async () => {
    const say = async (data: object, more: object) => {
      const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ data }], ...more }
      const path = `/a2a/v1/${package_name}/message:send`
      const answer = await gateway.request('POST', path, { body: { message }, token, headers: a2aVersion })
      return answer.json.task
    }
    const task = await say(ask.params, { metadata: { skillId: ask.action } })
    expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED')
    expect(JSON.stringify(task.status.message)).toContain(`${package_name} asks: Who are you?`)
    const done = await say({ response: 'Ada' }, { taskId: task.id })
    expect(done.status).toMatchObject({ state: 'TASK_STATE_COMPLETED' })
    expect(JSON.stringify(done.artifacts)).toContain('action=accept')
  })

  async function connect(
    path: string,
    capabilities: ClientCapabilities,
    mode: 'legacy' | 'auto',
  ): Promise<{ client: Client; questions: unknown[]; [Symbol.asyncDispose](): Promise<void> }> {
    const client = new Client(info, { capabilities, versionNegotiation: { mode } })
    const questions: unknown[] = []
    if (capabilities.elicitation) {
      client.setRequestHandler('elicitation/create', ({ params }) => {
        questions.push(params.message)
        return { action: 'accept', content: { response: 'Ada' } }
      })
    }
    if (capabilities.sampling) {
      client.setRequestHandler('sampling/createMessage', () => {
        questions.push('sampling')
        return { model: 'm', role: 'assistant', content: { type: 'text', text: 'Paris' } }
      })
    }
    const requestInit = { headers: { Authorization: `Bearer ${token}` } }
    const url = new URL(gateway.url + path)
    const transport = path.endsWith('/ws')
      ? createWebSocketTransport(url.href.replace(/^http/, 'ws'), { token })
      : new StreamableHTTPClientTransport(url, { requestInit })
    await client.connect(transport as Transport)
    return { client, questions, [Symbol.asyncDispose]: () => client.close() }
  }

  const agent = `/mcp/agents/${package_name}`
  const own = { name: ask.action, arguments: ask.params }
  const named = { name: 'call_agent', arguments: { agent: package_name, ...ask } }

  test.each([
    ['2026-07-28 at the address of the agent', agent, 'auto', own],
    ['2025-11-25 at the address of the agent', agent, 'legacy', own],
    ['2026-07-28 by call_agent', '/mcp', 'auto', named],
    ['2026-07-28 by call_agent over WebSocket', '/mcp/ws', 'auto', named],
    ['2025-11-25 by call_agent over WebSocket', '/mcp/ws', 'legacy', named],
  ] as const)('asks an MCP client of %s that can answer', async (_, path, mode, call) => {
    await using connected = await connect(path, { elicitation: { form: {} } }, mode)
    const { content, isError } = await connected.client.callTool(call)
    expect({ content, isError }).toEqual({
      content: [{ type: 'text', text: 'User response: action=accept, content={"response":"Ada"}' }],
    })
    expect(connected.questions).toEqual([`${package_name} asks: Who are you?`])
  })

  test.each(['auto', 'legacy'] as const)(
    'gives an MCP client that cannot answer the question, and continue_task to go on (%s)',
    async (mode) => {
      await using connected = await connect(agent, {}, mode)
      const { tools } = await connected.client.listTools()
      expect(tools.map(({ name }) => name)).toContain('continue_task')
      const waiting = await connected.client.callTool(own)
      expect(waiting.structuredContent).toMatchObject(question)
      const { task_id } = waiting.structuredContent as { task_id: string }
      const answered = await connected.client.callTool({
        name: 'continue_task',
        arguments: { task_id, input: { response: 'Ada' } },
      })
      expect(answered.content).toEqual([
        { type: 'text', text: 'User response: action=accept, content={"response":"Ada"}' },
      ])
    },
  )

  test('reaches the model of a client only if the client states sampling', async () => {
    const call = { name: 'test_sampling', arguments: { prompt: 'Capital of France?' } }
    await using able = await connect(agent, { sampling: {} }, 'legacy')
    const answer = await able.client.callTool(call)
    expect(answer.content).toEqual([{ type: 'text', text: 'LLM response: Paris' }])
    expect(able.questions).toEqual(['sampling'])
    const refused = await send('test_sampling', { prompt: 'Capital of France?' })
    expect(refused).toMatchObject({ code: expect.any(String) })
    expect(JSON.stringify(refused)).not.toContain('input_required')
  })
})

test('an agent may change while its question waits for the answer of a client', async () => {
  await using fixture = await startFixture()
  await using gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: new URL(fixture.url).origin })
  const id = await list(gateway, { package_name, endpoints: [{ protocol: 'mcp', url: fixture.url }] })
  const owner = await gateway.token('owner')
  const client = new Client(info, { capabilities: { elicitation: { form: {} } } })
  client.setRequestHandler('elicitation/create', async () => {
    const body = { description: 'Another description.' }
    await gateway.request('PUT', `/api/agents/${id}`, { body, token: owner })
    return { action: 'accept', content: { response: 'Ada' } }
  })
  const requestInit = { headers: { Authorization: `Bearer ${await gateway.token('ada')}` } }
  const url = new URL(`${gateway.url}/mcp/agents/${package_name}`)
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }))
  const { content } = await client.callTool({ name: 'test_elicitation', arguments: { message: 'Who?' } })
  expect(content).toMatchObject([{ text: expect.stringContaining('Ada') }])
  await client.close()
})

test('a caller has at most eight open questions of servers with sessions, and answers one to ask again', async () => {
  await using fixture = await startFixture({ modern: false })
  await using gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: new URL(fixture.url).origin })
  await list(gateway, { package_name, endpoints: [{ protocol: 'mcp', url: fixture.url }] })
  const token = await gateway.token('ada')
  const send = async (action: string, params: object) =>
    (await gateway.request('POST', '/a2a/message', { body: { to: package_name, action, params }, token }))
      .json
  const ask = () => send('test_elicitation', { message: 'Who?' })
  const questions = await Promise.all(Array.from({ length: 8 }, ask))
  expect(questions).toEqual(Array(8).fill(expect.objectContaining({ status: 'input_required' })))
  expect(await ask()).toMatchObject({ code: 'rate_limited', hint: expect.stringContaining('continue_task') })
  await send('continue_task', { task_id: questions[0].task_id, input: { response: 'Ada' } })
  expect(await ask()).toMatchObject({ status: 'input_required' })
})

describe('changes of the lists of a server', () => {
  test.each([
    [true, 'auto'],
    [true, 'legacy'],
    [false, 'auto'],
    [false, 'legacy'],
  ] as const)('reach the clients that listen (modern server: %s, client: %s)', async (modern, mode) => {
    await using fixture = await startFixture({ modern })
    await using gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: new URL(fixture.url).origin })
    await list(gateway, { package_name, endpoints: [{ protocol: 'mcp', url: fixture.url }] })
    const client = new Client(info, { versionNegotiation: { mode } })
    let changes = 0
    client.setNotificationHandler('notifications/tools/list_changed', () => {
      changes++
    })
    const requestInit = { headers: { Authorization: `Bearer ${await gateway.token('ada')}` } }
    const url = new URL(`${gateway.url}/mcp/agents/${package_name}`)
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }))
    if (mode === 'auto') await client.listen({ toolsListChanged: true })
    const change = async () => {
      await client.callTool({ name: 'test_trigger_tool_change', arguments: {} })
      return changes
    }
    await expect.poll(change, { timeout: 15_000 }).toBeGreaterThan(0)
    await client.close()
  })
})

test('a client of the revisions with sessions is asked by a server of both eras that has no sessions', async () => {
  const visit = { message: 'Pay', url: 'https://pay.example/' }
  const handler = createMcpHandler(() => {
    const server = new Server(info, { capabilities: { tools: {} } })
    server.setRequestHandler('tools/call', (_, { mcpReq: { inputResponses } }) =>
      inputResponses
        ? { content: [{ type: 'text' as const, text: JSON.stringify(inputResponses) }] }
        : inputRequired({ inputRequests: { visit: inputRequired.elicitUrl(visit) } }),
    )
    return server
  })
  await using server = await serve(
    (request, response) => void toNodeHandler(handler)(request as never, response),
  )
  await using gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: server.origin })
  await list(gateway, { package_name, endpoints: [{ protocol: 'mcp', url: `${server.origin}/mcp` }] })
  const capabilities = { elicitation: { form: {}, url: {} } }
  const client = new Client(info, { versionNegotiation: { mode: 'legacy' }, capabilities })
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept' }))
  const requestInit = { headers: { Authorization: `Bearer ${await gateway.token('ada')}` } }
  const url = new URL(`${gateway.url}/mcp/agents/${package_name}`)
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }))
  expect(await client.callTool({ name: 'buy', arguments: {} })).toMatchObject({
    content: [{ text: '{"visit":{"action":"accept"}}' }],
  })
  await client.close()
})

test('a person may think for nine minutes about the question of a server that waits', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    await using fixture = await startFixture({ modern: false })
    await using gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: new URL(fixture.url).origin })
    await list(gateway, { package_name, endpoints: [{ protocol: 'mcp', url: fixture.url }] })
    const token = await gateway.token('ada')
    const send = async (action: string, params: object) =>
      (await gateway.request('POST', '/a2a/message', { body: { to: package_name, action, params }, token }))
        .json
    const { task_id } = await send('test_elicitation', { message: 'Who are you?' })
    await vi.advanceTimersByTimeAsync(9 * 60_000)
    expect(await send('continue_task', { task_id, input: { response: 'Ada' } })).toMatchObject({
      text: expect.stringContaining('Ada'),
    })
  } finally {
    vi.useRealTimers()
  }
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Endpoint } from '../../schemas/entry-parts.ts'
import { a2aVersion } from '../support/a2a.ts'
import { type A2aAgent, serveA2a, serveLegacyA2a } from '../support/a2a-agents.ts'
import { eventsOf } from '../support/a2a-server.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'
import { answerJson } from '../support/mcp-answers.ts'
import { startHostileServer } from '../support/mcp-servers.ts'

interface Kind {
  readonly name: string
  readonly start: () => Promise<A2aAgent>
  /** The endpoint of the card to call; the card decides if it is absent. */
  readonly endpoint?: (origin: string) => Endpoint
}

const kinds: Kind[] = [
  { name: 'A2A 1.0 by its card', start: serveA2a },
  { name: 'A2A 1.0 that does not stream', start: () => serveA2a({ streaming: false }) },
  {
    name: 'A2A 1.0 over HTTP+JSON',
    start: serveA2a,
    endpoint: (origin) => ({ protocol: 'a2a', url: `${origin}/rest`, binding: 'HTTP+JSON', version: '1.0' }),
  },
  {
    name: 'A2A 1.0 over HTTP+JSON at an address with a query',
    start: serveA2a,
    endpoint: (origin) => ({
      protocol: 'a2a',
      url: `${origin}/rest?region=eu`,
      binding: 'HTTP+JSON',
      version: '1.0',
    }),
  },
  {
    name: 'A2A 1.0 over HTTP+JSON under its older name REST',
    start: serveA2a,
    endpoint: (origin) => ({ protocol: 'a2a', url: `${origin}/rest`, binding: 'REST', version: '1.0' }),
  },
  { name: 'A2A 0.3 by its card', start: serveLegacyA2a },
  { name: 'A2A 0.3 that does not stream', start: () => serveLegacyA2a({ streaming: false }) },
  {
    name: 'A2A 0.3 that nobody said is 0.3',
    start: serveLegacyA2a,
    endpoint: (origin) => ({ protocol: 'a2a', url: `${origin}/rpc`, version: '1.0' }),
  },
]

describe.each(kinds)('$name', ({ start, endpoint }) => {
  const to = 'com.example.greeter'
  let agent: A2aAgent
  let gateway: TestGateway
  let token: string

  beforeAll(async () => {
    agent = await start()
    gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: agent.origin })
    token = await gateway.token('ada')
    const manifest_url = `${agent.origin}/.well-known/agent-card.json`
    await list(gateway, {
      package_name: to,
      manifest_url,
      ...(endpoint && { endpoints: [endpoint(agent.origin)] }),
    })
    await gateway.gateway.verification.checker.run(new AbortController().signal)
  })

  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]()
    await agent?.[Symbol.asyncDispose]()
  })

  const send = (action: string, params: object, as = token) =>
    gateway.request('POST', '/a2a/message', { body: { to, action, params }, token: as })

  test('answers a call', async () => {
    const answer = await send('greet', { name: 'Ada', loud: false })
    expect(answer.json, answer.text).toEqual({ greeting: 'Hello Ada' })
  })

  test('streams a task to a caller of A2A from its begin, even if the agent does not stream', async () => {
    const message = {
      messageId: 'm',
      role: 'ROLE_USER',
      parts: [{ data: { name: 'Ada' } }],
      metadata: { skillId: 'hang' },
    }
    const post = async (method: string, params: object) =>
      await fetch(`${gateway.url}/a2a/v1`, {
        method: 'POST',
        headers: { ...a2aVersion, 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      })
    const events = eventsOf(await post('SendStreamingMessage', { tenant: to, message }))
    const { task } = (await events.next()).value
    expect(task.status.state).toBe('TASK_STATE_SUBMITTED')
    const { statusUpdate } = (await events.next()).value
    expect(statusUpdate.status).toMatchObject({
      state: 'TASK_STATE_WORKING',
      message: { parts: [{ text: 'Thinking' }] },
    })
    await post('CancelTask', { id: task.id })
    expect((await events.next()).value.statusUpdate.status.state).toBe('TASK_STATE_CANCELED')
  })

  test('receives a single text as text', async () => {
    expect((await send('greet', { text: 'Ada' })).json).toEqual({ greeting: 'Hello Ada' })
    expect(agent.received.at(-1).parts).toMatchObject([{ text: 'Ada' }])
  })

  test('works on a task, whose artifacts are the output', async () => {
    expect((await send('work', { name: 'Ada' })).json).toEqual({
      parts: [{ data: { part: 1 } }, { data: { greeting: 'Hello Ada' } }],
    })
  })

  test('fails with its own error text', async () => {
    expect(await send('fail', { name: 'Ada' })).toMatchObject({
      status: 502,
      json: {
        code: 'upstream_failed',
        detail: 'The agent says: It is too early to greet.',
        upstream: { code: 'failed' },
        retryable: false,
      },
    })
  })

  test('asks for input, and continues only for the same caller', async () => {
    const question = await send('ask', {})
    expect(question).toMatchObject({
      status: 200,
      json: { status: 'input_required', agent: to, question: { text: `${to} asks: What is your name?` } },
    })
    const { task_id } = question.json
    const input = { task_id, input: { name: 'Ada' } }
    const refused = await send('continue_task', input, await gateway.token('eve'))
    expect(refused).toMatchObject({ status: 404, json: { code: 'not_found' } })
    expect((await send('continue_task', input)).json).toEqual({ greeting: 'Hello Ada' })
  })
})

test('an agent that knows no method of A2A is said not to speak it, beside its own words', async () => {
  await using server = await startHostileServer((_, response, body) =>
    answerJson(response, body, { error: { code: -32601, message: 'No such method' } }),
  )
  const { origin } = new URL(server.url)
  await using gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: origin })
  const package_name = 'com.example.other'
  await list(gateway, { package_name, endpoints: [{ protocol: 'a2a', url: `${origin}/mcp` }] })
  const body = { to: package_name, action: 'add', params: {} }
  const { json } = await gateway.request('POST', '/a2a/message', { token: await gateway.token('ada'), body })
  expect(json.code).toBe('upstream_invalid')
  expect(json.detail).toMatch(/^\S+ does not speak A2A at its address, .+: No such method$/)
})

test.each([
  [
    'an error of JSON-RPC',
    200,
    { jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'Unknown method' } },
  ],
  ['an error of its own', 400, { error: 'unknown method' }],
  ['an error of its framework', 422, { detail: [{ loc: ['params', 'message'], msg: 'Field required' }] }],
])(
  'an agent that takes messages alone is alive and answers, even if it refuses all else by %s',
  async (_, status, refusal) => {
    await using server = await startHostileServer((_request, response, body) => {
      if (body.method !== 'message/send')
        return void response
          .writeHead(status, { 'Content-Type': 'application/json' })
          .end(JSON.stringify(refusal))
      const { parts } = (body.params as { message: { parts: object[] } }).message
      answerJson(response, body, { result: { kind: 'message', messageId: '1', role: 'agent', parts } })
    })
    await using gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: server.origin })
    const package_name = 'com.example.echo'
    const endpoints = [{ protocol: 'a2a', url: `${server.origin}/a2a`, version: '0.3.0' }] as const
    await list(gateway, { package_name, endpoints })
    const token = await gateway.token('ada')
    const { json } = await gateway.request('POST', `/api/agents/${package_name}/check`, { token })
    expect(json.liveness, JSON.stringify(json.signals)).toMatchObject({
      status: 'alive',
      access: { kind: 'open' },
    })
    const body = { to: package_name, action: 'send_message', params: { text: 'Hello' } }
    const answer = await gateway.request('POST', '/a2a/message', { token, body })
    expect(answer.json, answer.text).toEqual({ text: 'Hello' })
  },
)

test.each([
  ['a part of an unknown kind', { kind: 'hologram' }],
  ['a file without content', { kind: 'file', file: {} }],
  ['a part that is a text', 'hello'],
])('an agent of A2A 0.3 that answers with %s is at fault itself', async (_, part) => {
  await using server = await startHostileServer((_request, response, body) =>
    answerJson(response, body, {
      result: { kind: 'message', messageId: '1', role: 'agent', parts: [part] },
    }),
  )
  await using gateway = await startGateway({
    DRAGOMAN_ALLOW_ORIGINS: server.origin,
    DRAGOMAN_LIVENESS: 'off',
  })
  const to = 'com.example.malformed'
  await list(gateway, {
    package_name: to,
    endpoints: [{ protocol: 'a2a', url: `${server.origin}/a2a`, version: '0.3.0' }],
  })
  const body = { to, action: 'send_message', params: { text: 'Hello' } }
  const { json } = await gateway.request('POST', '/a2a/message', { token: await gateway.token('ada'), body })
  expect(json).toMatchObject({
    code: 'upstream_invalid',
    detail: expect.stringContaining('The agent sent what A2A 0.3 does not allow'),
  })
})

test.each(['1.0', '0.3.0'])(
  'an agent of A2A %s whose work throws is not shut: it has answered',
  async (version) => {
    await using server = await startHostileServer((_request, response, body) =>
      answerJson(response, body, { error: { code: -32603, message: 'Division by zero.' } }),
    )
    await using gateway = await startGateway({
      DRAGOMAN_ALLOW_ORIGINS: server.origin,
      DRAGOMAN_LIVENESS: 'off',
    })
    const to = 'com.example.throws'
    const endpoints = [{ protocol: 'a2a', url: `${server.origin}/a2a`, version }] as const
    await list(gateway, { package_name: to, endpoints })
    const token = await gateway.token('ada')
    const body = { to, action: 'send_message', params: { text: 'Hello' } }
    for (let time = 0; time < 6; time++) {
      const { json } = await gateway.request('POST', '/a2a/message', { token, body })
      expect(json).toMatchObject({
        code: 'upstream_failed',
        detail: 'The agent says: Division by zero.',
        retryable: false,
      })
    }
  },
)

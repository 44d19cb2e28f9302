import {
  Client,
  type ClientCapabilities,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'
import { afterAll, describe, expect, test } from 'vitest'
import { createWebSocketTransport } from '../../src/client/index.ts'
import { a2aVersion } from '../support/a2a.ts'
import { serveA2a } from '../support/a2a-agents.ts'
import { Browser } from '../support/browser.ts'
import { startGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'
import { answered, mailAgent, startSignInHome } from '../support/upstream-sign-in.ts'

const home = await startSignInHome()
afterAll(() => home[Symbol.asyncDispose]())

describe('a caller of REST', () => {
  test('signs in by the address of the refusal, and the same call succeeds', async () => {
    const refused = await home.call('ada')
    expect(refused).toMatchObject({
      status: 409,
      json: {
        code: 'sign_in_required',
        sign_in_url: expect.stringContaining(`${home.gateway.url}/connections/`),
        retryable: false,
      },
    })
    const page = await new Browser(home.gateway.url).open(refused.json.sign_in_url)
    for (const text of [mailAgent, new URL(home.server.url).host, new URL(home.upstream.issuer).host, 'read'])
      expect(page.text).toContain(text)
    expect((await home.signIn(refused.json.sign_in_url)).text).toContain('is connected')
    expect(await home.call('ada')).toMatchObject(answered)
    expect(home.server.calls.at(-1)?.token).not.toBe(await home.gateway.token('ada'))
  })

  test('waits with continue_task until the sign-in', async () => {
    const { json } = await home.call('bob')
    const waiting = home.resume('bob', json.task_id)
    await home.signIn(json.sign_in_url)
    expect(await waiting).toMatchObject(answered)
  })

  test('gives the call up with continue_task: the agent is not asked again', async () => {
    const { json } = await home.call('bert')
    const before = home.server.calls.length
    const params = { task_id: json.task_id, input: { action: 'cancel' } }
    const body = { to: mailAgent, action: 'continue_task', params }
    const token = await home.gateway.token('bert')
    const { status } = await home.gateway.request('POST', '/a2a/message', { body, token })
    expect(status).toBe(499)
    expect(home.server.calls).toHaveLength(before)
  })

  test('never uses the sign-in of another caller', async () => {
    await home.signedIn('carol')
    const before = home.server.calls.length
    const refused = await home.call('dave')
    expect(refused).toMatchObject({ status: 409, json: { code: 'sign_in_required' } })
    expect(home.server.calls).toHaveLength(before)
    expect(await home.resume('eve', refused.json.task_id)).toMatchObject({ status: 404 })
  })

  test('gets one address for calls at one time, and none without an account of its own', async () => {
    const refusals = await Promise.all(Array.from({ length: 5 }, () => home.call('frank')))
    expect(new Set(refusals.map(({ json }) => json.sign_in_url)).size).toBe(1)
  })

  test('uses tokens that come with an ID token of any algorithm, which is not read', async () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const id_token = `${part({ alg: 'ES384' })}.${part({ sub: 'ada' })}.c2lnbmF0dXJl`
    home.upstream.change = (path, body) => (path === '/token' ? { ...body, id_token } : body)
    try {
      await home.signedIn('ivan')
      expect(await home.call('ivan')).toMatchObject(answered)
    } finally {
      home.upstream.change = (_, body) => body
    }
  })

  test('is asked for more scopes when the agent wants them, and keeps those before', async () => {
    await home.signedIn('grace')
    const refused = await home.call('grace', 'write')
    expect(refused).toMatchObject({ status: 409, json: { code: 'sign_in_required' } })
    const page = await home.signIn(refused.json.sign_in_url)
    expect(page.text).toContain('is connected')
    expect(await home.call('grace', 'write')).toMatchObject({ status: 200 })
    expect(await home.call('grace')).toMatchObject({ status: 200 })
  })
})

test('a caller of JSON-RPC gets the address in the data of the error', async () => {
  const params = { to: mailAgent, action: 'whoami', params: {} }
  const { json } = await home.gateway.request('POST', '/rpc', {
    body: { jsonrpc: '2.0', id: 1, method: 'message.send', params },
    token: await home.gateway.token('rita'),
  })
  expect(json.error).toMatchObject({
    code: -32049,
    data: { code: 'sign_in_required', sign_in_url: expect.stringContaining('/connections/') },
  })
})

test('a caller of A2A gets a task that waits for the sign-in and then goes on', async () => {
  const token = await home.gateway.token('anna')
  const say = async (parts: object[], more: object) => {
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts, ...more }
    const path = `/a2a/v1/${mailAgent}/message:send`
    const answer = await home.gateway.request('POST', path, { body: { message }, token, headers: a2aVersion })
    return answer.json.task
  }
  const task = await say([{ data: { action: 'whoami', params: {} } }], {})
  expect(task.status.state).toBe('TASK_STATE_AUTH_REQUIRED')
  const { sign_in_url } = task.status.message.parts[1].data
  expect(task.status.message.parts[0].text).toContain(sign_in_url)
  await home.signIn(sign_in_url)
  const done = await say([{ text: 'done' }], { taskId: task.id })
  expect(done.status).toMatchObject({ state: 'TASK_STATE_COMPLETED' })
  expect(JSON.stringify(done.artifacts)).toContain('ada-upstream')
})

describe('an agent of A2A', () => {
  const settings = (challenge?: string): Parameters<typeof serveA2a>[0] => ({
    scheme: { openIdConnectSecurityScheme: { openIdConnectUrl: `${home.upstream.issuer}${openIdPath}` } },
    guard(request, response, next) {
      if (/^Bearer \S+$/.test(request.headers.authorization ?? '')) return next()
      response.status(401).set(challenge === undefined ? {} : { 'WWW-Authenticate': challenge })
      response.json({ error: { code: -32001, message: 'Sign in.' }, jsonrpc: '2.0', id: null })
    },
  })
  const openIdPath = '/.well-known/openid-configuration'

  test.each([
    ['its card', undefined],
    ['a challenge without metadata and its card', 'Bearer realm="greeter"'],
  ])('is signed in to by %s', async (_, challenge) => {
    await using agent = await serveA2a(settings(challenge))
    await using gateway = await startGateway({
      DRAGOMAN_ALLOW_ORIGINS: `${home.upstream.issuer},${agent.origin}`,
    })
    const package_name = 'com.example.greeter'
    await list(gateway, { package_name, manifest_url: `${agent.origin}/.well-known/agent-card.json` })
    const token = await gateway.token('ada')
    const body = { to: package_name, action: 'greet', params: { name: 'Ada' } }
    const call = () => gateway.request('POST', '/a2a/message', { body, token })
    const refused = await call()
    expect(refused, refused.text).toMatchObject({ status: 409, json: { code: 'sign_in_required' } })
    expect(agent.received).toEqual([])
    expect((await home.signIn(refused.json.sign_in_url, new Browser(gateway.url))).text).toContain(
      'is connected',
    )
    expect(await call()).toMatchObject({ status: 200, json: { greeting: 'Hello Ada' } })
  })
})

describe.each([
  ['2026-07-28', 'auto'],
  ['the revisions with sessions', 'legacy'],
] as const)('a client of MCP of %s', (_, mode) => {
  async function connect(who: string, path: string, capabilities: ClientCapabilities) {
    const client = new Client({ name: 'test', version: '1' }, { capabilities, versionNegotiation: { mode } })
    const visits: string[] = []
    if (capabilities.elicitation) {
      client.setRequestHandler('elicitation/create', async ({ params }) => {
        if (params.mode !== 'url') throw new Error('No form is expected.')
        visits.push(params.url)
        void home.signIn(params.url)
        return { action: 'accept' }
      })
    }
    const token = await home.gateway.token(who)
    const requestInit = { headers: { Authorization: `Bearer ${token}` } }
    const url = new URL(home.gateway.url + path)
    const transport = path.endsWith('/ws')
      ? createWebSocketTransport(url.href.replace(/^http/, 'ws'), { token })
      : new StreamableHTTPClientTransport(url, { requestInit })
    await client.connect(transport as Transport)
    return { client, visits, [Symbol.asyncDispose]: () => client.close() }
  }
  const byCall = { name: 'call_agent', arguments: { agent: mailAgent, action: 'whoami', params: {} } }
  const byTool = { name: 'whoami', arguments: {} }

  test.each([
    [mode === 'auto' ? '/mcp' : '/mcp/ws', byCall],
    [`/mcp/agents/${mailAgent}`, byTool],
  ])('visits the address at %s, and its call goes on', async (path, call) => {
    const who = `url ${mode} ${path}`
    await using session = await connect(who, path, { elicitation: { url: {} } })
    const result = await session.client.callTool(call)
    expect(session.visits).toEqual([expect.stringContaining('/connections/')])
    expect(JSON.stringify(result)).toContain('ada-upstream')
    expect(result.isError).not.toBe(true)
  })

  test('has one tool at the address of the agent before the sign-in, and those of the agent after it', async () => {
    await using session = await connect(`list ${mode}`, `/mcp/agents/${mailAgent}`, {
      elicitation: { url: {} },
    })
    const names = async () => (await session.client.listTools()).tools.map(({ name }) => name)
    expect(await names()).toEqual(['connect_agent'])
    const refused = await session.client.callTool({ name: 'connect_agent', arguments: {} })
    const { sign_in_url } = JSON.parse((refused.content as { text: string }[])[0]?.text ?? '')
    await home.signIn(sign_in_url)
    const done = await session.client.callTool({ name: 'connect_agent', arguments: {} })
    expect(done.structuredContent).toMatchObject({ connected: true })
    expect(await names()).toEqual(['whoami', 'write'])
  })

  test.each([
    ['/mcp', byCall, { agent: mailAgent }],
    [`/mcp/agents/${mailAgent}`, byTool, {}],
  ])('without URL elicitation reads the address at %s', async (path, call, agent) => {
    await using session = await connect(`plain ${mode} ${path}`, path, {})
    const result = await session.client.callTool(call)
    expect(result.isError).toBe(true)
    const text = JSON.stringify(result.content)
    expect(text).toContain('/connections/')
    const { sign_in_url, task_id } = JSON.parse((result.content as { text: string }[])[0]?.text ?? '')
    await home.signIn(sign_in_url)
    const input = { ...agent, task_id, input: {} }
    const next = await session.client.callTool({ name: 'continue_task', arguments: input })
    expect(JSON.stringify(next)).toContain('ada-upstream')
    expect(JSON.stringify(await session.client.callTool(call))).toContain('ada-upstream')
  })
})

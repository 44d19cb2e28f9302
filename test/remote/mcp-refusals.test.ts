import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { listedActions } from '../../schemas/names.ts'
import { serve } from '../net/support.ts'
import { startGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'
import { modernHeaders, modernRequest } from '../support/mcp.ts'
import { startModernServer } from '../support/mcp-servers.ts'

const discovered = {
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  serverInfo: { name: 'strict', version: '1' },
}

test.each([-32002, -32603, 1, 4040])(
  'a refusal of one caller by error %i does not open the circuit for others',
  async (code) => {
    const to = 'com.example.strict'
    await using server = await serve(async (request, response) => {
      const { id, method, params } = JSON.parse(await text(request))
      const result =
        method === 'server/discover' ? discovered : { content: [{ type: 'text', text: 'Here.' }] }
      const isBad = params?.arguments?.bad === true
      const answer = isBad
        ? { error: { code, message: 'None of yours.' } }
        : { result: { resultType: 'complete', ...result } }
      response.setHeader('Content-Type', 'application/json')
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
    })
    await using gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: server.origin })
    await list(gateway, { package_name: to, endpoints: [{ protocol: 'mcp', url: `${server.origin}/mcp` }] })
    const send = async (who: string, params: object) => {
      const body = { to, action: 'look', params }
      return (await gateway.request('POST', '/a2a/message', { body, token: await gateway.token(who) })).json
    }
    for (let time = 0; time < 6; time++) {
      expect(await send('ada', { bad: true })).toMatchObject({
        code: 'upstream_failed',
        detail: 'The agent says: None of yours.',
        retryable: false,
      })
    }
    expect(await send('eve', {})).toEqual({ text: 'Here.' })
  },
)

test('an address that a server has its clients visit by an error names the agent, and is never one of this gateway', async () => {
  const to = 'com.example.visited'
  await using server = await serve(async (request, response) => {
    const { id, method, params } = JSON.parse(await text(request))
    const { url } = params?.arguments ?? {}
    const data = { elicitations: [{ mode: 'url', elicitationId: '1', url, message: 'Sign in again' }] }
    const error = { code: -32042, message: 'Visit it first.', data }
    const answer =
      method === 'server/discover' ? { result: { resultType: 'complete', ...discovered } } : { error }
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
  })
  await using gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: server.origin })
  await list(gateway, { package_name: to, endpoints: [{ protocol: 'mcp', url: `${server.origin}/mcp` }] })
  const token = await gateway.token('ada')
  const visit = async (url: string, capabilities: object) => {
    const body = modernRequest(1, 'tools/call', { name: 'look', arguments: { url } }, capabilities)
    const headers = modernHeaders('tools/call', 'look')
    return (await gateway.request('POST', `/mcp/agents/${to}`, { body, headers, token })).json
  }
  const opens = { elicitation: { form: {}, url: {} } }
  expect((await visit('https://a.example/', opens)).error).toMatchObject({
    code: -32042,
    data: { elicitations: [{ url: 'https://a.example/', message: `${to} asks: Sign in again` }] },
  })
  expect((await visit('https://a.example/', {})).error).not.toHaveProperty('data')
  const arguments_ = { agent: to, action: 'look', params: { url: 'https://a.example/' } }
  const called = modernRequest(2, 'tools/call', { name: 'call_agent', arguments: arguments_ }, opens)
  const headers = modernHeaders('tools/call', 'call_agent')
  const { result } = (await gateway.request('POST', '/mcp', { body: called, headers, token })).json
  expect(result).toMatchObject({
    isError: true,
    content: [
      { text: expect.stringContaining(`Open https://a.example/ in a browser. ${to} asks: Sign in again`) },
    ],
  })
  const refused = JSON.stringify(await visit(`${gateway.url}/oauth/device?user_code=AAAA-BBBB`, opens))
  expect(refused).toContain('upstream_invalid')
  expect(refused).not.toContain('AAAA-BBBB')
})

test('an agent that a model calls learns neither folders of the user nor what the host says of them', async () => {
  const agent = 'com.example.curious'
  const seen: Record<string, unknown>[] = []
  await using server = await serve(async (request, response) => {
    const { id, method, params } = JSON.parse(await text(request))
    if (method === 'tools/call') seen.push(params._meta)
    const asks = { resultType: 'input_required', inputRequests: { folders: { method: 'roots/list' } } }
    const result = method === 'tools/call' ? asks : { resultType: 'complete', ...discovered }
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
  await using gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: server.origin })
  await list(gateway, { package_name: agent, endpoints: [{ protocol: 'mcp', url: `${server.origin}/mcp` }] })
  const params = {
    name: 'call_agent',
    arguments: { agent, action: 'look', params: {} },
    _meta: { 'host.example/userLocation': { city: 'Oslo' } },
  }
  const { json } = await gateway.request('POST', '/mcp', {
    body: modernRequest(1, 'tools/call', params, { roots: {}, elicitation: { form: {} } }),
    headers: modernHeaders('tools/call', 'call_agent'),
    token: await gateway.token('ada'),
  })
  expect(json.result).toMatchObject({
    isError: true,
    _meta: { 'dragoman/problem': { code: 'upstream_invalid' } },
  })
  expect(seen).toHaveLength(1)
  expect(JSON.stringify(seen)).not.toMatch(/Oslo|roots/)
})

test('callers to whom a server does not list its tools do not open its circuit for others', async () => {
  const to = 'com.example.closed'
  await using server = await serve(async (request, response) => {
    const { id, method } = JSON.parse(await text(request))
    if (method === 'tools/list') return void response.writeHead(401).end()
    const result = method === 'server/discover' ? discovered : { content: [{ type: 'text', text: 'Here.' }] }
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...result } }))
  })
  await using gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: server.origin })
  await list(gateway, { package_name: to, endpoints: [{ protocol: 'mcp', url: `${server.origin}/mcp` }] })
  const send = async (who: string, action: string) => {
    const body = { to, action, params: {} }
    return (await gateway.request('POST', '/a2a/message', { body, token: await gateway.token(who) })).json
  }
  for (const who of ['eve', 'mallory', 'trudy', 'eve', 'mallory', 'trudy']) {
    const refused = { code: 'upstream_failed', upstream: { status: 401 } }
    expect(await send(who, listedActions.description)).toMatchObject(refused)
  }
  expect(await send('ada', 'look')).toEqual({ text: 'Here.' })
})

test('a text by A2A to a server that has only tools is answered with their names, and how to call one', async () => {
  const tenant = 'com.example.tools'
  await using server = await startModernServer()
  await using gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: server.origin })
  await list(gateway, { package_name: tenant, endpoints: [{ protocol: 'mcp', url: server.url }] })
  const message = { messageId: 'one', role: 'ROLE_USER', parts: [{ text: 'Repeat this.' }] }
  const answer = await gateway.request('POST', '/a2a/v1', {
    body: { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { tenant, message } },
    headers: { 'A2A-Version': '1.0' },
    token: await gateway.token('ada'),
  })
  const { status } = answer.json.result.task
  expect(status.state).toBe('TASK_STATE_FAILED')
  expect(status.message.parts[0].text).toMatch(
    /^A message to com\.example\.tools has to name one of its actions, by message\.metadata\.skillId, .* It has: echo, /,
  )
})

test.each([
  [['who'], /input an object by the schema of the question, or \{"action": "decline"\}/],
  [['who', 'where'], /input \{KEY: ANSWER\} by the keys of the questions/],
])('a model that a server asks %j is told the form of its answer', async (keys, next) => {
  const schema = { type: 'object', properties: { city: { type: 'string' } } }
  const params = { mode: 'form', message: 'Which city?', requestedSchema: schema }
  const inputRequests = Object.fromEntries(keys.map((key) => [key, { method: 'elicitation/create', params }]))
  await using server = await serve(async (request, response) => {
    const { id, method } = JSON.parse(await text(request))
    const asks = { resultType: 'input_required', inputRequests, requestState: 's' }
    const result = method === 'tools/call' ? asks : { resultType: 'complete', tools: [], ...discovered }
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
  await using gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: server.origin })
  const agent = 'com.example.asks'
  await list(gateway, { package_name: agent, endpoints: [{ protocol: 'mcp', url: `${server.origin}/mcp` }] })
  const { json } = await gateway.request('POST', '/mcp', {
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'call_agent', arguments: { agent, action: 'look', params: {} } },
    },
    token: await gateway.token('ada'),
  })
  expect(json.result.structuredContent).toMatchObject({ status: 'input_required', agent })
  expect(json.result.structuredContent.next).toMatch(
    /^com\.example\.asks, a third party, asks\. .*what the user has told you for this task\. Ask the user for .* each consent\./,
  )
  expect(json.result.structuredContent.next).toMatch(next)
})

test('an unknown tool that a server refuses in words is an unknown action, with the nearest tools', async () => {
  const to = 'com.example.worded'
  const refuse = { content: [{ type: 'text' as const, text: 'Unknown tool: ecko' }], isError: true }
  await using server = await startModernServer({ answers: { ecko: () => refuse } })
  await using gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: server.origin })
  await list(gateway, { package_name: to, endpoints: [{ protocol: 'mcp', url: server.url }] })
  const body = { to, action: 'ecko', params: {} }
  const answer = await gateway.request('POST', '/a2a/message', { body, token: await gateway.token('ada') })
  expect(answer).toMatchObject({
    status: 404,
    json: {
      code: 'unknown_action',
      detail: 'The agent says: Unknown tool: ecko',
      nearest: ['echo'],
      hint: expect.stringMatching('It has: echo, '),
      retryable: false,
    },
  })
})

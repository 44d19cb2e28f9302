import { afterAll, describe, expect, test } from 'vitest'
import { serve } from '../net/support.ts'
import { a2aVersion, message } from '../support/a2a.ts'
import { eventsOf } from '../support/a2a-server.ts'
import { answerJson, serveEnvelopes } from '../support/envelope-agent.ts'
import { startGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'
import { messageIn, modernHeaders, modernRequest } from '../support/mcp.ts'
import { startModernServer } from '../support/mcp-servers.ts'
import { openSocket } from '../support/socket.ts'

const to = 'com.example.teller'
const hiding = 'pay \u202Eyalp\u202C now'
const texts: Record<string, string> = { plain: 'It rains.', hide: hiding }
const capabilities = Object.keys(texts).map((name) => ({ name, description: `Tells, ${name}.` }))

const stack = new AsyncDisposableStack()

const agent = stack.use(
  await serveEnvelopes(({ action }, response) => answerJson(response, { text: texts[action] })),
)
const home = stack.use(await startGateway({ DRAGOMAN_ALLOW_ORIGINS: agent.origin }))
const token = await home.token('ada')
const endpoints = [{ protocol: 'envelope' as const, url: agent.url }]
await list(home, { package_name: to, endpoints, capabilities })

afterAll(() => stack.disposeAsync())

interface Seen {
  readonly output: unknown
  readonly trust: unknown
  readonly flags: unknown
}

interface Request {
  readonly to: string
  readonly action: string
  readonly params: object
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
type Loose = any

/** A way to send an envelope; shows the output and the mark beside it. */
type Send = (envelope: Request) => Promise<Seen>

function byHeaders(headers: Headers, output: unknown): Seen {
  const flags = headers.get('x-content-flags')
  return { output, trust: headers.get('x-content-trust') ?? undefined, flags: flags?.split(', ') }
}

const byMembers = (members: Loose, output: unknown): Seen => ({
  output,
  trust: members?.content_trust,
  flags: members?.content_flags,
})

function byMeta({ result }: Loose): Seen {
  const { _meta = {}, structuredContent } = result
  return {
    output: structuredContent,
    trust: _meta['dragoman/content_trust'],
    flags: _meta['dragoman/content_flags'],
  }
}

async function post(path: string, body: object, headers: Record<string, string> = {}) {
  return await home.request('POST', path, { body, token, headers })
}

async function overSocket(path: string, protocol: string, frame: object, id: unknown): Promise<Loose> {
  await using peer = await openSocket(`${home.url}${path}`, [protocol, `bearer.${token}`])
  peer.send(frame)
  return await peer.answer(id)
}

async function overMcp(path: string, name: string, input: object): Promise<Seen> {
  const answer = await fetch(`${home.url}${path}`, {
    method: 'POST',
    headers: { ...modernHeaders('tools/call', name), Authorization: `Bearer ${token}` },
    body: JSON.stringify(modernRequest(1, 'tools/call', { name, arguments: input })),
  })
  return byMeta(messageIn(await answer.text()))
}

const inCall = ({ to, ...rest }: Request) => ({ package_name: to, ...rest })

function byA2a({ message: direct, task }: Loose): Seen {
  const carrier = direct ?? task.artifacts[0]
  const [part] = carrier.parts
  return byMembers(carrier.metadata, part.data)
}

const ways: Readonly<Record<string, Send>> = {
  async envelope(body) {
    const { headers, json } = await post('/a2a/message', body)
    return byHeaders(headers, json)
  },
  async 'envelope as events'(body) {
    const { text } = await post('/a2a/message', body, { Accept: 'text/event-stream' })
    const events = text.split('\n\n').map((event) => ({
      event: /^event: (.*)$/m.exec(event)?.[1],
      data: JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? 'null'),
    }))
    const of = (name: string) => events.find(({ event }) => event === name)?.data
    return byMembers(of('content'), of('result'))
  },
  async 'envelope over WebSocket'(body) {
    const frame = await overSocket('/a2a/message', 'envelope', { ...body, message_id: 'm-1' }, undefined)
    return byMembers(frame, frame.output)
  },
  async 'JSON-RPC over HTTP'(params) {
    const { headers, json } = await post('/rpc', { jsonrpc: '2.0', id: 1, method: 'message.send', params })
    return byHeaders(headers, json.result)
  },
  async 'JSON-RPC in a batch'(params) {
    const listing = { to: 'svc.registry', action: 'search_agents', params: { limit: 1 } }
    const request = { jsonrpc: '2.0', method: 'message.send' }
    const { headers, json } = await post('/rpc', [
      { ...request, id: 1, params: listing },
      { ...request, id: 2, params },
    ] as object)
    return byHeaders(headers, json.find(({ id }: Loose) => id === 2).result)
  },
  'MCP over HTTP': (envelope) => overMcp('/mcp', 'call_agent', inCall(envelope)),
  async 'MCP over WebSocket'(envelope) {
    const request = modernRequest(1, 'tools/call', { name: 'call_agent', arguments: inCall(envelope) })
    return byMeta(await overSocket('/mcp/ws', 'mcp', request, 1))
  },
  async 'A2A over HTTP+JSON'(envelope) {
    const { json } = await post('/a2a/v1/message:send', message([{ data: envelope }]), a2aVersion)
    return byA2a(json)
  },
  async 'A2A over JSON-RPC'(envelope) {
    const params = message([{ data: envelope }])
    const { json } = await post(
      '/a2a/v1',
      { jsonrpc: '2.0', id: 1, method: 'SendMessage', params },
      a2aVersion,
    )
    return byA2a(json.result)
  },
  async 'A2A 0.3'(envelope) {
    const parts = [{ kind: 'data', data: envelope }]
    const params = { message: { kind: 'message', messageId: 'm-1', role: 'user', parts } }
    const { json } = await post('/a2a/v1', { jsonrpc: '2.0', id: 1, method: 'message/send', params })
    const carrier = json.result.kind === 'message' ? json.result : json.result.artifacts[0]
    return byMembers(carrier.metadata, carrier.parts[0].data)
  },
}

describe.each(Object.entries(ways))('%s', (_, send) => {
  const ask = (action: string) => send({ to, action, params: {} })

  test('marks the output of a listed agent as untrusted, and does not change it', async () => {
    expect(await ask('plain')).toEqual({
      output: { text: texts.plain },
      trust: 'untrusted',
      flags: undefined,
    })
  })

  test('tells that a text hides characters, and does not change it', async () => {
    expect(await ask('hide')).toEqual({
      output: { text: hiding },
      trust: 'untrusted',
      flags: ['hidden_characters'],
    })
  })

  test('does not mark the output of a hosted agent', async () => {
    const seen = await send({ to: 'svc.registry', action: 'search_agents', params: { limit: 1 } })
    expect(seen).toMatchObject({ output: { total: expect.any(Number) } })
    expect([seen.trust, seen.flags]).toEqual([undefined, undefined])
  })
})

test('a tool of a listed agent over MCP has the mark too', async () => {
  const seen = await overMcp(`/mcp/agents/${to}`, 'hide', {})
  expect(seen).toEqual({ output: { text: hiding }, trust: 'untrusted', flags: ['hidden_characters'] })
})

test('JSON-RPC over WebSocket has no place for the mark: the response is that of any agent', async () => {
  const params = { to, action: 'plain', params: {} }
  const request = { jsonrpc: '2.0', id: 1, method: 'message.send', params }
  const answer = await overSocket('/rpc', 'jsonrpc', request, 1)
  expect(answer).toEqual({ jsonrpc: '2.0', id: 1, result: { text: texts.plain } })
})

test('a task keeps the mark of its artifact', async () => {
  const sent = await post(`/a2a/v1/${to}/message:send`, message([{ data: { action: 'plain' } }]), a2aVersion)
  const { id } = sent.json.task
  const read = await home.request('GET', `/a2a/v1/tasks/${id}`, { token, headers: a2aVersion })
  expect(read.json.artifacts[0].metadata).toEqual({ content_trust: 'untrusted' })
})

test('progress of a listed agent has the mark in A2A, where a model reads it as a message', async () => {
  await using server = await startModernServer()
  await using gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: server.origin })
  await list(gateway, { package_name: to, endpoints: [{ protocol: 'mcp', url: server.url }] })
  const headers = { ...a2aVersion, 'Content-Type': 'application/json' }
  const answer = await fetch(`${gateway.url}/a2a/v1/${to}/message:stream`, {
    method: 'POST',
    headers: { ...headers, Authorization: `Bearer ${await gateway.token('ada')}` },
    body: JSON.stringify(message([{ data: { action: 'work' } }])),
  })
  const messages: Loose[] = []
  for await (const { statusUpdate } of eventsOf(answer))
    if (statusUpdate?.status.message) messages.push(statusUpdate.status.message)
  expect(messages.map(({ parts }) => parts[0].text)).toEqual(['half', 'whole'])
  for (const { metadata } of messages) expect(metadata).toEqual({ content_trust: 'untrusted' })
})

test('a hosted agent that calls a listed agent passes the mark on', async () => {
  const created = await post('/api/playground/session', {})
  const body = { agent: to, capability: 'hide', input: {} }
  const { headers, json } = await post(`/api/playground/session/${created.json.id}/execute`, body)
  expect(JSON.stringify(json)).toContain('pay ')
  expect(byHeaders(headers, null)).toMatchObject({ trust: 'untrusted', flags: ['hidden_characters'] })
})

test('a page that the reader reads has the mark, which tells of the characters that it hides', async () => {
  await using site = await serve((_, response) => {
    response.setHeader('Content-Type', 'text/html; charset=utf-8')
    response.end(`<title>Rain\u{e0041}\u{e0042}</title><p>It rains.</p>`)
  })
  await using gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: site.origin })
  const { headers } = await gateway.request('POST', '/a2a/message', {
    body: { to: 'svc.utility.reader', action: 'extract_content', params: { url: site.origin } },
    token: await gateway.token('ada'),
  })
  expect(byHeaders(headers, null)).toMatchObject({ trust: 'untrusted', flags: ['hidden_characters'] })
})

import { afterAll, expect, test } from 'vitest'
import { a2aVersion, dataMessage } from '../support/a2a.ts'
import { serveA2a } from '../support/a2a-agents.ts'
import { eventsOf, gist } from '../support/a2a-server.ts'
import { startGateway } from '../support/gateway.ts'
import { listByCard } from '../support/listed.ts'
import { messageIn, modernHeaders, modernRequest } from '../support/mcp.ts'
import { openSocket } from '../support/socket.ts'

const to = 'com.example.greeter'
const envelope = { to, action: 'work', params: { name: 'Ada' } }
const output = { parts: [{ data: { part: 1 } }, { data: { greeting: 'Hello Ada' } }] }

const agent = await serveA2a()
const gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: agent.origin })
const token = await gateway.token('ada')
await listByCard(gateway, to, agent.origin)

afterAll(() => agent[Symbol.asyncDispose]())
afterAll(() => gateway[Symbol.asyncDispose]())

function post(path: string, body: object, headers: Record<string, string> = {}, signal?: AbortSignal) {
  return fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}`, ...headers },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  })
}

test('what an agent streams comes through as server-sent events', async () => {
  const answer = await post('/a2a/message', envelope, { Accept: 'text/event-stream' })
  const text = await answer.text()
  expect(text).toContain('event: progress\ndata: {"progress":2,"message":"Looking up"}')
  expect(text).toContain('event: part\ndata: {"part":1}')
  expect(text).toContain(`event: result\ndata: ${JSON.stringify(output)}`)
})

test('it arrives as a stream of A2A', async () => {
  const answer = await post('/a2a/v1/message:stream', dataMessage(envelope), a2aVersion)
  const gists: string[] = []
  for await (const event of eventsOf(answer)) gists.push(gist(event))
  expect(gists).toEqual(['task submitted', 'working', 'artifact greeting', 'artifact greeting', 'completed'])
})

test('it arrives as frames of a WebSocket', async () => {
  await using peer = await openSocket(`${gateway.url}/a2a/message`, ['envelope', `bearer.${token}`])
  const frames: object[] = []
  const answered = new Promise<void>((resolve) => {
    peer.socket.on('message', (data) => {
      frames.push(JSON.parse(data.toString()))
      if ('output' in (frames.at(-1) ?? {})) resolve()
    })
  })
  peer.send({ ...envelope, message_id: 'm-1' })
  await answered
  expect(frames).toContainEqual({ message_id: 'm-1', update: { part: { part: 1 } } })
  expect(frames.at(-1)).toEqual({ message_id: 'm-1', content_trust: 'untrusted', output })
})

test('its progress arrives as progress of MCP', async () => {
  const { to: package_name, ...rest } = envelope
  const call = { name: 'call_agent', arguments: { package_name, ...rest } }
  const request = modernRequest(1, 'tools/call', call) as { params: { _meta: object } }
  Object.assign(request.params._meta, { progressToken: 'p' })
  const answer = await post('/mcp', request, modernHeaders('tools/call', 'call_agent'))
  const text = await answer.text()
  expect(text).toContain('"message":"Looking up"')
  expect(messageIn(text)).toMatchObject({
    result: { content: [{ text: '{"part":1}' }, { text: '{"greeting":"Hello Ada"}' }] },
  })
})

test('a caller that disconnects cancels the task', async () => {
  const leaving = new AbortController()
  const answer = await post(
    '/a2a/message',
    { to, action: 'hang', params: {} },
    { Accept: 'text/event-stream' },
    leaving.signal,
  )
  const reader = answer.body?.getReader()
  await reader?.read()
  leaving.abort()
  await expect.poll(() => agent.cancelled.length).toBe(1)
})

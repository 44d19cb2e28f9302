import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { serve } from '../net/support.ts'
import { startGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'
import { initialize } from '../support/mcp.ts'

const agent = 'com.example.notes'
const serverInfo = { name: 'notes', version: '1' }

/** A server of 2025-11-25 whose lists may change. */
function startNotes() {
  return serve(async (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const { id } = JSON.parse(await text(request))
    if (id === undefined) return void response.writeHead(202).end()
    const capabilities = { resources: { listChanged: true } }
    const result = { protocolVersion: '2025-11-25', capabilities, serverInfo }
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
}

test('the stream of a session opens before the first change, so that no proxy takes it for a server that hangs', async () => {
  await using server = await startNotes()
  await using gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: server.origin })
  await list(gateway, { package_name: agent, endpoints: [{ protocol: 'mcp', url: `${server.origin}/mcp` }] })
  const url = `${gateway.url}/mcp/agents/${agent}`
  const authorization = { Authorization: `Bearer ${await gateway.token('ada')}` }
  const began = await fetch(url, {
    method: 'POST',
    headers: { ...authorization, 'Content-Type': 'application/json' },
    body: JSON.stringify(initialize(1)),
  })
  await began.body?.cancel()
  const session = { 'Mcp-Session-Id': began.headers.get('mcp-session-id') ?? '' }
  const stream = await fetch(url, { headers: { ...authorization, ...session, Accept: 'text/event-stream' } })
  expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  await stream.body?.cancel()
})

test('an error of a server of an older revision arrives with its code and its data', async () => {
  const error = { code: -32002, message: 'No such note.', data: { uri: 'note://1', nearest: ['note://2'] } }
  await using server = await serve(async (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const { id, method } = JSON.parse(await text(request))
    if (id === undefined) return void response.writeHead(202).end()
    const result = { protocolVersion: '2025-11-25', capabilities: { resources: {} }, serverInfo }
    response.setHeader('Content-Type', 'application/json')
    response.end(
      JSON.stringify({ jsonrpc: '2.0', id, ...(method === 'initialize' ? { result } : { error }) }),
    )
  })
  await using gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: server.origin })
  await list(gateway, { package_name: agent, endpoints: [{ protocol: 'mcp', url: `${server.origin}/mcp` }] })
  const answer = await gateway.request('POST', `/mcp/agents/${agent}`, {
    body: { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: 'note://1' } },
    token: await gateway.token('ada'),
  })
  expect(answer.json.error).toEqual(error)
})

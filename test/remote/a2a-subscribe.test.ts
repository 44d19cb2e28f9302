import { expect, test } from 'vitest'
import { createClient } from '../../src/remote/a2a/client.ts'
import { createSdkClient } from '../../src/remote/a2a/sdk-client.ts'
import { serve } from '../net/support.ts'
import { collect } from '../support/a2a-server.ts'

/** An agent that answers every request with the event of one working task, and keeps what it was asked. */
async function serveEvents(event: (framed: boolean) => object) {
  const requests: { readonly line: string; readonly body: string }[] = []
  const server = await serve((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      requests.push({ line: `${request.method} ${request.url}`, body })
      const framed = body.includes('"jsonrpc"')
      const result = event(framed)
      const message = framed ? { jsonrpc: '2.0', id: JSON.parse(body).id, result } : result
      response.setHeader('Content-Type', 'text/event-stream')
      response.end(`data: ${JSON.stringify(message)}\n\n`)
    })
  })
  return { requests, origin: server.origin, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

const options = () => ({ signal: AbortSignal.timeout(5_000), headers: {} })
const whole = { task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } } }
const legacy = { kind: 'task', id: 't', contextId: 'c', status: { state: 'working' } }
const legacyRest = { task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } } }

test.each([
  ['1.0', 'JSONRPC', 'POST /', 'SubscribeToTask'],
  ['1.0', 'HTTP+JSON', 'POST /tasks/t:subscribe', undefined],
  ['0.3', 'JSONRPC', 'POST /', 'tasks/resubscribe'],
  ['0.3', 'HTTP+JSON', 'GET /v1/tasks/t:subscribe', undefined],
] as const)('a client of A2A %s over %s subscribes to a task', async (version, binding, line, method) => {
  const event = (framed: boolean) => (version === '1.0' ? whole : framed ? legacy : legacyRest)
  await using agent = await serveEvents(event)
  const create = version === '1.0' ? createClient : createSdkClient
  const client = await create({ url: agent.origin, binding, version, streaming: true }, fetch, () => 'id')
  const events = client.subscribe?.('t', options()) as AsyncIterable<object>
  expect(await collect(events)).toMatchObject([whole])
  expect(agent.requests[0]?.line).toBe(line)
  if (method) expect(JSON.parse(agent.requests[0]?.body ?? '')).toMatchObject({ method, params: { id: 't' } })
})

test.each(['1.0', '0.3'] as const)(
  'an agent of A2A %s that does not stream has no subscription',
  async (version) => {
    const create = version === '1.0' ? createClient : createSdkClient
    const endpoint = { url: 'http://127.0.0.1:9', binding: 'JSONRPC', version, streaming: false }
    expect((await create(endpoint, fetch, () => 'id')).subscribe).toBeUndefined()
  },
)

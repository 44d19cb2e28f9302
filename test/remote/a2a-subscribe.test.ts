import { expect, test } from 'vitest'
import { createClient } from '../../src/remote/a2a/client.ts'
import { createSdkClient } from '../../src/remote/a2a/sdk-client.ts'
import { serve } from '../net/support.ts'
import { collect } from '../support/a2a-server.ts'

/** An agent that answers every request with the event of one working task, and keeps what it was asked. */
async function serveEvents(result: object) {
  const requests: { readonly line: string; readonly body: string }[] = []
  const server = await serve((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      requests.push({ line: `${request.method} ${request.url}`, body })
      const framed = body.includes('"jsonrpc"')
      const message = framed ? { jsonrpc: '2.0', id: JSON.parse(body).id, result } : result
      response.setHeader('Content-Type', 'text/event-stream')
      response.end(`data: ${JSON.stringify(message)}\n\n`)
    })
  })
  return { requests, origin: server.origin, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

const options = () => ({ signal: AbortSignal.timeout(5_000), headers: {} })
const whole = { task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } } }

test.each([
  ['JSONRPC', 'POST /', 'SubscribeToTask'],
  ['HTTP+JSON', 'POST /tasks/t:subscribe', undefined],
] as const)('a client of A2A 1.0 over %s subscribes to a task', async (binding, line, method) => {
  await using agent = await serveEvents(whole)
  const endpoint = { url: agent.origin, binding, version: '1.0', streaming: true } as const
  const events = createClient(endpoint, fetch, () => 'id').subscribe?.(
    't',
    options(),
  ) as AsyncIterable<object>
  expect(await collect(events)).toMatchObject([whole])
  expect(agent.requests[0]?.line).toBe(line)
  if (method) expect(JSON.parse(agent.requests[0]?.body ?? '')).toMatchObject({ method, params: { id: 't' } })
})

test('an agent that does not stream has no subscription', () => {
  const endpoint = {
    url: 'http://127.0.0.1:9',
    binding: 'JSONRPC',
    version: '1.0',
    streaming: false,
  } as const
  expect(createClient(endpoint, fetch, () => 'id').subscribe).toBeUndefined()
})

test('an agent of A2A 0.3 has none, since agents on its Python SDK would store chunks twice', async () => {
  const endpoint = { url: 'http://127.0.0.1:9', binding: 'JSONRPC', version: '0.3', streaming: true } as const
  expect((await createSdkClient(endpoint, fetch, () => 'id')).subscribe).toBeUndefined()
})

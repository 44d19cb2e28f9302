import { afterAll, describe, expect, test } from 'vitest'
import { serveScenarios } from '../conformance/a2a/serve.ts'
import { a2aVersion } from '../support/a2a.ts'
import { collect, type Event, eventsOf, gist } from '../support/a2a-server.ts'
import { startGateway } from '../support/gateway.ts'

const stack = new AsyncDisposableStack()
const home = stack.use(await startGateway())
const url = stack.use(await serveScenarios(home)).url
afterAll(() => stack.disposeAsync())

async function send(messageId: string, path = 'message:send'): Promise<Response> {
  const message = { messageId, role: 'ROLE_USER', parts: [{ text: 'x' }] }
  const headers = { ...a2aVersion, 'Content-Type': 'application/json' }
  return await fetch(`${url}/${path}`, { method: 'POST', headers, body: JSON.stringify({ message }) })
}

describe('the agent that the A2A kit asks for', () => {
  test.each([
    ['tck-complete-task-1', 'TASK_STATE_COMPLETED', undefined],
    ['tck-artifact-text-1', 'TASK_STATE_COMPLETED', { text: 'Generated text content' }],
    ['tck-artifact-file-1', 'TASK_STATE_COMPLETED', { raw: expect.any(String), filename: 'output.txt' }],
    ['tck-artifact-file-url-1', 'TASK_STATE_COMPLETED', { url: 'https://example.com/output.txt' }],
    ['tck-artifact-data-1', 'TASK_STATE_COMPLETED', { data: { key: 'value', count: 42 } }],
    ['tck-input-required-1', 'TASK_STATE_INPUT_REQUIRED', undefined],
    ['tck-reject-task-1', 'TASK_STATE_REJECTED', undefined],
  ])('%s comes to %s', async (id, state, part) => {
    const { task } = (await (await send(id)).json()) as Event
    expect(task.status.state).toBe(state)
    if (part) expect(task.artifacts).toMatchObject([{ parts: [part] }])
  })

  test('answers with a message, streamed or not', async () => {
    const id = 'tck-message-response-1'
    const answer = { message: { role: 'ROLE_AGENT', parts: [{ text: 'Direct message response' }] } }
    expect(await (await send(id)).json()).toMatchObject(answer)
    expect(await collect(eventsOf(await send(id, 'message:stream')))).toMatchObject([answer])
  })

  test('streams a task in chunks', async () => {
    const events = await collect(eventsOf(await send('tck-stream-artifact-chunked-1', 'message:stream')))
    expect(events.map(gist)).toEqual([
      'task submitted',
      'working',
      'artifact artifact-1',
      'artifact artifact-1',
      'completed',
    ])
  })

  test('has the card of the product, where a client without a version gets 1.0', async () => {
    const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as Event
    expect(card.capabilities).toMatchObject({
      streaming: true,
      pushNotifications: true,
      extendedAgentCard: true,
    })
    expect(card).not.toHaveProperty('preferredTransport')
  })
})

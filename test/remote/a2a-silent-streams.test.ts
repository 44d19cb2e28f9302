import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { serve } from '../net/support.ts'
import { startGateway } from '../support/gateway.ts'
import { listByCard } from '../support/listed.ts'

const to = 'com.example.silent'
const ids = { id: 't', contextId: 'c' }
const working = { ...ids, status: { state: 'TASK_STATE_WORKING' } }

/**
 * An agent that begins a task and then streams nothing. `answer` answers the questions for its task. In the gateway,
 * every wait is over at once, except for the limit of silence.
 */
async function openSilent(answer: (times: number, stream: (result: object) => void) => object) {
  let stream: ServerResponse | undefined
  let times = 0
  const agent = await serve((request, response) => {
    let text = ''
    request.on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => {
      if (request.method === 'GET') return void response.end(JSON.stringify(cardOf(agent.origin)))
      const { id, method } = JSON.parse(text)
      const write = (result: object) =>
        void stream?.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`)
      if (method === 'SendStreamingMessage') {
        stream = response.setHeader('Content-Type', 'text/event-stream')
        return write({ task: working })
      }
      times += 1
      response.setHeader('Content-Type', 'application/json')
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer(times, write) }))
    })
  })
  const gateway = await startGateway(
    { DRAGOMAN_ALLOW_ORIGINS: agent.origin, DRAGOMAN_LIVENESS: 'off' },
    { wait: async (_, signal) => await nextTurn(undefined, { signal }) },
  )
  await listByCard(gateway, to, agent.origin)
  const token = await gateway.token('ada')
  const body = { to, action: 'send_message', params: { text: 'go' } }
  return {
    call: async () => (await gateway.request('POST', '/a2a/message', { body, token })).json,
    times: () => times,
    isOpen: () => stream?.destroyed === false,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      await agent[Symbol.asyncDispose]()
    },
  }
}

const cardOf = (origin: string) => ({
  name: 'Silent',
  description: 'Works without a word.',
  supportedInterfaces: [{ url: `${origin}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
})
const completed = (text: string) => ({
  task: {
    ...ids,
    status: { state: 'TASK_STATE_COMPLETED' },
    artifacts: [{ artifactId: 'a', parts: [{ text }] }],
  },
})

test('a silent stream is not an agent without an answer: its task is asked for until it speaks', async () => {
  await using agent = await openSilent((times, write) => {
    if (times === 20) write(completed('from the stream'))
    return { result: working }
  })
  expect(await agent.call()).toEqual({ text: 'from the stream' })
  expect(agent.times()).toBeGreaterThanOrEqual(20)
})

test('an answer that a dead stream did not bring is that of the task, and the stream is closed', async () => {
  await using agent = await openSilent((times) => ({
    result: times < 3 ? working : completed('from the task').task,
  }))
  expect(await agent.call()).toEqual({ text: 'from the task' })
  await expect.poll(agent.isOpen).toBe(false)
})

test('an agent that does not tell its task is waited for by its stream alone', async () => {
  await using agent = await openSilent((times, write) => {
    if (times === 5) write(completed('from the stream'))
    return { error: { code: -32601, message: 'Method not found' } }
  })
  expect(await agent.call()).toEqual({ text: 'from the stream' })
})

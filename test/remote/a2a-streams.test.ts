import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { serve } from '../net/support.ts'
import { startGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'

type Write = (result: object) => void
type Misdeed = (write: Write, response: ServerResponse) => void

const to = 'com.example.streaming'
const ids = { taskId: 't', contextId: 'c' }

/** An agent that streams as configured, and a gateway that calls it; `open` counts its unfinished answers. */
async function streaming(answer: Misdeed) {
  const open = new Set<ServerResponse>()
  const received: string[] = []
  let modes = ['text/plain']
  const server = await serve((request, response) => {
    if (request.method === 'GET')
      return void response.end(JSON.stringify(cardOf(`http://${request.headers.host}/rpc`)))
    open.add(response)
    response.on('close', () => open.delete(response)).on('error', () => {})
    let text = ''
    request.on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => {
      received.push(text)
      const { id } = JSON.parse(text)
      response.setHeader('Content-Type', 'text/event-stream')
      answer(
        (result) => response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`),
        response,
      )
    })
  })
  const cardOf = (url: string) => ({
    name: 'Streaming',
    description: 'Streams.',
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { streaming: true },
    defaultInputModes: modes,
    defaultOutputModes: modes,
    skills: [{ id: 'go', name: 'go', description: 'Goes.', tags: ['going'] }],
  })
  const gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: server.origin })
  const token = await gateway.token('ada')
  const id = await list(gateway, { package_name: to, manifest_url: `${server.origin}/card.json` })
  const check = () => gateway.gateway.verification.checker.run(new AbortController().signal)
  await check()
  return {
    open,
    received,
    call: () =>
      gateway.request('POST', '/a2a/message', {
        body: { to, action: 'go', params: { a: 'b', n: 1 } },
        token,
      }),
    async readsJson() {
      modes = ['application/json']
      const body = { manifest_url: `${server.origin}/card-2.json` }
      await gateway.request('PUT', `/api/agents/${id}`, { body, token: await gateway.token('owner') })
      await check()
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

const artifact = (artifactId: string, text: string) => ({ artifactId, parts: [{ text }] })
const done = (artifacts: object[]) => ({
  task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' }, artifacts },
})

test('a stream that continues after the answer is closed', async () => {
  await using agent = await streaming((write) => write(done([artifact('a', 'Done.')])))
  expect((await agent.call()).json).toEqual({ text: 'Done.' })
  await expect.poll(() => agent.open.size).toBe(0)
})

test('artifacts that a task had before its stream belong to its output', async () => {
  await using agent = await streaming((write, response) => {
    const status = { state: 'TASK_STATE_WORKING' }
    write({ task: { id: 't', contextId: 'c', status, artifacts: [artifact('a', 'one')] } })
    write({ artifactUpdate: { ...ids, artifact: artifact('b', 'three') } })
    write({ artifactUpdate: { ...ids, artifact: artifact('a', 'two'), append: true } })
    write({ statusUpdate: { ...ids, status: { state: 'TASK_STATE_COMPLETED' } } })
    response.end()
  })
  expect((await agent.call()).json).toEqual({ text: 'onetwo\nthree' })
})

test('a whole task at the end of a stream replaces earlier events', async () => {
  await using agent = await streaming((write, response) => {
    write({ artifactUpdate: { ...ids, artifact: artifact('a', 'draft') } })
    write(done([artifact('a', 'one'), artifact('b', 'two')]))
    response.end()
  })
  expect((await agent.call()).json).toEqual({ text: 'one\ntwo' })
})

test('a chunk with a key that is not accepted is an invalid answer of the agent', async () => {
  await using agent = await streaming((write) => {
    const parts = [{ data: JSON.parse('{"__proto__": 1}') }]
    write({ artifactUpdate: { ...ids, artifact: { artifactId: 'a', parts } } })
  })
  expect((await agent.call()).json).toMatchObject({
    code: 'upstream_invalid',
    detail: `${to}: A key named __proto__ is not accepted.`,
  })
})

test('an endless error body is not read to its end', async () => {
  await using agent = await streaming((_, response) => {
    response.writeHead(500, { 'Content-Type': 'text/plain' })
    const flood = () => {
      if (!response.destroyed) response.write(Buffer.alloc(65_536, 'x'), () => setImmediate(flood))
    }
    flood()
  })
  expect((await agent.call()).json).toMatchObject({ code: 'upstream_failed', upstream: { status: 500 } })
  await expect.poll(() => agent.open.size).toBe(0)
})

test('one event with too many values is refused', async () => {
  await using agent = await streaming((write) => {
    write({ message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ data: Array(800_000).fill([]) }] } })
  })
  const answer = await agent.call()
  expect(answer.json).toMatchObject({
    code: 'upstream_invalid',
    detail: 'The answer has more than 100000 values.',
  })
})

test('one event with too much text is refused', async () => {
  await using agent = await streaming((write) => {
    const text = '[{,'.repeat(1024 * 1024)
    write({ message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text }] } })
  })
  expect((await agent.call()).json).toMatchObject({
    code: 'upstream_invalid',
    detail: expect.stringContaining('larger than 2097152 bytes'),
  })
})

test('text that looks like data stays text', async () => {
  await using agent = await streaming((write, response) => {
    const text = '[{,"'.repeat(50_000)
    write({ message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text }] } })
    response.end()
  })
  expect((await agent.call()).json).toEqual({ text: '[{,"'.repeat(50_000) })
})

test('many events together may exceed the limit of one', async () => {
  await using agent = await streaming((write, response) => {
    for (let part = 0; part < 40; part++) {
      const status = {
        state: 'TASK_STATE_WORKING',
        message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'x'.repeat(65_536) }] },
      }
      write({ statusUpdate: { ...ids, status } })
    }
    write(done([artifact('a', 'Done.')]))
    response.end()
  })
  expect((await agent.call()).json).toEqual({ text: 'Done.' })
})

test('an agent is called as its current card states', async () => {
  await using agent = await streaming((write) => write(done([artifact('a', 'Done.')])))
  const partOf = () => JSON.parse(agent.received.at(-1) ?? '').params.message.parts[0]
  await agent.call()
  expect(partOf()).toHaveProperty('text')
  await agent.readsJson()
  await agent.call()
  expect(partOf()).toHaveProperty('data')
})

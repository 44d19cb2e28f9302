import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { endCallsLate, startServer } from '../../src/app/server.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { answerJson, serveEnvelopes } from '../support/envelope-agent.ts'
import { startGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'
import { eventually } from '../support/mcp-agent.ts'
import { openTransports } from '../support/transports.ts'

const package_name = 'com.example.slow'
const envelope = { to: `custom.${package_name}`, action: 'work', params: {} }

test('a call that takes longer than a stop waits is answered as unavailable over every transport, and logged as such', async () => {
  const lines: string[] = []
  await using agent = await serveEnvelopes(() => {})
  await using home = await startGateway(
    { DRAGOMAN_ALLOW_ORIGINS: agent.origin },
    { log: createLogger('info', { write: (line) => void lines.push(line) }) },
  )
  await list(home, { package_name, endpoints: [{ protocol: 'envelope', url: agent.url }] })
  const server = await startServer(home.gateway, { drain_ms: 0 })
  const transports = openTransports({ ...home, url: server.url })
  const token = await home.token('caller')
  const calls = transports.map(async ({ name, call }) => [name, await call(envelope, token)])
  const streamed = fetch(`${server.url}/a2a/message`, {
    method: 'POST',
    headers: {
      Accept: 'text/event-stream',
      Authorization: `Bearer ${await home.token('other')}`,
      'Content-Type': 'application/json',
    },
    body: JSON.stringify(envelope),
  })
  await eventually(() => agent.received.length).toBe(transports.length + 1)

  using _late = endCallsLate(home.gateway, 0)
  await server[Symbol.asyncDispose]()
  const unavailable = { code: 'unavailable' }
  expect(await Promise.all(calls)).toEqual(transports.map(({ name }) => [name, unavailable]))
  const answer = await streamed
  expect(answer.headers.get('retry-after')).toBe('5')
  expect(await answer.json()).toMatchObject({ code: 'unavailable', retryable: true })
  const logged = lines.map((line) => JSON.parse(line)).filter(({ action }) => action === 'work')
  expect(logged).toHaveLength(transports.length + 1)
  for (const line of logged)
    expect(line).toMatchObject({ code: 'unavailable', detail: expect.stringContaining('shutting down') })
  for (const transport of transports) await transport[Symbol.asyncDispose]()
})

const unfinished = {
  'no request': '',
  'half a request': 'GET /healthz HTTP/1.1\r\nHost: a\r\n',
  'half a request after another one': 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\nGET /healthz HTTP/1.1\r\n',
}

test.each(Object.entries(unfinished))(
  'a connection with %s closes before the calls that still run have ended',
  async (_, sent) => {
    const waiting = Promise.withResolvers<ServerResponse>()
    await using agent = await serveEnvelopes((_, response) => waiting.resolve(response))
    await using home = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: agent.origin })
    await list(home, { package_name, endpoints: [{ protocol: 'envelope', url: agent.url }] })
    const slow = connect(Number(new URL(home.url).port), '127.0.0.1')
    await once(slow, 'connect')
    slow.on('error', () => {})
    await new Promise((resolve) => slow.write(sent, resolve))
    const call = home.request('POST', '/a2a/message', { body: envelope, token: await home.token('caller') })
    const response = await waiting.promise
    const stopped = home.server[Symbol.asyncDispose]()
    slow.resume()
    await once(slow, 'close')
    answerJson(response, { done: true })
    expect((await call).json).toEqual({ done: true })
    await stopped
  },
)

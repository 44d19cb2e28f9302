import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { json } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/command.ts'
import { serve } from '../support/serve.ts'
import { openSocket, type SocketPeer } from '../support/socket.ts'

interface Visit {
  readonly status: number | undefined
  readonly last: boolean
  readonly body: unknown
}

/** Asks over one kept connection, again and again, until an answer says that the connection closes. */
async function keepAsking(url: string, answered: () => void): Promise<Visit[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const visits: Visit[] = []
  while (!visits.at(-1)?.last) {
    const asking = request(url, { agent })
    const answer = once(asking, 'response')
    asking.end()
    const [response] = (await answer) as [IncomingMessage]
    const body = await json(response)
    visits.push({ status: response.statusCode, last: response.headers.connection === 'close', body })
    answered()
  }
  agent.destroy()
  return visits
}

/** Asks over a socket, again and again, until it closes; with how many answers it had and the code of the end. */
async function keepTalking(
  peer: SocketPeer,
  answered: () => void,
): Promise<{ answers: number; code: number }> {
  const closed = new Promise<number>((resolve) => peer.socket.once('close', resolve))
  let answers = 0
  for (let id = 1; ; id++) {
    peer.send({ jsonrpc: '2.0', id, method: 'registry.search_agents', params: { query: 'wiki' } })
    const answer = await Promise.race([peer.answer(id), closed])
    if (typeof answer === 'number') return { answers, code: answer }
    expect(answer).toHaveProperty('result')
    answers += 1
    answered()
  }
}

test('SIGTERM under load breaks no request, closes every socket with 1001, and the process ends with 0', async () => {
  await using folder = await temporaryFolder()
  await using server = await serve(folder.path)
  await using stack = new AsyncDisposableStack()
  const sockets = await Promise.all(
    Array.from({ length: 10 }, async () => stack.use(await openSocket(`${server.url}/rpc`, ['jsonrpc']))),
  )
  const busy = Promise.withResolvers<void>()
  let answers = 0
  const answered = () => {
    answers += 1
    if (answers === 300) busy.resolve()
  }
  const clients = Array.from({ length: 20 }, (_, index) =>
    keepAsking(`${server.url}${index === 0 ? '/readyz' : '/public/agents?q=wiki'}`, answered),
  )
  const talks = sockets.map((peer) => keepTalking(peer, answered))
  await busy.promise

  const started = performance.now()
  server.process.kill('SIGTERM')
  const [ready, ...visits] = await Promise.all(clients)
  for (const visit of visits) {
    expect(visit.every((visit) => visit.status === 200)).toBe(true)
    expect(visit.at(-1)?.body).toHaveProperty('agents')
  }
  expect(ready?.at(0)?.status).toBe(200)
  expect(ready?.at(-1)).toMatchObject({ status: 503, body: { draining: true } })

  for (const { answers, code } of await Promise.all(talks)) {
    expect(code).toBe(1001)
    expect(answers).toBeGreaterThan(0)
  }
  const { code, stderr } = await server.ended
  expect(code).toBe(0)
  expect(stderr).not.toContain('Error')
  expect(performance.now() - started).toBeLessThan(5000)
})

test('with DRAGOMAN_DRAIN a balancer that asks once a second reads of the stop while callers are still served', async () => {
  await using folder = await temporaryFolder()
  await using server = await serve(folder.path, { DRAGOMAN_DRAIN: '600' })
  const signalled = performance.now()
  server.process.kill('SIGTERM')
  const statusOf = async (path: string) => (await fetch(server.url + path)).status
  while ((await statusOf('/readyz')) !== 503);
  // Each of these opens a connection: the answers before have closed theirs.
  while (performance.now() - signalled < 1500) {
    expect([await statusOf('/readyz'), await statusOf('/public/agents?q=wiki')]).toEqual([503, 200])
  }
  await using socket = await openSocket(`${server.url}/rpc`, ['jsonrpc'])
  socket.send({ jsonrpc: '2.0', id: 1, method: 'registry.search_agents', params: { query: 'wiki' } })
  expect(await socket.answer(1)).toHaveProperty('result')
  server.process.kill('SIGTERM')
  expect((await server.ended).code).toBe(1)
})

test('a second signal ends a drain that hangs', async () => {
  await using folder = await temporaryFolder()
  await using server = await serve(folder.path)
  const { hostname, port } = new URL(server.url)
  const hanging = connect(Number(port), hostname)
  hanging.on('error', () => {})
  await once(hanging, 'connect')
  hanging.write(
    'POST /a2a/message HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
  )
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)

  server.process.kill('SIGTERM')
  // Refused connections say that the drain is past its first moment.
  while ((await fetch(`${server.url}/healthz`).catch(() => undefined)) !== undefined);
  expect(server.process.exitCode).toBeNull()
  const started = performance.now()
  server.process.kill('SIGTERM')
  expect((await server.ended).code).toBe(1)
  expect(performance.now() - started).toBeLessThan(2000)
  hanging.destroy()
})

test('SIGINT ends an idle server with 0', async () => {
  await using folder = await temporaryFolder()
  await using server = await serve(folder.path)
  server.process.kill('SIGINT')
  expect((await server.ended).code).toBe(0)
})

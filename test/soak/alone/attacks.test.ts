import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'

const megabyte = 1024 * 1024
const subjectFile = resolve(import.meta.dirname, '../attacks-subject.ts')

interface Figures {
  readonly cpu_ms: number
  readonly rss: number
  /** The longest delay of the event loop since the last figures. */
  readonly delay_ms: number
}

let child: ChildProcess
let port: number
let token: string
beforeAll(async () => {
  child = fork(subjectFile, [], { execArgv: ['--expose-gc'], stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  const [started] = (await once(child, 'message')) as [{ url: string; token: string }]
  port = Number(new URL(started.url).port)
  token = started.token
  // Each path is loaded and compiled before it is measured.
  for (const attack of attacks) for (let count = 0; count < 10; count++) await send(attack, nextAddress())
}, 120_000)
afterAll(() => child.kill('SIGKILL'))

/** The figures of the gateway; those of its memory are taken after a garbage collection. */
async function figures(of: 'time' | 'memory' = 'time'): Promise<Figures> {
  child.send(of)
  const [answer] = (await once(child, 'message')) as [Figures]
  return answer
}

let addresses = 0
/** An address of this machine that no request came from before. */
function nextAddress(): string {
  addresses += 1
  return `127.1.${Math.floor(addresses / 250)}.${1 + (addresses % 250)}`
}

interface Attack {
  readonly name: string
  readonly path: string
  readonly body?: string
  readonly headers?: Record<string, string>
  /** Requests in one body; one when absent. */
  readonly members?: number
}

const json = { 'Content-Type': 'application/json' }
const mcp = { ...json, Accept: 'application/json, text/event-stream' }
const rpc = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params })
const values = `{"x":[${'{},'.repeat(85_000)}{}]}`
const initialize = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'attacker', version: '1' },
}

const attacks: readonly Attack[] = [
  {
    name: 'a batch of 50 rpc.discover',
    path: '/rpc',
    body: JSON.stringify(Array(50).fill(rpc('rpc.discover'))),
    headers: json,
    members: 50,
  },
  { name: 'rpc.discover', path: '/rpc', body: JSON.stringify(rpc('rpc.discover')), headers: json },
  {
    name: 'a batch of 50 unknown methods',
    path: '/rpc',
    body: JSON.stringify(Array(50).fill(rpc('no.such'))),
    headers: json,
    members: 50,
  },
  { name: 'GET /openapi.json', path: '/openapi.json' },
  ...['initialize', 'tools/list', 'resources/list', 'prompts/list'].map((method) => ({
    name: `MCP ${method}`,
    path: '/mcp',
    body: JSON.stringify(rpc(method, method === 'initialize' ? initialize : {})),
    headers: mcp,
  })),
  {
    name: 'a token with a bad signature',
    path: '/public/agents?limit=1',
    headers: {
      Authorization: `Bearer ${['{"alg":"EdDSA","typ":"at+jwt","kid":"x"}', '{"iss":"urn:dragoman:local","sub":"a"}', 'signature'].map((part) => Buffer.from(part).toString('base64url')).join('.')}`,
    },
  },
  {
    name: 'an unknown API key',
    path: '/public/agents?limit=1',
    headers: { Authorization: `Bearer drg_AAAAAAAA_${'A'.repeat(43)}` },
  },
  { name: 'an unknown path', path: '/no/such/path' },
  ...['/a2a/message', '/rpc', '/mcp', '/a2a/v1'].map((path) => ({
    name: `256 KiB of small values to ${path}`,
    path,
    body: values,
    headers: mcp,
  })),
  {
    name: 'a form of 4,000 fields to /oauth/token',
    path: '/oauth/token',
    body: Array.from({ length: 4000 }, (_, index) => index.toString(36)).join('&'),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  },
  { name: 'half a JSON text', path: '/a2a/message', body: values.slice(0, -2), headers: json },
]

const agent = new Agent({ keepAlive: true, maxSockets: 4 })

/** Sends one request; resolves to whether it was refused for its cost or rate, and the bytes of both. */
function send(
  { path, body, headers }: Attack,
  localAddress: string,
): Promise<{ limited: boolean; sent: number; received: number }> {
  return new Promise((done, failed) => {
    const outgoing = request(
      {
        port,
        host: '127.0.0.1',
        path,
        localAddress,
        agent,
        headers,
        method: body === undefined ? 'GET' : 'POST',
      },
      (answer) => {
        let received = 0
        let text = ''
        answer.on('data', (chunk: Buffer) => {
          received += chunk.length
          if (text.length < 4096) text += chunk.toString()
        })
        answer.on('end', () => {
          const limited = answer.statusCode === 429 || text.includes('"code":"rate_limited"')
          done({ limited, sent: 200 + (body?.length ?? 0), received })
        })
        answer.on('error', failed)
      },
    )
    outgoing.on('error', failed)
    outgoing.end(body)
  })
}

/** What one address gets before it is refused: an anonymous caller has 0.6 s of CPU time a minute. */
const maxRequests = 7000
const maxCpu = 3000

describe('one address', () => {
  test.each(attacks)('that sends nothing but $name is soon refused, and costs little', async (attack) => {
    const address = nextAddress()
    const before = await figures()
    let requests = 0
    let amplified = 0
    for (let limited = false; !limited && requests < maxRequests; ) {
      const answers = await Promise.all(Array.from({ length: 4 }, () => send(attack, address)))
      requests += answers.length
      limited = answers.some((answer) => answer.limited)
      amplified = Math.max(amplified, ...answers.map(({ sent, received }) => received / sent))
    }
    const after = await figures()
    const cpu_ms = after.cpu_ms - before.cpu_ms
    const gist = { requests, each_ms: cpu_ms / requests, amplified, delay_ms: after.delay_ms }
    console.log(attack.name, gist)
    // Every request counts: what costs or answers much is refused after a few.
    expect(requests).toBeLessThan(maxRequests)
    expect(cpu_ms).toBeLessThan(maxCpu)
    expect(gist.each_ms / (attack.members ?? 1)).toBeLessThan(20)
    expect(after.delay_ms).toBeLessThan(1000)
    // What is refused costs next to nothing.
    const refused = Array.from({ length: 50 }, () => send(attack, address))
    await Promise.all(refused)
    const last = await figures()
    expect((last.cpu_ms - after.cpu_ms) / refused.length).toBeLessThan(5)
  })
})

/** Sends a request on a connection of its own, and reads nothing of the answer. */
async function deaf(localAddress: string, { path, body = '' }: Attack): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {})
  await once(socket, 'connect')
  socket.pause()
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
  socket.write(head + body)
  return socket
}

test('answers that nobody reads hold at most 100 MB, and repeated waves no more', async () => {
  const discover = { name: '', path: '/rpc', body: JSON.stringify(Array(14).fill(rpc('rpc.discover'))) }
  const idle = (await figures('memory')).rss
  const peaks: number[] = []
  for (let wave = 0; wave < 4; wave++) {
    const address = nextAddress()
    const sockets = await Promise.all(Array.from({ length: 350 }, () => deaf(address, discover)))
    let peak = 0
    for (let look = 0; look < 12; look++) {
      await pause(250)
      peak = Math.max(peak, (await figures('memory')).rss - idle)
    }
    peaks.push(peak)
    for (const socket of sockets) socket.destroy()
    await pause(250)
  }
  console.log(
    'unread answers hold',
    peaks.map((bytes) => Math.round(bytes / megabyte)),
    'MB',
  )
  expect(Math.max(...peaks)).toBeLessThan(100 * megabyte)
  expect(peaks.at(-1)).toBeLessThan((peaks[1] ?? 0) + 30 * megabyte)
})

function openSocket(localAddress: string, protocols: string[]): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/rpc`, protocols, { localAddress })
  return new Promise((opened, refused) => {
    socket.once('open', () => opened(socket))
    socket.on('error', refused)
  })
}

test('while 18 addresses hold as many sockets as they get, a caller with a token finds one, and so does a newcomer', async () => {
  const sockets: WebSocket[] = []
  let refused = 0
  for (let address = 0; address < 18; address++) {
    const from = nextAddress()
    await Promise.all(
      Array.from({ length: 66 }, () =>
        openSocket(from, ['jsonrpc']).then(
          (socket) => sockets.push(socket),
          () => refused++,
        ),
      ),
    )
  }
  expect(refused).toBe(18 * 2)
  const signedIn = await openSocket(nextAddress(), ['jsonrpc', `bearer.${token}`])
  const newcomer = await openSocket(nextAddress(), ['jsonrpc'])
  for (const socket of [signedIn, newcomer]) {
    socket.send(JSON.stringify(rpc('registry.search_agents', { limit: 1 })))
    const [answer] = await once(socket, 'message')
    expect(JSON.parse(String(answer))).toHaveProperty('result')
  }
  for (const socket of [...sockets, signedIn, newcomer]) socket.terminate()
})

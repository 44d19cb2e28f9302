import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { httpLoad, lineLoad, socketLoad } from '../../bench/support/load.ts'
import { clientFrame } from '../support/frames.ts'
import { modernHeaders, modernRequest } from '../support/mcp.ts'
import { askByHand } from '../support/upgrades.ts'

/** The course of one connection of a storm. */
type Visit = (port: number, frame: string) => Promise<unknown>

async function opened(port: number): Promise<Socket> {
  const socket = await askByHand(port, '/mcp/ws', 'mcp')
  await once(socket, 'data')
  return socket
}

async function reset(socket: Socket): Promise<void> {
  const closed = once(socket, 'close')
  socket.resetAndDestroy()
  await closed
}

/**
 * Connections as networks and programs may cause them. The last one answers no ping, and ends when the server ends it.
 */
const visits: Readonly<Record<string, Visit>> = {
  async politely(port, frame) {
    const socket = await opened(port)
    socket.write(clientFrame(frame))
    await once(socket, 'data')
    const ended = once(socket.resume(), 'end')
    socket.write(clientFrame(Buffer.from([1000 >> 8, 1000 & 0xff]), { opcode: 8 }))
    await ended
    socket.destroy()
  },
  async 'reset before a word'(port) {
    const socket = connect({ port, host: '127.0.0.1' })
    await once(socket, 'connect')
    await reset(socket)
  },
  async 'reset amid the handshake'(port) {
    const socket = connect({ port, host: '127.0.0.1' })
    await once(socket, 'connect')
    socket.write('GET /mcp/ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgr')
    await reset(socket)
  },
  'reset after the handshake was asked for': async (port) => reset(await askByHand(port, '/mcp/ws', 'mcp')),
  async 'reset amid a request'(port, frame) {
    const socket = await opened(port)
    socket.write(Buffer.concat([clientFrame(frame), clientFrame(frame).subarray(0, 20)]))
    await reset(socket)
  },
  async 'refused for its path'(port) {
    const socket = await askByHand(port, '/elsewhere', 'mcp')
    await once(socket, 'data')
    await reset(socket)
  },
  async 'gone without a word'(port, frame) {
    const socket = await opened(port)
    socket.write(clientFrame(frame))
    await once(socket, 'data')
    await once(socket.resume(), 'end')
    socket.destroy()
  },
}

/** A share of the whole proof, where only a few rounds are wanted. */
const share = process.env.SOAK_ROUNDS === undefined ? 1 : Number(process.env.SOAK_ROUNDS) / 100
const megabyte = 1024 * 1024

interface Held {
  readonly heap: number
  readonly rss: number
  readonly sockets: number
  readonly timers: number
  readonly handles: number
}

async function start(mode: 'sockets' | 'calls' | 'leak' | 'stdio') {
  const child: ChildProcess = fork(new URL('./subject.ts', import.meta.url), [mode], {
    execArgv: ['--expose-gc'],
    stdio: ['pipe', 'pipe', 'inherit', 'ipc'],
  })
  if (mode !== 'stdio') child.stdout?.resume()
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return {
    child,
    port,
    async held(): Promise<Held> {
      child.send('count')
      return (await once(child, 'message'))[0] as Held
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}
type Subject = Awaited<ReturnType<typeof start>>

const call = (id: number) =>
  JSON.stringify(
    modernRequest(id, 'tools/call', {
      name: 'resolve_package',
      arguments: { package_name: 'svc.utility.wiki' },
    }),
  )

/** Connects and disconnects so many times, in every way in turn, 24 at once. */
async function storm(port: number, count: number): Promise<void> {
  const ways = Object.values(visits)
  let left = count
  async function work(): Promise<void> {
    while (left-- > 0) await ways[left % ways.length]?.(port, call(1))
  }
  await Promise.all(Array.from({ length: 24 }, work))
}

/** What is left when every socket has gone, which may take the server a beat or two. */
async function settled(subject: Subject, sockets: number): Promise<Held> {
  for (;;) {
    const held = await subject.held()
    if (held.sockets <= sockets) return held
    await pause(50)
  }
}

describe('a storm of connections', () => {
  // The first calls are the warm-up, during which the process allocates its lasting memory.
  const count = Math.max(400, 10_000 * share)
  /** Maximum bytes that a connection may leave behind: a thousandth of the size of a leak. */
  const each = 400

  test('leaves neither memory nor handles, timers or seats', async () => {
    await using subject = await start('sockets')
    const none = (await subject.held()).sockets
    await storm(subject.port, count)
    const before = await settled(subject, none)
    await storm(subject.port, count)
    const after = await settled(subject, none)
    console.log(`${count} connections:`, before, after)
    expect(after.heap - before.heap).toBeLessThan(megabyte + count * each)
    expect(after.rss - before.rss).toBeLessThan(64 * megabyte)
    expect(after.timers).toBeLessThanOrEqual(before.timers + 2)
    expect(after.handles).toBeLessThanOrEqual(before.handles + 2)
    // All forty seats of this address are free.
    const load = await Promise.all(
      Array.from({ length: 5 }, () => socketLoad(`http://127.0.0.1:${subject.port}/mcp/ws`, 'mcp', call)),
    )
    await Promise.all(load.map((fire) => fire(16)))
  })

  test('would be found to leak, if it did', async () => {
    const few = Math.min(count, 2000)
    await using subject = await start('leak')
    const none = (await subject.held()).sockets
    await storm(subject.port, 400)
    const before = await settled(subject, none)
    await storm(subject.port, few)
    const after = await settled(subject, none)
    expect(after.heap - before.heap).toBeGreaterThan(megabyte + few * each)
  })
})

describe.each([
  ['WebSocket', 1_000_000],
  ['HTTP', 200_000],
  ['stdio', 200_000],
])('calls over %s', (name, whole) => {
  const count = Math.round(Math.max(10_000, whole * share))

  test(`leave memory flat, however many: ${whole}`, async () => {
    await using subject = await start(name === 'stdio' ? 'stdio' : 'calls')
    const load = await loadOf(name, subject)
    // During this warm-up the process allocates its lasting memory.
    await load(Math.min(count, 200_000))
    const before = await subject.held()
    await load(count)
    const after = await subject.held()
    console.log(`${count} calls over ${name}:`, before, after)
    expect(after.heap - before.heap).toBeLessThan(4 * megabyte)
    expect(after.rss - before.rss).toBeLessThan(160 * megabyte)
    expect(after.handles).toBeLessThanOrEqual(before.handles + 2)
  })
})

async function loadOf(name: string, { port, child }: Subject): Promise<(count: number) => Promise<void>> {
  const url = `http://127.0.0.1:${port}`
  if (name === 'WebSocket') return await socketLoad(`${url}/mcp/ws`, 'mcp', call)
  if (name === 'HTTP') {
    const { 'Content-Type': _, ...headers } = modernHeaders('tools/call', 'resolve_package')
    return httpLoad(url, { method: 'POST', path: '/mcp', headers, body: call(1) })
  }
  return lineLoad(child, call)
}

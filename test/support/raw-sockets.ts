import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { clientFrame } from './frames.ts'
import { askByHand } from './upgrades.ts'

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
export const visits: Readonly<Record<string, Visit>> = {
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

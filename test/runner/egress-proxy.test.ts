import { once } from 'node:events'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { startEgressProxy } from '../../src/runner/network/egress-proxy.ts'
import { serveRaw } from '../net/support.ts'
import { temporaryFolder } from '../support/command.ts'

/** A proxy that reaches `host` alone, by `dial`. */
async function openProxy(dial: () => Promise<Socket>) {
  const folder = await temporaryFolder()
  const proxy = await startEgressProxy({
    socket: join(folder.path, 'socket'),
    hosts: ['host'],
    dial,
    onRefused() {},
  })
  return {
    socket: proxy.socket,
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]()
      await folder[Symbol.asyncDispose]()
    },
  }
}

describe('the egress proxy', () => {
  const requests = {
    'a tunnel': 'CONNECT host:443 HTTP/1.1\r\nHost: host:443\r\n\r\n',
    'a request': 'GET http://host/ HTTP/1.1\r\nHost: host\r\n\r\n',
  }

  test.each(Object.entries(requests))(
    'ends a connection that is made for %s whose client has left',
    async (_, text) => {
      await using upstream = await serveRaw(() => {})
      const dialled = Promise.withResolvers<void>()
      const left = Promise.withResolvers<void>()
      let made: Socket | undefined
      await using proxy = await openProxy(async () => {
        dialled.resolve()
        await left.promise
        made = connect(upstream.port, '127.0.0.1')
        await once(made, 'connect')
        return made
      })
      const client = connect(proxy.socket)
      client.write(text)
      await dialled.promise
      client.destroy()
      // The next connection of the server follows the end of this one.
      const other = connect(proxy.socket)
      other.end('GET / HTTP/1.1\r\nHost: host\r\n\r\n')
      await buffer(other)
      left.resolve()
      await expect.poll(() => made?.destroyed).toBe(true)
    },
  )

  test('breaks an answer that its server does not finish', async () => {
    await using upstream = await serveRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun')
      setImmediate(() => socket.destroy())
    })
    await using proxy = await openProxy(async () => connect(upstream.port, '127.0.0.1'))
    const sent = request({ socketPath: proxy.socket, path: 'http://host/', agent: false }).end()
    const [answer] = await once(sent, 'response')
    await expect(buffer(answer)).rejects.toThrow('aborted')
  })
})

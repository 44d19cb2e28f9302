import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { connectToHostSocket, listenForHosts } from '../../src/app/host-socket.ts'
import { temporaryFolder } from '../support/command.ts'

const session = { manage: false }

describe('the socket for hosts', () => {
  const gateways: Record<string, (socket: Socket) => void> = {
    'ends without an answer': (socket) => socket.destroy(),
    'does not answer': () => {},
  }

  test.each(Object.entries(gateways))('of a gateway that %s is left', async (_, answer) => {
    await using folder = await temporaryFolder()
    const server = createServer(answer).listen(join(folder.path, 'host.sock'))
    await once(server, 'listening')
    const found = await connectToHostSocket({ data: folder.path, DATABASE_URL: undefined }, session)
    expect(found).toBeUndefined()
    server.close()
  })

  test('is served by a later gateway when the one that served it has ended', async () => {
    await using folder = await temporaryFolder()
    const config = { data: folder.path, DATABASE_URL: undefined }
    const served: string[] = []
    const gateway = (name: string) =>
      listenForHosts(
        config,
        async () => void served.push(name),
        () => {},
        1,
      )
    const first = await gateway('first')
    await using _second = await gateway('second')
    ;(await connectToHostSocket(config, session))?.destroy()
    await first[Symbol.asyncDispose]()
    await expect
      .poll(async () => {
        const socket = await connectToHostSocket(config, session)
        socket?.destroy()
        return socket !== undefined
      })
      .toBe(true)
    expect(served).toEqual(['first', 'second'])
  })

  test('is served by one of the gateways that start at once over the socket of one that was killed', async () => {
    await using folder = await temporaryFolder()
    const config = { data: folder.path, DATABASE_URL: undefined }
    const killed = spawn(process.execPath, ['-e', `require('net').createServer().listen('host.sock')`], {
      cwd: folder.path,
    })
    await expect.poll(() => existsSync(join(folder.path, 'host.sock'))).toBe(true)
    killed.kill('SIGKILL')
    await once(killed, 'exit')
    const served: number[] = []
    const faults: unknown[] = []
    const gateways = Array.from({ length: 4 }, (_, index) =>
      listenForHosts(
        config,
        async () => void served.push(index),
        (fault) => faults.push(fault),
        1,
      ),
    )
    await using stack = new AsyncDisposableStack()
    for (const gateway of await Promise.all(gateways)) stack.use(gateway)
    for (let count = 0; count < 3; count += 1) (await connectToHostSocket(config, session))?.destroy()
    expect(new Set(served).size).toBe(1)
    expect(served).toHaveLength(3)
    expect(faults).toEqual([])
  })

  test('closes a connection on which nobody says who it is', async () => {
    await using folder = await temporaryFolder()
    const config = { data: folder.path, DATABASE_URL: undefined }
    const faults: unknown[] = []
    await using _ = await listenForHosts(
      config,
      async () => {},
      (fault) => faults.push(fault),
    )
    const host = connect(join(folder.path, 'host.sock'))
    host.resume()
    await once(host, 'close')
    expect(faults).toEqual([])
  })
})

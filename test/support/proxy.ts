import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

interface Proxy extends AsyncDisposable {
  readonly port: number
  /** From now on the proxy drops all data without notice to either side, as a broken network does. */
  silence(): void
}

/** A TCP proxy before a port of this machine. */
export async function startProxy(target: number): Promise<Proxy> {
  const sockets = new Set<Socket>()
  let silent = false
  function join(from: Socket, to: Socket): void {
    sockets.add(from)
    from.on('error', () => {})
    from.on('data', (chunk) => {
      if (!silent) to.write(chunk)
    })
    from.on('close', () => {
      sockets.delete(from)
      if (!silent) to.destroy()
    })
  }
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1')
    join(near, far)
    join(far, near)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    silence() {
      silent = true
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

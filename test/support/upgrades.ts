import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { noLimits } from '../../src/router/limiter.ts'
import type { Task } from '../../src/transports/shared/flow-control.ts'
import type { Connection } from '../../src/transports/websocket/connection.ts'
import { type UpgradeOptions, Upgrades } from '../../src/transports/websocket/upgrade.ts'
import { lasting } from './router.ts'

interface TestUpgrades extends AsyncDisposable {
  /** URL of the only endpoint, `/test`, subprotocol `test`. */
  readonly url: string
  readonly port: number
  readonly upgrades: Upgrades
  /** The next socket that is upgraded, accepted or not, on the server's side. */
  upgraded(): Promise<Socket>
}

/** A WebSocket server on a free port, with one endpoint whose texts are handled by `prepare`. */
export async function listenForSockets(
  prepare: (connection: Connection, text: string) => Task,
  {
    context,
    ...options
  }: Partial<Omit<UpgradeOptions, 'context'>> & { context?: Partial<UpgradeOptions['context']> } = {},
): Promise<TestUpgrades> {
  const upgrades = new Upgrades({
    context: {
      authenticate: () => Promise.reject(new Error('Nobody has a token here.')),
      standing: lasting,
      limits: noLimits,
      trusted_proxies: new Set(),
      site: () => ({ base_url: 'https://registry.test' }),
      onError: () => {},
      ...context,
    },
    allowsOrigin: () => true,
    sockets: [
      {
        path: '/test',
        subprotocol: 'test',
        open: (connection) => connection.read((text) => prepare(connection, text)),
      },
    ],
    ...options,
  })
  const server = createServer()
  server.on('upgrade', (request, socket, head) => void upgrades.accept(request, socket, head))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/test`,
    port,
    upgrades,
    upgraded: async () => (await once(server, 'upgrade'))[1] as Socket,
    async [Symbol.asyncDispose]() {
      upgrades.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Sends an upgrade request by hand, and keeps its half of the connection open. */
export async function askByHand(port: number, path: string, protocols = ''): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(
    [
      `GET ${path} HTTP/1.1`,
      'Host: localhost',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      ...(protocols ? [`Sec-WebSocket-Protocol: ${protocols}`] : []),
      '\r\n',
    ].join('\r\n'),
  )
  return socket
}

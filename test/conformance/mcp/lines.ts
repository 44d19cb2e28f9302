import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { WebSocket } from 'ws'
import { bridge } from '../../../src/client/bridge/bridge.ts'
import type { RemoteEvents } from '../../../src/client/bridge/frame.ts'
import { createHttpRemote } from '../../../src/client/bridge/http.ts'
import { linesOf } from '../../../src/common/lines.ts'
import type { McpService } from '../../../src/transports/mcp/service.ts'
import { mcpSocket } from '../../../src/transports/mcp/socket.ts'
import { serveMcpStdio } from '../../../src/transports/mcp/stdio.ts'
import { Upgrades } from '../../../src/transports/websocket/upgrade.ts'
import { transportOver } from '../../support/transport-context.ts'
import { type Line, startBridge } from './bridge.ts'

type Bridged = AsyncDisposable & { readonly url: string }

/** A service behind our WebSocket transport, and that behind a bridge. */
export async function startSocketBridge(service: McpService): Promise<Bridged> {
  await using stack = new AsyncDisposableStack()
  const sockets = [mcpSocket(service, () => {})]
  const upgrades = new Upgrades({ context: transportOver([]), sockets, allowsOrigin: () => true })
  const server = createServer()
  server.on('upgrade', (request, socket, head) => void upgrades.accept(request, socket, head))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stack.defer(async () => {
    upgrades.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  const bridge = stack.use(await startBridge(() => overSocket(`ws://127.0.0.1:${port}/mcp/ws`)))
  const opened = stack.move()
  return { url: bridge.url, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

async function overSocket(url: string): Promise<Line> {
  const socket = new WebSocket(url, ['mcp'])
  await once(socket, 'open')
  return {
    send: (message) => socket.send(JSON.stringify(message)),
    listen: (listener) => void socket.on('message', (data) => listener(JSON.parse(String(data)))),
    close: () => socket.terminate(),
  }
}

/** A service behind our pipes, and those behind a bridge. */
export async function startPipeBridge(service: McpService): Promise<Bridged> {
  return await overPipes((input, output) => {
    const onError = () => {}
    void serveMcpStdio(service, { identify: () => null }, onError, { input, output, drain_ms: 0 })
  })
}

/** An endpoint of Streamable HTTP behind `dragoman connect`, and that behind a bridge. */
export async function startConnectBridge(url: string): Promise<Bridged> {
  return await overPipes((input, output) => {
    const connect = (events: RemoteEvents) => createHttpRemote(new URL(url), {}, events)
    void bridge({ input, output, connect, say: () => {}, drain_ms: 0 })
  })
}

async function overPipes(serve: (input: PassThrough, output: PassThrough) => void): Promise<Bridged> {
  return await startBridge(async () => {
    const input = new PassThrough()
    const output = new PassThrough()
    serve(input, output)
    return {
      send: (message) => void input.write(`${JSON.stringify(message)}\n`),
      listen: (listener) => void deliver(output, listener),
      close: () => void input.end(),
    }
  })
}

async function deliver(output: PassThrough, listener: (message: Record<string, unknown>) => void) {
  for await (const lines of linesOf(output)) for (const line of lines) listener(JSON.parse(line ?? ''))
}

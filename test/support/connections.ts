import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import type { Principal } from '../../schemas/scope.ts'
import { envelopeSocket } from '../../src/transports/envelope/socket.ts'
import { jsonRpcSocket } from '../../src/transports/json-rpc/socket.ts'
import { createMcpService, type McpService } from '../../src/transports/mcp/service.ts'
import { mcpSocket } from '../../src/transports/mcp/socket.ts'
import { serveMcpStdio } from '../../src/transports/mcp/stdio.ts'
import type { TransportContext } from '../../src/transports/shared/transport-context.ts'
import type { SocketEndpoint } from '../../src/transports/websocket/upgrade.ts'
import { mailbox } from './lines.ts'
import { modernRequest } from './mcp.ts'
import { sampleAction, sampleAgent } from './router.ts'
import { openSocket } from './socket.ts'
import { transportOver } from './transport-context.ts'
import type { ConnectionTransport, TestTransport } from './transports.ts'
import { listenForSockets } from './upgrades.ts'

/** One connection to a server of its own, whose one agent `svc.box` has the action `work`. */
export interface TestConnection extends AsyncDisposable {
  /** Sends a call of `work` and white space after it; nothing happens where the connection takes no more. */
  send(id: number, padding?: string): void
  /** Resolves to the answer to the call with this id; null is the id where the gateway could not read one. */
  answer(id: number | null): Promise<unknown>
  /** The caller reads no more. */
  stall(): void
  /** Resolves once the connection has closed: to the code of a WebSocket, for example. */
  readonly closed: Promise<unknown>
  /** Stops the server as a shutdown does. Resolves once the server has closed the connection. */
  drain(): Promise<void>
}

export type Connect = (context: TransportContext) => Promise<TestConnection>

/** The calls of `work`: each runs until `finish`. */
function startWork() {
  const first = Promise.withResolvers<void>()
  const end = Promise.withResolvers<object>()
  let count = 0
  let running = 0
  let peak = 0
  const action = sampleAction('work', {
    async run() {
      count += 1
      first.resolve()
      running += 1
      peak = Math.max(peak, running)
      try {
        return await end.promise
      } finally {
        running -= 1
      }
    },
  })
  return {
    context: transportOver([sampleAgent('svc.box', [action])]),
    /** Resolves once so many calls have begun. */
    async begun(calls: number) {
      while (count < calls) await turn()
    },
    /** Resolves once the first call has begun. */
    first: first.promise,
    count: () => count,
    peak: () => peak,
    finish: (output: object = { done: true }) => end.resolve(output),
  }
}

export function connectionsOf(transports: readonly TestTransport[]): ConnectionTransport[] {
  return transports.filter((transport) => transport.kind === 'connection')
}

/** Runs a scenario on a connection of each transport that has connections; the outcomes by the transport's name. */
export async function onEachConnection<T>(
  transports: readonly TestTransport[],
  scenario: (parts: { connection: TestConnection; work: ReturnType<typeof startWork> }) => Promise<T>,
): Promise<Record<string, T>> {
  const outcomes = connectionsOf(transports).map(async ({ name, connect }) => {
    const work = startWork()
    await using connection = await connect(work.context)
    return [name, await scenario({ connection, work })] as const
  })
  return Object.fromEntries(await Promise.all(outcomes))
}

/** Lets messages that are under way arrive, and everything run that is ready. */
export async function allReady(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 50))
  await turn()
}

const ending = new AbortController().signal
const onError = () => {}
const envelope = { to: 'svc.box', action: 'work', params: {} }

export const connectEnvelopeSocket: Connect = (context) =>
  connectSocket(envelopeSocket(context, ending), (id) => ({ message_id: String(id), ...envelope }))

export const connectJsonRpcSocket: Connect = (context) =>
  connectSocket(jsonRpcSocket(context, '1', ending), (id) => ({
    jsonrpc: '2.0',
    id,
    method: 'message.send',
    params: envelope,
  }))

export const connectMcpSocket: Connect = (context) =>
  connectSocket(mcpSocket(createMcpService(context, '1', onError), onError), toolCall)

function toolCall(id: number): object {
  return modernRequest(id, 'tools/call', { name: 'box_work', arguments: {} })
}

async function connectSocket(
  endpoint: SocketEndpoint,
  message: (id: number) => object,
): Promise<TestConnection> {
  const server = await listenForSockets(() => ({ run: async () => {} }), { sockets: [endpoint] })
  const peer = await openSocket(`http://127.0.0.1:${server.port}${endpoint.path}`, [endpoint.subprotocol])
  const answers = mailbox()
  const closed = once(peer.socket, 'close').then(([code]) => code as number)
  peer.socket.on('message', (data) => {
    const answer = JSON.parse(data.toString())
    answers.deliver({ ...answer, id: Number(answer.id ?? answer.message_id) })
  })
  return {
    send: (id, padding = '') => peer.send(JSON.stringify(message(id)) + padding),
    answer: answers.take,
    stall: () => void peer.socket.pause(),
    closed,
    drain: () => server.upgrades.close(),
    async [Symbol.asyncDispose]() {
      await peer[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

export const connectMcpStdio: Connect = async (context) => {
  const peer = openStdio(createMcpService(context, '1', onError), () => null)
  return { ...peer, send: (id, padding) => peer.send(toolCall(id), padding) }
}

/** MCP over stdio within this process. */
export function openStdio(service: McpService, identify: () => Principal | null | Promise<Principal | null>) {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const answers = mailbox()
  const lines = createInterface({ input: output })
  lines.on('line', (line) => answers.deliver(JSON.parse(line)))
  lines.on('error', () => {})
  const served = serveMcpStdio(service, { identify, manages: true }, onError, { input, output })
  return {
    send(message: object, padding = '') {
      if (!input.writableEnded) input.write(`${JSON.stringify(message)}${padding}\n`)
    },
    answer: answers.take,
    stall: () => void lines.pause(),
    closed: served,
    /** The other process ends: what is written to it fails. */
    leave: () => void output.destroy(new Error('write EPIPE')),
    async drain() {
      input.end()
      await served
    },
    async [Symbol.asyncDispose]() {
      input.destroy()
      output.destroy()
    },
  }
}

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
import { listenForSockets } from './upgrades.ts'

/** One connection to a server of its own, whose one agent `svc.box` has the action `work`. */
export interface TestConnection extends AsyncDisposable {
  /** Sends a call of `work`; nothing happens where the connection takes no more. */
  send(id: number): void
  /** Resolves once the call with this id is answered. */
  answer(id: number): Promise<unknown>
  /** Stops the server as a shutdown does. Resolves once the connection has closed. */
  drain(): Promise<void>
}

export type Connect = (context: TransportContext) => Promise<TestConnection>

/** The calls of `work`: each runs until `finish`. */
function startWork() {
  const end = Promise.withResolvers<object>()
  let count = 0
  let running = 0
  let peak = 0
  const action = sampleAction('work', {
    async run() {
      count += 1
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
    count: () => count,
    peak: () => peak,
    finish: () => end.resolve({ done: true }),
  }
}

/** Runs a scenario on a connection of each transport that has connections; the outcomes by the transport's name. */
export async function onEachConnection<T>(
  transports: readonly { readonly name: string; readonly connect: Connect | null }[],
  scenario: (parts: { connection: TestConnection; work: ReturnType<typeof startWork> }) => Promise<T>,
): Promise<Record<string, T>> {
  const outcomes = transports.map(async ({ name, connect }) => {
    if (!connect) return []
    const work = startWork()
    await using connection = await connect(work.context)
    return [[name, await scenario({ connection, work })] as const]
  })
  return Object.fromEntries((await Promise.all(outcomes)).flat())
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
  const closed = once(peer.socket, 'close')
  peer.socket.on('message', (data) => {
    const answer = JSON.parse(data.toString())
    answers.deliver({ ...answer, id: Number(answer.id ?? answer.message_id) })
  })
  return {
    send: (id) => peer.send(message(id)),
    answer: answers.take,
    async drain() {
      await server.upgrades.close()
      await closed
    },
    async [Symbol.asyncDispose]() {
      await peer[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

export const connectMcpStdio: Connect = async (context) => {
  const peer = openStdio(createMcpService(context, '1', onError), () => null)
  return { ...peer, send: (id) => peer.send(toolCall(id)) }
}

/** MCP over stdio within this process. */
export function openStdio(service: McpService, identify: () => Principal | null | Promise<Principal | null>) {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const answers = mailbox()
  createInterface({ input: output }).on('line', (line) => answers.deliver(JSON.parse(line)))
  const served = serveMcpStdio(service, identify, onError, { input, output })
  return {
    send(message: object) {
      if (!input.writableEnded) input.write(`${JSON.stringify(message)}\n`)
    },
    answer: answers.take,
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

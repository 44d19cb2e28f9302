import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMcpHandler, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Agent } from '../../schemas/action.ts'
import { McpChannel } from '../../src/transports/mcp/channel.ts'
import { mcpMounts } from '../../src/transports/mcp/http.ts'
import { createMcpService } from '../../src/transports/mcp/service.ts'
import { localLimits } from '../../src/transports/shared/message.ts'
import { transportOver } from './transport-context.ts'

/** An answer as an HTTP caller sees it. */
export interface Seen {
  readonly status: number
  readonly type: string
  readonly messages: readonly unknown[]
}

export interface Pair extends AsyncDisposable {
  /** Our transport. */
  readonly url: string
  /** Sends one POST to our transport, and to the SDK's own handler. */
  ask(body: string, headers: Record<string, string>): Promise<{ readonly ours: Seen; readonly sdks: Seen }>
  /** Sends one message on a separate connection to each, and collects what each sends until it answers. */
  say(message: object): Promise<{ readonly ours: readonly unknown[]; readonly sdks: readonly unknown[] }>
}

/** Our dispatcher and the SDK's, over the same agents. */
export async function startPair(agents: readonly Agent[]): Promise<Pair> {
  const context = transportOver(agents)
  const ignore = () => {}
  const service = createMcpService(context, '1', ignore)
  const createSdkServer = await service.load()
  const caller = { client: 'local' as const, identify: () => null }
  const sdk = createMcpHandler(() => createSdkServer(caller, { era: 'modern', lasting: false }))
  const mounts = mcpMounts({
    context,
    path: '/mcp',
    serviceOf: () => service,
    allowsOrigin: () => true,
    onError: ignore,
  })
  const server = createServer((request, response) => {
    const mount = mounts.find(({ method }) => method === request.method?.toLowerCase())
    void mount?.handler(request as never, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`

  return {
    url,
    async ask(body, headers) {
      const init = { method: 'POST', body, headers }
      const [ours, sdks] = await Promise.all([fetch(url, init), sdk.fetch(new Request(url, init))])
      return { ours: await seen(ours), sdks: await seen(sdks) }
    },
    async say(message) {
      const { id } = message as { id: unknown }
      const ours = until(id)
      const channel = new McpChannel({
        service,
        caller,
        messageLimits: localLimits,
        send: async (text) => ours.take(JSON.parse(text)),
        close: ignore,
        onError: ignore,
      })
      void channel.prepare(JSON.stringify(message)).run()
      const sdks = until(id)
      const wire: Transport = { async start() {}, async close() {}, send: async (sent) => sdks.take(sent) }
      serveStdio(() => createSdkServer(caller, { era: 'modern', lasting: true }), { transport: wire })
      wire.onmessage?.(message as JSONRPCMessage)
      const all = { ours: await ours.all, sdks: await sdks.all }
      channel.closed()
      wire.onclose?.()
      return all
    },
    async [Symbol.asyncDispose]() {
      await sdk.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function seen(answer: Response): Promise<Seen> {
  const text = await answer.text()
  const type = answer.headers.get('content-type')?.split(';')[0] ?? ''
  const events = text.split('\n').filter((line) => line.startsWith('data:'))
  const parts = type === 'text/event-stream' ? events.map((line) => line.slice('data:'.length)) : [text]
  return { status: answer.status, type, messages: parts.map((part) => comparable(JSON.parse(part))) }
}

function until(id: unknown) {
  const { promise, resolve } = Promise.withResolvers<readonly unknown[]>()
  const messages: unknown[] = []
  return {
    all: promise,
    take(message: unknown) {
      messages.push(comparable(message))
      if ((message as { id?: unknown }).id === id) resolve(messages)
    },
  }
}

/** Removes the texts of errors, which differ, and the random id of a call; all else is compared. */
function comparable(message: unknown): unknown {
  const text = JSON.stringify(message).replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'made-id')
  const { error, ...rest } = JSON.parse(text)
  return error === undefined ? rest : { ...rest, error: { code: error.code } }
}

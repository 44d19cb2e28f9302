import { createMcpHandler, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Agent } from '../../schemas/action.ts'
import { McpChannel } from '../../src/transports/mcp/channel.ts'
import { mcpMounts } from '../../src/transports/mcp/http.ts'
import { offerOf, serveOffer } from '../../src/transports/mcp/service.ts'
import { createCallTool } from '../../src/transports/mcp/views/calls.ts'
import { localLimits } from '../../src/transports/shared/message.ts'
import { serve } from '../net/support.ts'
import { createSdkServers } from './sdk-server.ts'
import { transportOver } from './transport-context.ts'

/** An answer as an HTTP caller sees it. */
interface Seen {
  readonly status: number
  readonly type: string
  readonly messages: readonly unknown[]
}

interface Pair extends AsyncDisposable {
  /** Our transport. */
  readonly url: string
  /** Sends one POST to our transport, and to the SDK's own handler. */
  ask(body: string, headers: Record<string, string>): Promise<{ readonly ours: Seen; readonly sdks: Seen }>
  /**
   * Sends messages on a separate connection to each, each one after the answer to the one before, and collects what each
   * sends.
   */
  say(
    ...messages: object[]
  ): Promise<{ readonly ours: readonly unknown[]; readonly sdks: readonly unknown[] }>
}

/** Our dispatcher and the SDK's, over the same agents. */
export async function startPair(agents: readonly Agent[]): Promise<Pair> {
  const context = transportOver(agents)
  const ignore = () => {}
  const offer = offerOf(context, '1', Date.now)
  const service = serveOffer(offer, { context, onError: ignore })
  const createSdkServer = createSdkServers(offer, createCallTool(context, offer.tools), context.site)
  const caller = { client: 'local' as const, identify: () => null }
  const sdk = createMcpHandler(({ era }) => createSdkServer(caller, { era, lasting: false }))
  const mounts = mcpMounts({
    context,
    path: '/mcp',
    serviceOf: () => service,
    allowsOrigin: () => true,
  })
  const server = await serve((request, response) => {
    const mount = mounts.find(({ method }) => method === request.method?.toLowerCase())
    void mount?.handler(request as never, response)
  })
  const url = `${server.origin}/mcp`

  return {
    url,
    async ask(body, headers) {
      const init = { method: 'POST', body, headers }
      const [ours, sdks] = await Promise.all([fetch(url, init), sdk.fetch(new Request(url, init))])
      return { ours: await seen(ours), sdks: await seen(sdks) }
    },
    async say(...messages) {
      const ours = collector()
      const channel = new McpChannel({
        service,
        caller,
        messageLimits: localLimits,
        send: async (text) => ours.take(JSON.parse(text)),
        onError: ignore,
      })
      const sdks = collector()
      const wire: Transport = { async start() {}, async close() {}, send: async (sent) => sdks.take(sent) }
      serveStdio(({ era }) => createSdkServer(caller, { era, lasting: true }), { transport: wire })
      for (const message of messages) {
        const answered = [ours.answerTo(message), sdks.answerTo(message)]
        void channel.prepare(JSON.stringify(message)).run()
        wire.onmessage?.(message as JSONRPCMessage)
        await Promise.all(answered)
      }
      channel.closed()
      wire.onclose?.()
      return { ours: ours.messages, sdks: sdks.messages }
    },
    async [Symbol.asyncDispose]() {
      await sdk.close()
      await server[Symbol.asyncDispose]()
    },
  }
}

async function seen(answer: Response): Promise<Seen> {
  const text = await answer.text()
  const type = answer.headers.get('content-type')?.split(';')[0] ?? ''
  const events = text.split('\n').filter((line) => line.startsWith('data:'))
  const parts = type === 'text/event-stream' ? events.map((line) => line.slice('data:'.length)) : [text]
  const messages = parts.filter(Boolean).flatMap((part) => [JSON.parse(part)].flat().map(comparable))
  return { status: answer.status, type, messages }
}

/** What one side sends. */
function collector() {
  const messages: unknown[] = []
  const waiting = new Map<unknown, () => void>()
  return {
    messages,
    /** Resolves at once for a notification. */
    answerTo(message: object): Promise<void> {
      if (!('id' in message)) return Promise.resolve()
      return new Promise((resolve) => void waiting.set(message.id, resolve))
    },
    take(message: unknown) {
      messages.push(comparable(message))
      waiting.get((message as { id?: unknown }).id)?.()
    },
  }
}

/** Removes the texts of errors, which differ, and the random id of a call; all else is compared. */
function comparable(message: unknown): unknown {
  const text = JSON.stringify(message).replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'made-id')
  const { error, ...rest } = JSON.parse(text)
  return error === undefined ? rest : { ...rest, error: { code: error.code } }
}

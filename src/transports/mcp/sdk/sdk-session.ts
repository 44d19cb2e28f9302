import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server'
import type { McpId, McpMessage } from '../../../common/mcp/message.ts'
import type { MessageLimits } from '../../shared/message.ts'
import type { McpCaller } from '../protocol-2026/protocol.ts'
import type { McpService } from '../service.ts'

/** The SDK behind a channel: it receives messages from the channel and sends through it. */
export interface SdkSession {
  receive(message: McpMessage): void
  closed(): void
}

/** The channel to which a session belongs. */
export interface ChannelOptions {
  readonly service: McpService
  readonly caller: McpCaller
  readonly messageLimits: MessageLimits
  /** Resolves when the peer can take more. */
  readonly send: (text: string) => Promise<void>
  /** Ends the connection. */
  readonly close: () => void
  readonly onError: (fault: unknown) => void
}

interface SdkSessionOptions extends ChannelOptions {
  /** Called with the id of each request that the SDK has answered. */
  readonly answered: (id: McpId) => void
}

const subscription = 'io.modelcontextprotocol/subscriptionId'

export async function openSdkSession(options: SdkSessionOptions): Promise<SdkSession> {
  const { service, caller, send, close, onError, answered } = options
  const [{ serveStdio }, createServer] = await Promise.all([
    import('@modelcontextprotocol/server/stdio'),
    service.load(),
  ])
  const transport: Transport = {
    async start() {},
    async send(message) {
      await send(JSON.stringify(message))
      const id = answeredBy(message)
      if (id !== undefined) answered(id)
    },
    async close() {
      close()
    },
  }
  serveStdio(({ era }) => createServer(caller, { era, lasting: true }), { transport, onerror: onError })
  return {
    receive: (message) => transport.onmessage?.(message as JSONRPCMessage),
    closed: () => transport.onclose?.(),
  }
}

/** The acknowledgement of a subscription counts as its answer; its result comes only at its end. */
function answeredBy(message: JSONRPCMessage): McpId | undefined {
  if (!('method' in message)) return message.id
  if (message.method !== 'notifications/subscriptions/acknowledged') return undefined
  return message.params?._meta?.[subscription] as McpId | undefined
}

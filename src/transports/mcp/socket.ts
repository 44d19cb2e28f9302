import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'
import type { Door } from '../door.ts'
import { errorFrame, invalidRequest, parseError } from '../json-rpc/frames.ts'
import type { Connection } from '../websocket/connection.ts'
import type { SocketDoor } from '../websocket/upgrade.ts'

export interface McpSocketOptions {
  readonly door: Door
  readonly version: string
  readonly failed: (fault: unknown) => void
}

/** `ws://…/mcp/ws`, subprotocol `mcp`: one text frame is one JSON-RPC message, in either era of MCP. */
export function mcpSocket({ door, version, failed }: McpSocketOptions): SocketDoor {
  let loading: ReturnType<typeof load> | undefined

  async function open(connection: Connection): Promise<void> {
    loading ??= load(door, version)
    const { serveStdio, createServer } = await loading
    const caller = {
      client: connection.client,
      async identify() {
        const principal = await connection.identify()
        if (principal === undefined) throw new Failure('unauthenticated', 'The token no longer holds.')
        return principal
      },
    }
    serveStdio(() => createServer(caller), { transport: transportOver(connection), onerror: failed })
  }
  return {
    path: '/mcp/ws',
    subprotocol: 'mcp',
    required: true,
    open: (connection) => void open(connection).catch(failed),
  }
}

/** The SDK is loaded with the first socket. */
async function load(door: Door, version: string) {
  const [{ serveStdio }, { createMcpServers }] = await Promise.all([
    import('@modelcontextprotocol/server/stdio'),
    import('./server.ts'),
  ])
  return { serveStdio, createServer: createMcpServers(door, version) }
}

/**
 * An SDK transport over a socket. A request holds its place in flight until its answer has gone out, or until
 * it is cancelled: MCP answers no cancelled request.
 */
function transportOver(connection: Connection): Transport {
  const places = new Map<unknown, () => void>()

  function release(id: unknown): void {
    places.get(id)?.()
    places.delete(id)
  }

  async function receive(text: string): Promise<void> {
    const message = read(text)
    if (typeof message === 'string') return connection.send(message)
    if (!('method' in message) || !('id' in message)) {
      transport.onmessage?.(message)
      if ('method' in message && message.method === 'notifications/cancelled')
        release(message.params?.requestId)
      return
    }
    release(message.id)
    const answered = new Promise<void>((resolve) => {
      places.set(message.id, resolve)
    })
    transport.onmessage?.(message)
    await answered
  }

  const transport: Transport = {
    async start() {
      connection.onClose(() => {
        for (const resolve of places.values()) resolve()
        transport.onclose?.()
      })
      connection.read(receive, isUrgent)
    },
    async send(message) {
      await connection.send(JSON.stringify(message))
      if (!('method' in message) && 'id' in message) release(message.id)
    },
    async close() {
      connection.close(1000, '')
    },
  }
  return transport
}

/** The message in a frame, or the answer to one that holds none. */
function read(text: string): JSONRPCMessage | string {
  const fail = (detail: string, code: number) =>
    errorFrame(new Failure('invalid_request', detail), crypto.randomUUID(), null, code)
  try {
    const message: unknown = JSON.parse(text)
    if (isRecord(message) && message.jsonrpc === '2.0') return message as unknown as JSONRPCMessage
    return fail('A frame holds one JSON-RPC 2.0 message.', invalidRequest)
  } catch {
    return fail('The frame is not JSON.', parseError)
  }
}

/** Cancellations do not wait behind requests. */
function isUrgent(text: string): boolean {
  return text.length < 2000 && !/"id"\s*:/.test(text)
}

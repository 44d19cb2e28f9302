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
  async function open(connection: Connection): Promise<void> {
    const [{ serveStdio }, { createMcpServers }] = await Promise.all([
      import('@modelcontextprotocol/server/stdio'),
      import('./server.ts'),
    ])
    const createServer = createMcpServers(door, version)
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

/** An SDK transport over a socket. A request holds its place in flight until its answer has gone out. */
function transportOver(connection: Connection): Transport {
  const answered = new Map<unknown, () => void>()

  async function receive(text: string): Promise<void> {
    const message = read(text)
    if (typeof message === 'string') return connection.send(message)
    const isRequest = 'method' in message && 'id' in message
    const done = isRequest
      ? new Promise<void>((resolve) => {
          answered.set(message.id, resolve)
        })
      : undefined
    transport.onmessage?.(message)
    await done
  }

  const transport: Transport = {
    async start() {
      connection.onClose(() => {
        for (const resolve of answered.values()) resolve()
        transport.onclose?.()
      })
      connection.read(receive, isUrgent)
    },
    async send(message) {
      await connection.send(JSON.stringify(message))
      if (!('method' in message) && 'id' in message) {
        answered.get(message.id)?.()
        answered.delete(message.id)
      }
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

/** Answers and cancellations do not wait behind requests. */
function isUrgent(text: string): boolean {
  return text.length < 2000 && !/"id"\s*:/.test(text)
}

import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node'
import { isInitializeRequest, type Server } from '@modelcontextprotocol/server'

type Serve = (request: IncomingMessage, response: ServerResponse, body: unknown) => Promise<void>

/** The 2025 era with sessions, by the SDK: a server may ask its client only within one. */
export function serveSessions(createServer: () => Server): Serve {
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>()

  async function open(): Promise<NodeStreamableHTTPServerTransport> {
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    })
    await createServer().connect(transport)
    return transport
  }

  return async (request, response, body) => {
    const id = request.headers['mcp-session-id']
    const session = typeof id === 'string' ? sessions.get(id) : undefined
    const transport = session ?? (isInitializeRequest(body) ? await open() : undefined)
    if (transport) return await transport.handleRequest(request, response, body)
    response.writeHead(id === undefined ? 400 : 404, { 'Content-Type': 'application/json' })
    response.end('{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"There is no such session."}}')
  }
}

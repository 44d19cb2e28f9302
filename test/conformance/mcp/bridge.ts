import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { isRecord } from '../../../schemas/json.ts'
import { serve } from '../../net/support.ts'

/** A connection to a server that speaks MCP in messages: a socket, or a pair of pipes. */
export interface Line {
  send(message: unknown): void
  listen(listener: (message: Record<string, unknown>) => void): void
  close(): void
}

/** A line, the answers that callers wait for on it, and the one that what the server says is shown to. */
interface Session {
  readonly line: Line
  readonly waiting: Map<unknown, ServerResponse>
}

/**
 * Streamable HTTP in front of a line, for a suite that speaks nothing else. A POST of the modern era is a line of
 * its own; in the 2025 era a session is one. Headers are not looked at: over a line there are none.
 */
export async function startBridge(open: () => Promise<Line>): Promise<AsyncDisposable & { url: string }> {
  const sessions = new Map<string, Session>()
  const lines = new Set<Line>()

  async function connect(): Promise<Session> {
    const line = await open()
    lines.add(line)
    const waiting = new Map<unknown, ServerResponse>()
    line.listen((message) => {
      const response = waiting.get(message.id) ?? [...waiting.values()].at(-1)
      if (!response) return
      if ('method' in message || !waiting.delete(message.id)) show(response, message)
      else finish(response, message)
    })
    return { line, waiting }
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') return void response.writeHead(405).end()
    if (!isLocal(request.headers.origin)) return void response.writeHead(403).end()
    const message = (await json(request)) as Record<string, unknown>
    const existing = sessions.get(String(request.headers['mcp-session-id']))
    const session = existing ?? (await connect())
    if (message.method === 'initialize') {
      const id = randomUUID()
      sessions.set(id, session)
      response.setHeader('Mcp-Session-Id', id)
    }
    if (!('method' in message) || !('id' in message)) {
      session.line.send(message)
      return void response.writeHead(202).end()
    }
    session.waiting.set(message.id, response)
    response.once('close', () => {
      session.waiting.delete(message.id)
      if (!existing && message.method !== 'initialize') session.line.close()
    })
    session.line.send(message)
  }

  const server = await serve((request, response) => void answer(request, response))
  return {
    url: `${server.origin}/mcp`,
    async [Symbol.asyncDispose]() {
      for (const line of lines) line.close()
      await server[Symbol.asyncDispose]()
    },
  }
}

const eventOf = (message: object) => `event: message\ndata: ${JSON.stringify(message)}\n\n`

function show(response: ServerResponse, message: object): void {
  if (!response.headersSent) response.writeHead(200, { 'Content-Type': 'text/event-stream' })
  response.write(eventOf(message))
}

function finish(response: ServerResponse, message: Record<string, unknown>): void {
  if (response.headersSent) return void response.end(eventOf(message))
  response.writeHead(statusOf(message.error), { 'Content-Type': 'application/json' })
  response.end(JSON.stringify(message))
}

/** What Streamable HTTP has for an error; that a _meta is at fault is told by the keys in its data. */
function statusOf(error: unknown): number {
  if (!isRecord(error)) return 200
  if (error.code === -32601) return 404
  const early = isRecord(error.data) && 'keys' in error.data
  return early || (Number(error.code) <= -32020 && Number(error.code) >= -32022) ? 400 : 200
}

function isLocal(origin: string | undefined): boolean {
  return origin === undefined || ['127.0.0.1', 'localhost'].includes(new URL(origin).hostname)
}

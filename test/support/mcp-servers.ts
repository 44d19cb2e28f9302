import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type RequestListener,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { Server as OldServer } from '@modelcontextprotocol/sdk/server/index.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CallToolRequestSchema,
  type CreateMessageResult,
  type ElicitResult,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { type CallToolResult, createMcpHandler, Server, type Tool } from '@modelcontextprotocol/server'
import { WebSocketServer } from 'ws'
import type { Misbehave } from './mcp-answers.ts'

/** One HTTP request as the server received it. */
interface Seen {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  /** The JSON-RPC method, if the body is a message. */
  readonly rpc?: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages freely
  readonly params?: any
}

export interface McpServer extends AsyncDisposable {
  readonly origin: string
  readonly url: string
  /** Every request, in order. */
  readonly seen: Seen[]
  /** Sockets that are open now. */
  readonly sockets: () => number
  /** Sessions that are open now. */
  readonly sessions: () => number
  /** Drops every session, as a restart does. */
  forget(): void
  /** Number of calls of `hang` that were cancelled. */
  readonly stopped: () => number
}

interface Facts {
  readonly signal: AbortSignal
  readonly session: string | undefined
  progress(progress: number, total: number, message: string): Promise<void>
  /** Tells the client, in the answer to this call, that the list of tools has changed. */
  toolsChanged(): Promise<void>
  /** Tells the client of the session something, on the stream of the session and not in this call; only servers of v1. */
  tell?(method: string, params?: Record<string, unknown>): Promise<void>
  /** Asks the client for a form, on the stream of the session and not in this call; only servers of v1. */
  elicit?(message: string): Promise<ElicitResult>
  /** Asks the model of the client in the same way. */
  sample?(text: string): Promise<CreateMessageResult>
}

export type Answer = (
  // biome-ignore lint/suspicious/noExplicitAny: arguments are what a test sends
  args: any,
  facts: Facts,
) => CallToolResult | Promise<CallToolResult>

export interface Toolbox {
  /** A function is asked at each listing. */
  readonly tools?: readonly Tool[] | (() => readonly Tool[])
  readonly answers?: Readonly<Record<string, Answer>>
}

const textResult = (words: string): CallToolResult => ({ content: [{ type: 'text', text: words }] })
const input = { type: 'object' } as const

const sampleTools: Tool[] = [
  {
    name: 'echo',
    description: 'Answers its arguments.',
    inputSchema: input,
    annotations: { readOnlyHint: true },
  },
  { name: 'count', description: 'How often this session asked.', inputSchema: input },
  { name: 'work', description: 'Tells of its progress.', inputSchema: input },
  { name: 'hang', description: 'Answers when it is told to stop.', inputSchema: input },
  { name: 'fail', description: 'Fails.', inputSchema: input },
]

function sampleAnswers(stop: () => void): Record<string, Answer> {
  const counts = new Map<string | undefined, number>()
  return {
    echo: (args) => ({ ...textResult(JSON.stringify(args)), structuredContent: args }),
    count(_, { session }) {
      const count = (counts.get(session) ?? 0) + 1
      counts.set(session, count)
      return textResult(`${count}`)
    },
    async work(_, { progress }) {
      await progress(1, 2, 'half')
      await progress(2, 2, 'whole')
      return textResult('done')
    },
    async hang(_, { signal }) {
      if (!signal.aborted) await once(signal, 'abort')
      stop()
      return textResult('stopped')
    },
    fail: () => ({ ...textResult('The moon is full.'), isError: true }),
  }
}

type Respond = (name: string, args: unknown, facts: Facts) => Promise<CallToolResult>

function toolbox({ tools = sampleTools, answers = {} }: Toolbox, stop: () => void) {
  const all = { ...sampleAnswers(stop), ...answers }
  const respond: Respond = async (name, args, facts) => {
    const answer = all[name]
    if (!answer) throw Object.assign(new Error(`Unknown tool: ${name}`), { code: -32602 })
    return answer(args, facts)
  }
  return { tools: () => [...(typeof tools === 'function' ? tools() : tools)], respond }
}

const info = { name: 'sample', version: '1' }

/** The official server of v2: 2026-07-28, and legacy protocol versions without sessions unless they are rejected. */
export async function startModernServer(
  options: Toolbox & { readonly legacy?: 'stateless' | 'reject' } = {},
): Promise<McpServer> {
  let stopped = 0
  const { tools, respond } = toolbox(options, () => stopped++)
  const handler = createMcpHandler(
    () => {
      const server = new Server(info, { capabilities: { tools: {} } })
      server.setRequestHandler('tools/list', () => ({ tools: tools() }))
      server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
        const progressToken = params._meta?.progressToken
        return respond(params.name, params.arguments, {
          signal: mcpReq.signal,
          session: undefined,
          async progress(progress, total, message) {
            if (progressToken === undefined) return
            const notification = { progressToken, progress, total, message }
            await mcpReq.notify({ method: 'notifications/progress', params: notification })
          },
          toolsChanged: () => mcpReq.notify({ method: 'notifications/tools/list_changed' }),
        })
      })
      return server
    },
    { legacy: options.legacy ?? 'stateless' },
  )
  const node = toNodeHandler(handler)
  return listen((request, response, body) => void node(request as never, response, body), {
    stopped: () => stopped,
    close: () => handler.close(),
  })
}

function oldServer(respond: Respond, tools: () => Tool[]): OldServer {
  const server = new OldServer(info, { capabilities: { tools: { listChanged: true } } })
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools() }) as never)
  server.setRequestHandler(
    CallToolRequestSchema,
    async ({ params }, { signal, sessionId, sendNotification }) => {
      const progressToken = params._meta?.progressToken
      const facts: Facts = {
        signal,
        session: sessionId,
        async progress(progress, total, message) {
          if (progressToken === undefined) return
          const notification = { progressToken, progress, total, message }
          await sendNotification({ method: 'notifications/progress', params: notification })
        },
        toolsChanged: () => sendNotification({ method: 'notifications/tools/list_changed' }),
        tell: (method, params = {}) => server.notification({ method, params } as never),
        elicit: (message) =>
          server.elicitInput({
            message,
            requestedSchema: { type: 'object', properties: { day: { type: 'string' } } },
          }),
        sample: (text) =>
          server.createMessage({
            messages: [{ role: 'user', content: { type: 'text', text } }],
            maxTokens: 9,
          }),
      }
      return (await respond(params.name, params.arguments, facts)) as never
    },
  )
  return server
}

/** The official server of v1: Streamable HTTP of 2025-11-25 with sessions. */
export async function startSessionServer(options: Toolbox = {}): Promise<McpServer> {
  let stopped = 0
  const { tools, respond } = toolbox(options, () => stopped++)
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  return listen(
    async (request, response, body) => {
      const id = request.headers['mcp-session-id']
      const session = typeof id === 'string' ? sessions.get(id) : undefined
      if (session) return session.handleRequest(request, response, body)
      const isFirst = (body as { method?: unknown } | undefined)?.method === 'initialize'
      if (id !== undefined || !isFirst) {
        const error = { code: -32001, message: 'Session not found' }
        response.writeHead(id === undefined ? 400 : 404, { 'content-type': 'application/json' })
        return response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error }))
      }
      const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (made) => void sessions.set(made, transport),
        onsessionclosed: (ended) => void sessions.delete(ended),
      })
      await oldServer(respond, tools).connect(transport as never)
      await transport.handleRequest(request, response, body)
    },
    { stopped: () => stopped, sessions: () => sessions.size, forget: () => sessions.clear() },
  )
}

/** The official server of v1 for HTTP+SSE of 2024-11-05. */
export async function startSseServer(options: Toolbox = {}): Promise<McpServer> {
  let stopped = 0
  const { tools, respond } = toolbox(options, () => stopped++)
  const sessions = new Map<string, SSEServerTransport>()
  return listen(
    async (request, response, body) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://x')
      if (request.method === 'GET' && pathname === '/mcp') {
        const transport = new SSEServerTransport('/messages', response)
        sessions.set(transport.sessionId, transport)
        response.on('close', () => sessions.delete(transport.sessionId))
        return oldServer(respond, tools).connect(transport)
      }
      const session = sessions.get(searchParams.get('sessionId') ?? '')
      if (pathname === '/messages' && session) return session.handlePostMessage(request, response, body)
      response.writeHead(404).end('Cannot POST')
    },
    { stopped: () => stopped, sessions: () => sessions.size },
  )
}

/** The official server of v1 over WebSocket, with a minimal transport. */
export async function startSocketServer(options: Toolbox = {}): Promise<McpServer> {
  let stopped = 0
  const { tools, respond } = toolbox(options, () => stopped++)
  const home = await listen(
    (_, response) => void response.writeHead(426).end(),
    { stopped: () => stopped },
    (server) => {
      const sockets = new WebSocketServer({
        server,
        handleProtocols: (offered) => offered.has('mcp') && 'mcp',
      })
      sockets.on('connection', (socket) => {
        const transport: Transport = {
          async start() {
            socket.on('message', (data) => transport.onmessage?.(JSON.parse(data.toString())))
            socket.on('close', () => transport.onclose?.())
          },
          send: async (message) => socket.send(JSON.stringify(message)),
          close: async () => socket.close(),
        }
        void oldServer(respond, tools).connect(transport)
      })
    },
  )
  return { ...home, url: home.url.replace(/^http/, 'ws') }
}

/** A hand-made server for answers that no library sends. */
export function startHostileServer(misbehave: Misbehave): Promise<McpServer> {
  return listen(misbehave, {})
}

async function listen(
  handle: Misbehave,
  own: {
    readonly stopped?: () => number
    readonly sessions?: () => number
    readonly forget?: () => void
    readonly close?: () => Promise<void>
  },
  also: (server: HttpServer) => void = () => {},
): Promise<McpServer> {
  const seen: Seen[] = []
  const sockets = new Set<Socket>()
  const listener: RequestListener = async (request, response) => {
    const { method = '', url = '', headers } = request
    const body = method === 'POST' ? parsed(await text(request).catch(() => '')) : undefined
    seen.push({ method, path: url, headers, ...(body?.method && { rpc: body.method, params: body.params }) })
    await handle(request, response, body)
  }
  const server = createServer((request, response) => void listener(request, response))
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  also(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    url: `${origin}/mcp`,
    seen,
    sockets: () => sockets.size,
    sessions: own.sessions ?? (() => 0),
    forget: own.forget ?? (() => {}),
    stopped: own.stopped ?? (() => 0),
    async [Symbol.asyncDispose]() {
      await own.close?.()
      server.closeAllConnections()
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function parsed(body: string) {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

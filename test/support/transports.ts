import { once } from 'node:events'
import type { Json } from '../../schemas/json.ts'
import { createMcpService } from '../../src/transports/mcp/service.ts'
import { a2aVersion, dataMessage, fromA2a } from './a2a.ts'
import { command } from './command.ts'
import {
  type Connect,
  connectEnvelopeSocket,
  connectJsonRpcSocket,
  connectMcpSocket,
  connectMcpStdio,
  openStdio,
} from './connections.ts'
import type { TestGateway } from './gateway.ts'
import { startLines } from './lines.ts'
import { messageIn, modernHeaders, modernRequest } from './mcp.ts'
import { openSocket, Refused } from './socket.ts'

/** What any transport says to an envelope: the output of the action, or the stable code of a failure. */
export type Outcome = { readonly output: Json } | { readonly code: string }

interface AnyTransport extends AsyncDisposable {
  readonly name: string
  /** Its callers are language models, which may only read and call, or also change what is stored. */
  readonly model?: 'reads' | 'manages'
  /** Sends the envelope as whoever holds the token; the caller leaves when the signal aborts. */
  call(envelope: unknown, token: string | undefined, signal?: AbortSignal): Promise<Outcome>
}

/** Each call is an HTTP request of its own. */
interface RequestTransport extends AnyTransport {
  readonly kind: 'request'
}

/** The calls of one caller share a connection. */
export interface ConnectionTransport extends AnyTransport {
  readonly kind: 'connection'
  /** Opens a connection over the agents of a context. */
  readonly connect: Connect
  /** Its callers are processes of this machine, which have no rate limit. */
  readonly isLocal?: true
}

export type TestTransport = RequestTransport | ConnectionTransport

type Message = Record<string, unknown>

/** Every transport that carries an envelope, over one gateway; MCP over stdio in this process unless told. */
export function openTransports(home: TestGateway, stdio = stdioTransport): TestTransport[] {
  return [
    envelopeTransport(home),
    envelopeSocketTransport(home),
    jsonRpcTransport(home),
    jsonRpcSocketTransport(home),
    mcpHttpTransport(home),
    mcpSocketTransport(home),
    stdio(home),
    a2aJsonRpcTransport(home),
    a2aRestTransport(home),
  ]
}

/** The transports whose callers may change what is stored. */
export function writable(transports: readonly TestTransport[]): TestTransport[] {
  return transports.filter(({ model }) => model !== 'reads')
}

function envelopeTransport({ request }: TestGateway): TestTransport {
  return {
    name: 'envelope',
    kind: 'request',
    async call(body, token, signal) {
      const { status, json } = await request('POST', '/a2a/message', { body, token, signal })
      return status === 200 ? { output: json } : { code: json.code }
    },
    async [Symbol.asyncDispose]() {},
  }
}

function envelopeSocketTransport({ url }: TestGateway): TestTransport {
  return {
    name: 'envelope over WebSocket',
    kind: 'connection',
    connect: connectEnvelopeSocket,
    call: (envelope, token, signal) =>
      overSocket(
        `${url}/a2a/message`,
        'envelope',
        token,
        envelope as object,
        ({ output, error }) =>
          error === undefined ? { output: output as Json } : { code: (error as { code: string }).code },
        signal,
      ),
    async [Symbol.asyncDispose]() {},
  }
}

function jsonRpcTransport({ request }: TestGateway): TestTransport {
  return {
    name: 'JSON-RPC over HTTP',
    kind: 'request',
    async call(envelope, token, signal) {
      const body = { jsonrpc: '2.0', id: 1, method: 'message.send', params: envelope }
      const { json } = await request('POST', '/rpc', { body, token, signal })
      return fromJsonRpc(json)
    },
    async [Symbol.asyncDispose]() {},
  }
}

function a2aJsonRpcTransport({ request }: TestGateway): TestTransport {
  return {
    name: 'A2A over JSON-RPC',
    kind: 'request',
    async call(envelope, token, signal) {
      const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: dataMessage(envelope) }
      const { json } = await request('POST', '/a2a/v1', { body, headers: a2aVersion, token, signal })
      return fromA2a(json.result, json.error?.data)
    },
    async [Symbol.asyncDispose]() {},
  }
}

function a2aRestTransport({ request }: TestGateway): TestTransport {
  return {
    name: 'A2A over HTTP+JSON',
    kind: 'request',
    async call(envelope, token, signal) {
      const options = { body: dataMessage(envelope), headers: a2aVersion, token, signal }
      const { json } = await request('POST', '/a2a/v1/message:send', options)
      return fromA2a(json, json.error?.details)
    },
    async [Symbol.asyncDispose]() {},
  }
}

function jsonRpcSocketTransport({ url }: TestGateway): TestTransport {
  return {
    name: 'JSON-RPC over WebSocket',
    kind: 'connection',
    connect: connectJsonRpcSocket,
    call: (envelope, token, signal) =>
      overSocket(
        `${url}/rpc`,
        'jsonrpc',
        token,
        { jsonrpc: '2.0', id: 1, method: 'message.send', params: envelope },
        fromJsonRpc,
        signal,
      ),
    async [Symbol.asyncDispose]() {},
  }
}

function mcpSocketTransport({ url }: TestGateway): TestTransport {
  return {
    name: 'MCP over WebSocket',
    model: 'reads',
    kind: 'connection',
    connect: connectMcpSocket,
    call: (envelope, token, signal) =>
      overSocket(`${url}/mcp/ws`, 'mcp', token, toolCall(envelope), fromTool, signal),
    async [Symbol.asyncDispose]() {},
  }
}

function mcpHttpTransport({ request }: TestGateway): TestTransport {
  return {
    name: 'MCP over HTTP',
    model: 'reads',
    kind: 'request',
    async call(envelope, token, signal) {
      const headers = modernHeaders('tools/call', 'call_agent')
      const { text } = await request('POST', '/mcp', { body: toolCall(envelope), headers, token, signal })
      return fromTool(messageIn(text) as Message)
    },
    async [Symbol.asyncDispose]() {},
  }
}

/** MCP over stdio in this process. */
function stdioTransport({ gateway }: TestGateway): TestTransport {
  const service = createMcpService(gateway, '1', () => {})
  return overStdio((token) =>
    openStdio(service, () => (token === undefined ? null : gateway.authenticate(token))),
  )
}

/** MCP over stdio of processes, each with a gateway of its own over the same data folder. */
export function stdioProcess({ data, url, environment }: TestGateway): TestTransport {
  return overStdio((token) => {
    const peer = startLines(process.execPath, [command, 'mcp', '--manage'], {
      ...environment,
      DRAGOMAN_DATA: data,
      DRAGOMAN_BASE_URL: '',
      DRAGOMAN_LOG: 'silent',
      PATH: process.env.PATH ?? '',
      PORT: new URL(url).port,
      ...(token && { DRAGOMAN_TOKEN: token }),
    })
    return { ...peer, leave: () => void peer.end() }
  })
}

interface StdioPeer extends AsyncDisposable {
  send(message: object): void
  answer(id: number): Promise<Message>
  /** Goes away without waiting for answers. */
  leave(): void
}

/** One server for each token: over stdio a server has one caller. */
function overStdio(open: (token: string | undefined) => StdioPeer): TestTransport {
  const peers = new Map<string | undefined, StdioPeer>()
  let id = 0
  return {
    name: 'MCP over stdio',
    model: 'manages',
    kind: 'connection',
    connect: connectMcpStdio,
    isLocal: true,
    async call(envelope, token, signal) {
      id += 1
      const peer = peers.get(token) ?? open(token)
      peers.set(token, peer)
      signal?.addEventListener('abort', () => peer.leave())
      peer.send(toolCall(envelope, id))
      return fromTool(await peer.answer(id))
    },
    async [Symbol.asyncDispose]() {
      for (const peer of peers.values()) await peer[Symbol.asyncDispose]()
    },
  }
}

function toolCall(envelope: unknown, id = 1): object {
  const { to, ...rest } = envelope as Message
  // Answers are compared whole.
  const whole = { ...rest, max_tokens: 1_000_000 }
  const input = to === undefined ? whole : { package_name: to, ...whole }
  return modernRequest(id, 'tools/call', { name: 'call_agent', arguments: input })
}

async function overSocket(
  url: string,
  protocol: string,
  token: string | undefined,
  message: object,
  read: (message: Message) => Outcome,
  signal?: AbortSignal,
): Promise<Outcome> {
  try {
    await using peer = await openSocket(url, token === undefined ? [protocol] : [protocol, `bearer.${token}`])
    signal?.addEventListener('abort', () => peer.socket.terminate())
    const closed = once(peer.socket, 'close').then(([code]) => ({ closed: code as number }))
    peer.send(message)
    const answer = await Promise.race([peer.answer((message as Message).id), peer.answer(null), closed])
    if (!('closed' in answer)) return read(answer)
    return { code: answer.closed === 1009 ? 'too_large' : `closed with ${answer.closed}` }
  } catch (fault) {
    if (fault instanceof Refused) return { code: JSON.parse(fault.body).code }
    throw fault
  }
}

function fromJsonRpc(message: Message): Outcome {
  if ('result' in message) return { output: message.result as Json }
  return { code: (message.error as { data: { code: string } }).data.code }
}

function fromTool(message: Message): Outcome {
  const { result, error } = message as {
    result?: {
      isError?: boolean
      content: { text: string }[]
      structuredContent: Json
      _meta?: Record<string, { code?: string }>
    }
    error?: { data?: { code?: string } }
  }
  if (!result) return { code: error?.data?.code ?? JSON.stringify(error) }
  if (result.isError) return { code: String(result._meta?.['dragoman/problem']?.code) }
  return { output: result.structuredContent }
}

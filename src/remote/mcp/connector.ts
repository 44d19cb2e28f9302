import type { Client, ClientCapabilities, DiscoverResult, Transport } from '@modelcontextprotocol/client'
import type { Endpoint } from '../../../schemas/entry-parts.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { Clock } from '../../common/clock.ts'
import { createSemaphore } from '../../common/semaphore.ts'
import type { Open } from '../../net/fetch/fetch.ts'
import type { Dial } from '../../net/fetch/web-socket.ts'
import { notCallable } from '../refusal.ts'
import type { Launch } from '../remote-agent.ts'
import { type Current, type McpExchange, runAfterCall } from './exchange.ts'
import { rpcErrorIn, rpcErrorOf } from './failure.ts'
import { createExchangeFetch, maxMessageBytes, withoutListeningStream } from './fetch.ts'
import { ProcessTransport } from './process-transport.ts'
import { maxTimeout_ms, type Sdk } from './sdk.ts'
import { SessionStream } from './session-stream.ts'
import { WatchedTransport } from './watched-transport.ts'

/** The protocol of a server: 2026-07-28, `initialize` with sessions, or HTTP+SSE of 2024-11-05. */
export type Spoken =
  | { readonly kind: 'modern'; readonly discover: DiscoverResult }
  | { readonly kind: 'legacy' }
  | { readonly kind: 'sse' }

/** A connected client. Disposing it ends its session and closes its transport. */
export interface McpConnection extends AsyncDisposable {
  readonly client: Client
  readonly spoken: Spoken
  /** Sends one request, if the server speaks no revision of 2026-07-28. */
  readonly request: WatchedTransport['request']
  /** Headers of the last call: the request that ends the session carries them. */
  headers: McpExchange['headers']
  /** The caller of the last call, if the connection is shared. */
  caller?: string
  /** True if the server has given the connection a session. */
  readonly hasSession: boolean
  /** True if the error means that the server does not know the session, so that the request had no effect. */
  isExpired(error: unknown): boolean
}

export interface ConnectorOptions {
  readonly open: Open
  readonly dial: Dial
  readonly current: Current
  readonly clock: Clock
  /** Name and version of the gateway, as sent to servers. */
  readonly client: { readonly name: string; readonly version: string }
}

interface ConnectionEvents {
  closed(connection: McpConnection): void
  toolsChanged(): void
}

/** Maximum HTTP+SSE streams per endpoint: each holds a connection that no POST can use. */
const maxStreams = 8
/** The same for the streams of sessions, without which a session only hears what is tied to a call. */
const maxSessionStreams = 32

/** Statuses with which a server of HTTP+SSE refuses the stream to this caller: many know no POST at its address. */
const refusesCallerStatuses: ReadonlySet<number | undefined> = new Set([401, 403, 429])

/** Connects to one MCP server. */
export class Connector {
  readonly #endpoint: Endpoint
  readonly #options: ConnectorOptions
  readonly #events: ConnectionEvents
  readonly #url: URL
  readonly #fetch: typeof globalThis.fetch
  readonly #acquireStream = createSemaphore(maxStreams)
  #sessionStreams = 0

  constructor(endpoint: Endpoint, options: ConnectorOptions, events: ConnectionEvents) {
    this.#endpoint = endpoint
    this.#options = options
    this.#events = events
    this.#url = new URL(endpoint.url)
    this.#fetch = createExchangeFetch(options.open, options.current, options.clock)
  }

  /** Opens a connection for the running exchange; with `spoken`, the protocol is not detected again. */
  async connect(sdk: Sdk, exchange: McpExchange, spoken: Spoken | undefined): Promise<McpConnection> {
    const { protocol } = this.#url
    if (exchange.launch) return this.#openPackage(sdk, exchange, exchange.launch, spoken)
    if (protocol === 'ws:' || protocol === 'wss:') {
      return this.#open(sdk, exchange, await this.#socket(exchange), spoken)
    }
    if (this.#endpoint.binding === 'sse' || spoken?.kind === 'sse') return this.#openSse(sdk, exchange)
    try {
      return await this.#openHttp(sdk, exchange, spoken)
    } catch (error) {
      if (spoken || !isSseServer(error, sdk)) throw error
      const { refused, failure } = exchange
      return this.#openSse(sdk, exchange).catch((sseError) => {
        const hasOpened = !(sseError instanceof sdk.SseError)
        if (hasOpened || refusesCallerStatuses.has(exchange.refused?.status)) throw sseError
        // The server has neither transport. The error of the first one is reported, since the address is meant for it.
        Object.assign(exchange, { refused, failure })
        throw error
      })
    }
  }

  #openHttp(sdk: Sdk, exchange: McpExchange, spoken: Spoken | undefined): Promise<McpConnection> {
    const { current, clock } = this.#options
    const canAsk = spoken?.kind !== 'modern' && Object.keys(exchange.capabilities).length > 0
    const hasStream = canAsk && !exchange.is_listening && this.#sessionStreams < maxSessionStreams
    const stream = hasStream ? new SessionStream(exchange, current, clock) : undefined
    const fetch =
      stream?.through(this.#fetch) ??
      (exchange.is_listening ? this.#fetch : withoutListeningStream(this.#fetch))
    const settings = { fetch, reconnectionScheduler: reconnectLater }
    const transport = new sdk.StreamableHTTPClientTransport(this.#url, settings)
    if (!stream) return this.#open(sdk, exchange, transport, spoken)
    this.#sessionStreams++
    const onClosed = () => {
      this.#sessionStreams--
      stream.end()
    }
    return this.#open(sdk, exchange, transport, spoken, { onClosed, stream })
  }

  async #openSse(sdk: Sdk, exchange: McpExchange): Promise<McpConnection> {
    const slot = await this.#acquireStream(exchange.signal)
    const transport = new sdk.SSEClientTransport(this.#url, { fetch: this.#fetch })
    const onClosed = () => slot[Symbol.dispose]()
    return this.#open(sdk, exchange, transport, { kind: 'sse' }, { onClosed })
  }

  /**
   * Packages on the SDKs of 2024 and 2025 leave unanswered, or end at, what comes before `initialize`: so it comes first,
   * and `server/discover` only to a server that refuses it.
   */
  async #openPackage(
    sdk: Sdk,
    exchange: McpExchange,
    launch: Launch,
    spoken: Spoken | undefined,
  ): Promise<McpConnection> {
    const openAs = async (kind: Spoken | undefined) =>
      this.#open(sdk, exchange, await this.#process(launch, exchange), kind)
    try {
      return await openAs(spoken ?? { kind: 'legacy' })
    } catch (error) {
      if (spoken || !rpcErrorIn(error, sdk)) throw error
      return await openAs(undefined)
    }
  }

  /** The process outlives the call: its messages do not belong to the call that started it. */
  async #process(launch: Launch, { signal }: McpExchange): Promise<Transport> {
    const process = await launch.start(signal)
    return this.#options.current.exit(() => new ProcessTransport(process))
  }

  async #socket({ headers, signal }: McpExchange): Promise<Transport> {
    const [{ createWebSocketTransport }, { socketAddress }] = await Promise.all([
      import('../../common/mcp/web-socket-transport.ts'),
      import('../../common/mcp/socket-connection.ts'),
    ])
    try {
      return createWebSocketTransport(socketAddress(this.#url, Failure.secretInAddress), {
        headers,
        signal,
        create_connection: this.#options.dial(this.#url.href),
        max_bytes: maxMessageBytes,
        // The end of the call ends the handshake.
        handshake_ms: 0,
      }) as Transport
    } catch (error) {
      throw notCallable(Failure.from(error))
    }
  }

  async #open(
    sdk: Sdk,
    exchange: McpExchange,
    transport: Transport,
    spoken: Spoken | undefined,
    { onClosed = () => {}, stream }: { readonly onClosed?: () => void; readonly stream?: SessionStream } = {},
  ): Promise<McpConnection> {
    const { current, client: clientInfo } = this.#options
    const client = new sdk.Client(clientInfo, {
      capabilities: exchange.capabilities as ClientCapabilities,
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: maxTimeout_ms } },
      inputRequired: { autoFulfill: false },
      jsonSchemaValidator: unused,
    })
    client.setNotificationHandler('notifications/tools/list_changed', this.#events.toolsChanged)
    const close = async (): Promise<void> => {
      const { sessionId } = transport
      if (sessionId !== undefined) {
        const version = client.getNegotiatedProtocolVersion()
        await runAfterCall(current, connection.headers, () => this.#endSession(sessionId, version))
      }
      await client.close()
      await transport.close()
      onClosed()
    }
    const watched = new WatchedTransport(transport, current, spoken?.kind === 'sse', stream?.exchange)
    const connection: McpConnection & { spoken: Spoken } = {
      client,
      spoken: spoken ?? { kind: 'legacy' as const },
      request: watched.request.bind(watched),
      headers: exchange.headers,
      get hasSession() {
        return transport.sessionId !== undefined
      },
      isExpired: (error: unknown) => transport.sessionId !== undefined && isUnknownSession(error, sdk),
      [Symbol.asyncDispose]: close,
    }
    const { signal } = exchange
    const endStream = () => stream?.end()
    signal.addEventListener('abort', endStream, { once: true })
    try {
      const prior = priorOf(spoken)
      await client.connect(watched, {
        signal,
        timeout: maxTimeout_ms,
        ...(prior && { prior }),
      })
      if (transport.sessionId !== undefined) await stream?.opened(signal)
    } catch (error) {
      await close().catch(() => {})
      throw error
    } finally {
      signal.removeEventListener('abort', endStream)
    }
    const discover = client.getDiscoverResult()
    if (discover) connection.spoken = { kind: 'modern', discover: withoutCallerData(discover) } as Spoken
    client.onclose = () => {
      this.#events.closed(connection)
    }
    return connection
  }

  /** Ends a session, which belongs to one caller, so that the server can release it at once. */
  async #endSession(id: string, version: string | undefined): Promise<void> {
    const headers = {
      'mcp-session-id': id,
      ...(version !== undefined && { 'mcp-protocol-version': version }),
    }
    const answer = await this.#fetch(this.#url, { method: 'DELETE', headers }).catch(() => undefined)
    await answer?.body?.cancel()
  }
}

/** The SDK would validate output schemas. They are the server's own, and the router's caller checks outputs. */
const unused = {
  getValidator(): never {
    throw new Error('Output schemas are not validated here.')
  },
}

function priorOf(spoken: Spoken | undefined) {
  if (!spoken) return undefined
  return spoken.kind === 'modern' ? spoken : { kind: 'legacy' as const }
}

/** The result is stored for all callers, so data for a single caller is removed. */
function withoutCallerData({ instructions: _, _meta, ...discover }: DiscoverResult): DiscoverResult {
  return { ...discover, capabilities: {} }
}

/** Servers of 2024-11-05 refuse a POST (2025-11-25, Transports, Backwards Compatibility). */
function isSseServer(error: unknown, sdk: Sdk): boolean {
  if (!(error instanceof sdk.SdkHttpError)) return false
  return [400, 404, 405].includes(error.status) && rpcErrorOf(error.data.text) === undefined
}

/** The status is 404 (2025-11-25, Session Management); many servers answer 400 with a text about the session. */
function isUnknownSession(error: unknown, sdk: Sdk): boolean {
  if (!(error instanceof sdk.SdkHttpError)) return false
  return error.status === 404 || (error.status === 400 && /session/i.test(String(error.data.text)))
}

/** Resumes a broken stream after the server's delay, bounded to 250 ms to 5 s. */
function reconnectLater(reconnect: () => void, delay: number): () => void {
  const timer = setTimeout(reconnect, Math.min(5_000, Math.max(250, delay)))
  timer.unref()
  return () => clearTimeout(timer)
}

import type { Client, DiscoverResult, Transport } from '@modelcontextprotocol/client'
import type { Endpoint } from '../../../schemas/entry-parts.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { Clock } from '../../common/clock.ts'
import { createSemaphore } from '../../common/semaphore.ts'
import { secretRefusal } from '../../common/url-secrets.ts'
import type { Open } from '../../net/fetch/fetch.ts'
import type { Dial } from '../../net/fetch/web-socket.ts'
import { notCallable } from '../refusal.ts'
import { afterwards, type Current, type Exchange } from './exchange.ts'
import { rpcErrorOf } from './failure.ts'
import { createExchangeFetch, largestMessage, withoutStandingStream } from './fetch.ts'
import type { Sdk } from './sdk.ts'
import { watch } from './watched.ts'

/** What an endpoint was found to speak: 2026-07-28, `initialize` and its sessions, or HTTP+SSE of 2024-11-05. */
export type Spoken =
  | { readonly kind: 'modern'; readonly discover: DiscoverResult }
  | { readonly kind: 'legacy' }
  | { readonly kind: 'sse' }

/** A client that may be asked. Disposing it ends its session and closes what it holds open. */
export interface Connection extends AsyncDisposable {
  readonly client: Client
  readonly spoken: Spoken
  /** Of the call that used it last: the end of its session is said with them. */
  headers: Exchange['headers']
  /** Whether the error says that the session is no longer known, and so that nothing was done. */
  isExpired(error: unknown): boolean
}

export interface ConnectionOptions {
  readonly open: Open
  readonly dial: Dial
  readonly current: Current
  readonly clock: Clock
  /** How we name ourselves. */
  readonly client: { readonly name: string; readonly version: string }
}

export interface ConnectionEvents {
  closed(connection: Connection): void
  toolsChanged(): void
}

/** Opens a connection in the name of the running exchange; `known` saves finding out what is spoken. */
export type OpenConnection = (sdk: Sdk, exchange: Exchange, known: Spoken | undefined) => Promise<Connection>

/** The longest that a timer takes: a call ends by its signal alone. */
export const endless = 2 ** 31 - 1

/** Each stream of HTTP+SSE holds a connection that no POST can use; together they must leave some. */
const mostStreams = 8

export function createConnections(
  endpoint: Endpoint,
  options: ConnectionOptions,
  events: ConnectionEvents,
): OpenConnection {
  const { current } = options
  const url = new URL(endpoint.url)
  const fetch = createExchangeFetch(options.open, current, options.clock)
  const takePlace = createSemaphore(mostStreams)

  function streamable(sdk: Sdk): Transport {
    const settings = { fetch: withoutStandingStream(fetch), reconnectionScheduler: reconnectLater }
    return new sdk.StreamableHTTPClientTransport(url, settings)
  }

  async function socket({ headers, signal }: Exchange): Promise<Transport> {
    const [{ createWebSocketTransport }, { socketAddress }] = await Promise.all([
      import('../../common/mcp/web-socket-transport.ts'),
      import('../../common/mcp/socket-connection.ts'),
    ])
    try {
      return createWebSocketTransport(socketAddress(url, refuseSecret), {
        headers,
        signal,
        create_connection: options.dial(url.href),
        max_bytes: largestMessage,
        // The handshake ends with the call.
        handshake_ms: 0,
      }) as Transport
    } catch (error) {
      throw notCallable(Failure.from(error))
    }
  }

  async function connect(
    sdk: Sdk,
    exchange: Exchange,
    inner: Transport,
    known: Spoken | undefined,
    closed = () => {},
  ): Promise<Connection> {
    const client = new sdk.Client(options.client, {
      capabilities: {},
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: endless } },
      inputRequired: { autoFulfill: false },
      jsonSchemaValidator: unused,
    })
    client.setNotificationHandler('notifications/tools/list_changed', events.toolsChanged)
    async function close(): Promise<void> {
      const { sessionId } = inner
      if (sessionId !== undefined) {
        const version = client.getNegotiatedProtocolVersion()
        await afterwards(current, connection.headers, () => endSession(sessionId, version))
      }
      await client.close()
      await inner.close()
      closed()
    }
    const connection = {
      client,
      spoken: known ?? { kind: 'legacy' as const },
      headers: exchange.headers,
      isExpired: (error: unknown) => inner.sessionId !== undefined && isUnknownSession(error, sdk),
      [Symbol.asyncDispose]: close,
    }
    try {
      const prior = priorOf(known)
      const { signal } = exchange
      await client.connect(watch(inner, current, known?.kind === 'sse'), {
        signal,
        timeout: endless,
        ...(prior && { prior }),
      })
    } catch (error) {
      await close().catch(() => {})
      throw error
    }
    const discover = client.getDiscoverResult()
    if (discover) connection.spoken = { kind: 'modern', discover: bare(discover) } as Spoken
    client.onclose = () => {
      events.closed(connection)
    }
    return connection
  }

  /** A session is the caller's own; it is not left to the other side to find out that it is no longer used. */
  async function endSession(id: string, version: string | undefined): Promise<void> {
    const headers = {
      'mcp-session-id': id,
      ...(version !== undefined && { 'mcp-protocol-version': version }),
    }
    const answer = await fetch(url, { method: 'DELETE', headers }).catch(() => undefined)
    await answer?.body?.cancel()
  }

  return async (sdk, exchange, known) => {
    if (url.protocol === 'ws:' || url.protocol === 'wss:')
      return connect(sdk, exchange, await socket(exchange), known)
    const oldest: Spoken = { kind: 'sse' }
    const overEvents = async () => {
      const place = await takePlace(exchange.signal)
      const transport = new sdk.SSEClientTransport(url, { fetch })
      return connect(sdk, exchange, transport, oldest, () => place[Symbol.dispose]())
    }
    if (endpoint.binding === 'sse' || known?.kind === 'sse') return overEvents()
    try {
      return await connect(sdk, exchange, streamable(sdk), known)
    } catch (error) {
      if (known || !isOlder(error, sdk)) throw error
      const { refused, failure } = exchange
      return overEvents().catch(() => {
        // Two ways were tried; the first is what the address was meant for.
        Object.assign(exchange, { refused, failure })
        throw error
      })
    }
  }
}

function refuseSecret(): Failure {
  return new Failure('invalid_request', secretRefusal.message, { hint: secretRefusal.hint })
}

/** Output schemas are the other side's own; ours are checked by whoever calls. */
const unused = {
  getValidator(): never {
    throw new Error('Output schemas are not checked here.')
  },
}

function priorOf(known: Spoken | undefined) {
  if (!known) return undefined
  return known.kind === 'modern' ? known : { kind: 'legacy' as const }
}

/** What is remembered for all callers holds nothing that was said to one of them. */
function bare({ instructions: _, _meta, ...discover }: DiscoverResult): DiscoverResult {
  return { ...discover, capabilities: {} }
}

/** The rule for servers of 2024-11-05 (2025-11-25, Transports, Backwards Compatibility): a POST is refused. */
function isOlder(error: unknown, sdk: Sdk): boolean {
  if (!(error instanceof sdk.SdkHttpError)) return false
  return [400, 404, 405].includes(error.status) && rpcErrorOf(error.data.text) === undefined
}

/** 404 says it (2025-11-25, Session Management); many servers say 400 with a word about the session. */
function isUnknownSession(error: unknown, sdk: Sdk): boolean {
  if (!(error instanceof sdk.SdkHttpError)) return false
  return error.status === 404 || (error.status === 400 && /session/i.test(String(error.data.text)))
}

/** A stream that broke off is asked for again, neither at once nor whenever the other side likes. */
function reconnectLater(reconnect: () => void, delay: number): () => void {
  const timer = setTimeout(reconnect, Math.min(5_000, Math.max(250, delay)))
  timer.unref()
  return () => clearTimeout(timer)
}

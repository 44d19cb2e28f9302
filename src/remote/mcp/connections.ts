import { randomUUID } from 'node:crypto'
import type { Endpoint } from '../../../schemas/entry-parts.ts'
import { Failure } from '../../../schemas/failure.ts'
import { isPackageUrl } from '../../../schemas/package.ts'
import type { RemoteCall } from '../remote-agent.ts'
import { Connector, type ConnectorOptions, type McpConnection, type Spoken } from './connector.ts'
import type { McpExchange } from './exchange.ts'
import { failureOf, ofServer } from './failure.ts'
import { Pool } from './pool.ts'
import type { Sdk } from './sdk.ts'
import { statementOf } from './statement.ts'

/** Running packages by the keys of their launches. */
export type ProcessPool = Pool<McpConnection>

/** At most `max` processes: beyond that an idle one ends first, and if there is none, calls are refused. */
export function createProcessPool({
  max,
  idle_ms,
}: {
  readonly max: number
  readonly idle_ms: number
}): ProcessPool {
  const refuse = () =>
    new Failure('unavailable', `All ${max} processes of packages are in use.`, {
      hint: 'Try again later; DRAGOMAN_RUN_MAX sets their number.',
      retry_after_s: 5,
    })
  return new Pool({ max_items: max, idle_ms, refuse })
}

/** How long shared connections are kept, and how many. */
export interface SharingOptions {
  /** Milliseconds for which an unused session of a legacy protocol version is kept; 5 minutes when absent. */
  readonly session_idle_ms?: number
  /** Milliseconds for which an unused WebSocket is kept; 1 minute when absent. */
  readonly socket_idle_ms?: number
  /** Shared sessions or sockets per endpoint; 32 when absent. */
  readonly max_pooled?: number
  /**
   * Headers that differ between calls of one caller, such as an assertion; names in lower case. A WebSocket sends
   * headers only when it is opened, so calls share a socket if their other headers are the same.
   */
  readonly per_call_headers?: readonly string[]
}

interface ConnectionsOptions extends ConnectorOptions, SharingOptions {
  readonly processes: ProcessPool
  /** True for a caller who listens for changes: a host that is connected, whose sessions stay. */
  readonly listens?: (caller: string) => boolean
}

/**
 * The connections to one MCP server. The kind of the server decides who uses which, and until when:
 *
 * | server | a connection is of | until |
 * | --- | --- | --- |
 * | 2026-07-28 over HTTP | one call | the end of the call; the protocol that it detected stays |
 * | HTTP+SSE | one call | the end of the call |
 * | with sessions | the calls of one caller | five minutes without a call of a caller who does not listen, or the server does not know it |
 * | WebSocket | the calls of one caller with the same credentials | a minute without a call of a caller who does not listen, or it closes |
 * | package | the calls with one launch key, to any agent | it has no call for a while, or it ends |
 *
 * Calls that share also state the same client capabilities. A caller with sessions of its own does not share with one
 * without. Each subscription and each reading without a caller has a connection of its own.
 */
export class Connections implements AsyncDisposable {
  readonly #connector: Connector
  readonly #shared: Pool<McpConnection>
  readonly #isSocket: boolean
  readonly #isPackage: boolean
  readonly #perCallHeaders: readonly string[]
  /** What the server spoke last; undefined if that is not known, or was wrong. */
  #spoken: Spoken | undefined
  readonly #mayHaveSessions: boolean
  /** False once the server has refused `initialize`, or answered it without a session. */
  #hasSessions: boolean

  constructor(endpoint: Endpoint, onToolsChanged: () => void, options: ConnectionsOptions) {
    const { processes, session_idle_ms = 300_000, socket_idle_ms = 60_000, max_pooled = 32 } = options
    this.#isSocket = /^wss?:/i.test(endpoint.url)
    this.#isPackage = isPackageUrl(endpoint.url)
    this.#mayHaveSessions = endpoint.binding !== 'sse' && !this.#isPackage
    this.#hasSessions = this.#mayHaveSessions
    this.#perCallHeaders = options.per_call_headers ?? []
    const idle_ms = this.#isSocket ? socket_idle_ms : session_idle_ms
    const keeps = ({ caller }: McpConnection) => caller !== undefined && options.listens?.(caller) === true
    this.#shared = this.#isPackage ? processes : new Pool({ max_items: max_pooled, idle_ms, keeps })
    this.#connector = new Connector(endpoint, options, {
      closed: (connection) => this.#shared.drop(connection),
      toolsChanged: onToolsChanged,
    })
  }

  /** Does the work on a separate connection, or on the one that the call shares. */
  async use<Value>(
    sdk: Sdk,
    call: RemoteCall,
    exchange: McpExchange,
    work: (connection: McpConnection) => Promise<Value>,
  ): Promise<Value> {
    let isRetry = false
    while (true) {
      if (this.#spoken && !this.#isShared(this.#spoken) && !this.#wantsSession(exchange)) {
        await using connection = await this.#detect(sdk, exchange, this.#spoken)
        return await work(connection)
      }
      const done = await this.#useShared(sdk, call, exchange, work, isRetry)
      if (done) return done.value
      isRetry = true
    }
  }

  /** Does the work on a connection of its own: a subscription receives every notification of its connection. */
  async useAlone(
    sdk: Sdk,
    call: RemoteCall,
    exchange: McpExchange,
    work: (connection: McpConnection) => Promise<void>,
  ): Promise<void> {
    if (!exchange.launch) {
      await using connection = await this.#start(sdk, exchange)
      return await work(connection)
    }
    // Counted among the processes, under a key that no other call has.
    await this.#shared.use(
      `${exchange.launch.key} ${randomUUID()}`,
      call.signal,
      () => this.#start(sdk, exchange),
      (connection) => work(connection).finally(() => this.#shared.drop(connection)),
    )
  }

  /** A separate connection, for which the protocol is detected anew. */
  async open(sdk: Sdk, exchange: McpExchange): Promise<McpConnection> {
    return await this.#detect(sdk, exchange, undefined)
  }

  /** The next connection detects the protocol again. */
  forgetProtocol(): void {
    this.#spoken = undefined
    this.#hasSessions = this.#mayHaveSessions
  }

  /** Processes are not of one agent alone: they end when they are idle. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isPackage) await this.#shared[Symbol.asyncDispose]()
  }

  /** The value of the work; undefined if the connection was stale, so that the work was not done. */
  #useShared<Value>(
    sdk: Sdk,
    call: RemoteCall,
    exchange: McpExchange,
    work: (connection: McpConnection) => Promise<Value>,
    isRetry: boolean,
  ): Promise<{ readonly value: Value } | undefined> {
    let isOwn = false
    const start = () => {
      isOwn = true
      return this.#start(sdk, exchange)
    }
    return this.#shared.use(this.#keyOf(call, exchange), call.signal, start, async (connection) => {
      if (!this.#isShared(connection.spoken)) {
        this.#shared.drop(connection)
        // Another call detected the protocol of the server, and that call's connection ends with it.
        if (!isOwn) return undefined
      }
      connection.headers = exchange.headers
      connection.caller = call.caller
      try {
        return { value: await work(connection) }
      } catch (error) {
        if (!connection.isExpired(error)) throw error
        this.#shared.drop(connection)
        if (isOwn || isRetry) throw error
        return undefined
      }
    })
  }

  /** Calls with one key share a connection. */
  #keyOf(call: RemoteCall, exchange: McpExchange): string {
    const who = exchange.launch?.key ?? (this.#isSocket ? this.#socketKey(call) : call.caller)
    const suffix = this.#wantsSession(exchange) ? ' session' : ''
    return `${who} ${JSON.stringify(exchange.capabilities)}${suffix}`
  }

  #socketKey({ caller, headers }: RemoteCall): string {
    const constantHeaders = Object.entries(headers).filter(([name]) => !this.#perCallHeaders.includes(name))
    return JSON.stringify([caller, constantHeaders.sort()])
  }

  #isShared({ kind }: Spoken): boolean {
    return this.#isSocket || this.#isPackage || kind === 'legacy'
  }

  /**
   * True for a caller of a legacy protocol version at a server that may have sessions: servers of both kinds ask during
   * a call only within a session.
   */
  #wantsSession({ is_legacy = false }: McpExchange): boolean {
    return is_legacy && this.#hasSessions && this.#spoken?.kind !== 'sse'
  }

  #start(sdk: Sdk, exchange: McpExchange): Promise<McpConnection> {
    return this.#wantsSession(exchange)
      ? this.#openSession(sdk, exchange)
      : this.#detect(sdk, exchange, this.#spoken)
  }

  /** Connects for the exchange and stores the detected protocol. Errors here never concern the params. */
  async #detect(sdk: Sdk, exchange: McpExchange, spoken: Spoken | undefined): Promise<McpConnection> {
    try {
      const connection = await this.#connector.connect(sdk, exchange, spoken)
      this.#spoken = connection.spoken
      const { launch } = exchange
      if (launch?.onDescribed) launch.onDescribed(await statementOf(connection, exchange))
      return connection
    } catch (error) {
      this.#spoken = undefined
      throw ofServer(failureOf(error, exchange, exchange.signal, sdk))
    }
  }

  /** Opens a session, or detects the protocol if the server has none. */
  async #openSession(sdk: Sdk, exchange: McpExchange): Promise<McpConnection> {
    const opened = await this.#connector.connect(sdk, exchange, { kind: 'legacy' }).catch((error) => {
      const failure = failureOf(error, exchange, exchange.signal, sdk)
      const isRefused = failure.code === 'unknown_action' || failure.code === 'invalid_request'
      if (!isRefused && failure.code !== 'upstream_invalid') throw ofServer(failure)
      return undefined
    })
    if (opened && (this.#isSocket || opened.hasSession)) return opened
    this.#hasSessions = false
    if (opened && this.#spoken?.kind === 'legacy') return opened
    await opened?.[Symbol.asyncDispose]()
    return await this.#detect(sdk, exchange, this.#spoken)
  }
}

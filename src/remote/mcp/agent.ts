import { randomUUID } from 'node:crypto'
import type { Progress, StandardSchemaV1, Tool } from '@modelcontextprotocol/client'
import type { LRUCache } from 'lru-cache'

import type { Capability, Endpoint } from '../../../schemas/entry-parts.ts'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord, type JsonObject } from '../../../schemas/json.ts'
import { isPackageUrl } from '../../../schemas/package.ts'
import { abortable } from '../../common/abort.ts'
import { logLevelKey } from '../../common/mcp/protocol.ts'
import { wantsCredential } from '../refusal.ts'
import type {
  AskCaller,
  McpAnswer,
  McpReply,
  RemoteAgent,
  RemoteAnswer,
  RemoteCall,
  SelfDescription,
} from '../remote-agent.ts'
import {
  type ConnectionOptions,
  Connector,
  type McpConnection,
  maxTimeout_ms,
  type Spoken,
} from './connection.ts'
import { continued, isQuestion, questionOf } from './continuation.ts'
import { type ExchangeFacts, type McpExchange, runExchange } from './exchange.ts'
import { failureOf, failureOfRpc, isCallError, ofServer, rpcErrorIn } from './failure.ts'
import { type Listeners, listenTo } from './listen.ts'
import type { OpenCalls } from './open-calls.ts'
import { answerOf } from './output.ts'
import type { Pool } from './pool.ts'
import { createProgress } from './progress.ts'
import { checkedQuestions, offeredCapabilities, type Question } from './questions.ts'
import { loadSdk, type Sdk } from './sdk.ts'
import { selfOf } from './self.ts'
import { capabilitiesOf, listTools, readTools } from './tools.ts'

/** One request of MCP. */
interface McpCall {
  readonly method: string
  readonly params: JsonObject
}

type Work<Value> = (connection: McpConnection, exchange: McpExchange) => Promise<Value>

interface McpAgentOptions extends ConnectionOptions {
  readonly pool: Pool<McpConnection>
  /** The key of the pooled connection of a call: calls with one key share a session or a socket. */
  poolKey(call: RemoteCall): string
  /** Called when the server tells that its list of tools has changed. */
  readonly onToolsChanged?: () => void
  /** Tool lists of all servers. */
  readonly descriptions: DescriptionCache
  /** Calls of all servers in which the server waits for an answer. */
  readonly openCalls: OpenCalls
  readonly listeners: Listeners
  readonly package_name: string
  readonly own_origins: () => readonly string[]
}

/** The tools of a server as capabilities, until a time in milliseconds since the epoch. */
export interface Description {
  readonly capabilities: readonly Capability[]
  /** Those that require some of their params in headers too (SEP-2243). */
  readonly mirrored: ReadonlyMap<string, Tool>
  readonly until: number
}
type DescriptionCache = Pick<LRUCache<string, Description>, 'get' | 'set'>

const defaultTtl_ms = 60_000
const maxTtl_ms = 3_600_000
/** Replaces the caller in keys of tool lists that are the same for all callers. */
const allCallers = ''
/** SEP-2243: a header does not match the body, or is missing. */
const headerMismatch = -32020
/** 2026-07-28: the server does not support the protocol version. */
const unsupportedVersion = '-32022'

/** The result of work on a connection that turned out to be stale: the work was not done. */
const retry = Symbol('retry')

/**
 * One MCP server. The protocol version and the transport are detected once; after that a call to a server of
 * 2026-07-28 is one request. Connections that outlast a call (a session of a legacy protocol version, a socket) are
 * kept per caller; HTTP+SSE is opened for each call.
 */
export class McpAgent implements RemoteAgent {
  readonly #options: McpAgentOptions
  readonly #isSocket: boolean
  readonly #isPackage: boolean
  readonly #pool: Pool<McpConnection>
  readonly #connector: Connector
  readonly #id = randomUUID()
  /** Counts changes of the tool list. It is part of the cache key, so that older lists are not found. */
  #generation = 0
  #spoken: Spoken | undefined
  /** False once the server has refused `initialize`. */
  #hasSessions: boolean

  constructor(endpoint: Endpoint, options: McpAgentOptions) {
    this.#options = options
    this.#isSocket = /^wss?:/i.test(endpoint.url)
    this.#isPackage = isPackageUrl(endpoint.url)
    this.#hasSessions = endpoint.binding !== 'sse' && !this.#isPackage
    this.#pool = options.pool
    this.#connector = new Connector(endpoint, options, {
      closed: (connection) => this.#pool.drop(connection),
      toolsChanged: () => {
        this.#generation++
        options.onToolsChanged?.()
      },
    })
  }

  async call(action: string, params: JsonObject, call: RemoteCall): Promise<RemoteAnswer> {
    const request = call.task ? continued(call.task, params) : { name: action, arguments: params }
    const meta = call.content?.protocol === 'mcp' ? { _meta: call.content.meta } : {}
    try {
      const reply = await this.request('tools/call', { ...request, ...meta }, call)
      if ('refused' in reply) return reply
      if ('error' in reply) throw failureOfRpc(reply.error)
      const { result } = reply
      if (isQuestion(result)) return questionOf(request, result)
      return answerOf(result, String(request.name), await loadSdk())
    } catch (thrown) {
      return refusedOr(thrown)
    }
  }

  async request(method: string, params: JsonObject, call: RemoteCall): Promise<McpAnswer> {
    try {
      if (method === 'server/discover') return { result: await this.#discover(call) }
      return await this.#options.openCalls.run(params, call, (lasting, ask) =>
        this.#send({ method, params }, lasting, ask),
      )
    } catch (thrown) {
      return refusedOr(thrown)
    }
  }

  async listen(filter: JsonObject, call: RemoteCall): Promise<void> {
    using _ = this.#options.listeners.add(call.caller)
    const facts = { ...(await permitted(call)), is_listening: true }
    await this.#exchange(facts, async (sdk, exchange) => {
      // A process of its own: notifications of a shared one would reach other callers.
      if (exchange.launch) {
        const key = `${exchange.launch.key} ${randomUUID()}`
        return await this.#pool.use(
          key,
          call.signal,
          () => this.#open(sdk, exchange, this.#spoken),
          (connection) => listenTo(connection, filter, exchange).finally(() => this.#pool.drop(connection)),
        )
      }
      await using connection = this.#wantsSession(exchange)
        ? await this.#openSession(sdk, exchange)
        : await this.#open(sdk, exchange, this.#spoken)
      await listenTo(connection, filter, exchange)
    })
  }

  /**
   * Sends only `server/discover` or `initialize`, which keeps the probe cheap. An answer proves that the server speaks
   * MCP.
   */
  async probe(call: Pick<RemoteCall, 'signal' | 'headers'>): Promise<Failure | undefined> {
    const opened = this.#exchange({ ...call, capabilities: {} }, async (sdk, exchange) => {
      await using _ = await this.#open(sdk, exchange, undefined)
    })
    return await opened.then(
      () => undefined,
      (thrown) => refusedOr(thrown).refused,
    )
  }

  /** What the server states about itself: its capabilities and its instructions (DiscoverResult). */
  async #discover(call: RemoteCall): Promise<JsonObject> {
    return await this.#exchange(await permitted(call), (sdk, exchange) =>
      this.#withConnection(sdk, call, exchange, async ({ client, spoken }) => {
        if (spoken.kind === 'modern') {
          const request = { method: 'server/discover', params: {} }
          return await client.request(request, verbatim, { signal: exchange.signal, timeout: maxTimeout_ms })
        }
        const instructions = client.getInstructions()
        return {
          capabilities: (client.getServerCapabilities() ?? {}) as JsonObject,
          ...(instructions !== undefined && { instructions }),
        }
      }),
    )
  }

  async #send(request: McpCall, call: RemoteCall, ask: AskCaller): Promise<McpReply> {
    const progress = createProgress(call.emit)
    const { package_name, own_origins } = this.#options
    const asker = { package_name, own_origins }
    const own = await permitted(call, ask)
    const { capabilities } = own
    const facts: ExchangeFacts = {
      ...own,
      async ask(question) {
        const { only } = checkedQuestions({ only: { ...question } }, capabilities, asker)
        return await ask(only as unknown as Question)
      },
    }
    return await this.#exchange(facts, async (sdk, exchange) => {
      try {
        const result = await this.#withConnection(sdk, call, exchange, (connection) =>
          this.#pass(sdk, connection, exchange, request, { caller: call.caller, onprogress: progress.take }),
        )
        const passing = progress.done()
        if (passing !== undefined) await abortable(passing, exchange.signal)
        if (!isQuestion(result)) return { result }
        const inputRequests = checkedQuestions(result.inputRequests ?? {}, capabilities, asker)
        return { result: { ...result, inputRequests } }
      } catch (error) {
        const rpc = rpcErrorIn(error, sdk)
        if (!rpc || rpc.data instanceof Failure || String(rpc.code) === unsupportedVersion) throw error
        return {
          error: { code: rpc.code, message: rpc.message, ...(rpc.data !== undefined && { data: rpc.data }) },
        }
      }
    })
  }

  /** Sends one request; a tool that wants params in headers too is looked up where the server misses them. */
  async #pass(
    sdk: Sdk,
    connection: McpConnection,
    exchange: McpExchange,
    { method, params: sent }: McpCall,
    { caller, onprogress }: { caller: string; onprogress: (progress: Progress) => void },
  ): Promise<JsonObject> {
    const { client, spoken } = connection
    const { log_level } = exchange
    const logs = spoken.kind === 'modern' && log_level !== undefined
    const params: JsonObject = logs ? { ...sent, _meta: { ...metaIn(sent), [logLevelKey]: log_level } } : sent
    if (spoken.kind === 'modern' && withoutAnswer.has(method)) return {}
    const options = { signal: exchange.signal, timeout: maxTimeout_ms, onprogress, allowInputRequired: true }
    const send = async (toolDefinition: Tool | undefined): Promise<JsonObject> => {
      if (!toolDefinition) return await client.request({ method, params }, verbatim, options)
      const named = params as unknown as Parameters<typeof client.callTool>[0]
      return (await client.callTool(named, { ...options, toolDefinition })) as unknown as JsonObject
    }
    const name = method === 'tools/call' ? String(params.name) : ''
    try {
      return await send(this.#mirroredTool(name, caller))
    } catch (error) {
      const isMissing = error instanceof sdk.ProtocolError && error.code === headerMismatch
      if (!isMissing || method !== 'tools/call') throw error
      const { mirrored } = await this.#list(connection, exchange, caller)
      return await send(mirrored.get(name))
    }
  }

  async describe(call: RemoteCall): Promise<readonly Capability[]> {
    const now = this.#options.clock()
    const cached = this.#descriptionsFor(call.caller).find(({ until }) => until > now)
    if (cached) return cached.capabilities
    const { capabilities } = await this.#exchange(await permitted(call), (sdk, exchange) =>
      this.#withConnection(sdk, call, exchange, (connection) =>
        this.#list(connection, exchange, call.caller),
      ),
    )
    return capabilities
  }

  async read({
    permit,
    ...call
  }: Pick<RemoteCall, 'signal' | 'headers' | 'permit'>): Promise<SelfDescription> {
    const launch = await permit?.()
    return await this.#exchange(
      { ...call, capabilities: {}, ...(launch && { launch }) },
      async (sdk, exchange) => {
        await using connection = await this.#open(sdk, exchange, undefined)
        return await statementOf(connection, exchange)
      },
    )
  }

  /** Processes are not of one agent alone: they end when they are idle. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isPackage) await this.#pool[Symbol.asyncDispose]()
  }

  /** The cached lists of tools that a caller may see, whether or not they are fresh. */
  #descriptionsFor(caller: string): readonly Description[] {
    const keys = [allCallers, caller].map((whose) => this.#descriptionKey(whose))
    return keys.flatMap((key) => this.#options.descriptions.get(key) ?? [])
  }

  /** An old list will do: a server that wants other headers now refuses the call, and is asked for its list. */
  #mirroredTool(name: string, caller: string): Tool | undefined {
    const lists = this.#descriptionsFor(caller)
    return lists.findLast(({ mirrored }) => mirrored.has(name))?.mirrored.get(name)
  }

  #descriptionKey(caller: string): string {
    return `${this.#id} ${this.#generation} ${caller}`
  }

  /** Connects for the exchange and stores the detected protocol. Errors here never concern the params. */
  async #open(sdk: Sdk, exchange: McpExchange, spoken: Spoken | undefined): Promise<McpConnection> {
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

  #isPooled({ kind }: Spoken): boolean {
    return this.#isSocket || this.#isPackage || kind === 'legacy'
  }

  /** Does the work on a separate connection, or on the pooled connection of the caller. */
  async #withConnection<Value>(
    sdk: Sdk,
    call: RemoteCall,
    exchange: McpExchange,
    work: Work<Value>,
    isRetry = false,
  ): Promise<Value> {
    const session = this.#wantsSession(exchange)
    if (!session && this.#spoken && !this.#isPooled(this.#spoken)) {
      await using connection = await this.#open(sdk, exchange, this.#spoken)
      return await work(connection, exchange)
    }
    let isOwn = false
    const start = () => {
      isOwn = true
      return session ? this.#openSession(sdk, exchange) : this.#open(sdk, exchange, this.#spoken)
    }
    const suffix = session ? ' session' : ''
    const caller = exchange.launch?.key ?? this.#options.poolKey(call)
    const key = `${caller} ${JSON.stringify(exchange.capabilities)}${suffix}`
    const value = await this.#pool.use(key, call.signal, start, async (connection) => {
      if (!this.#isPooled(connection.spoken)) {
        this.#pool.drop(connection)
        // Another call detected the protocol of the server, and that call's connection ends with it.
        if (!isOwn) return retry
      }
      connection.headers = exchange.headers
      try {
        return await work(connection, exchange)
      } catch (error) {
        if (!connection.isExpired(error)) throw error
        this.#pool.drop(connection)
        if (isOwn || isRetry) throw error
        return retry
      }
    })
    return value === retry ? this.#withConnection(sdk, call, exchange, work, true) : (value as Value)
  }

  /**
   * True for a caller of a legacy protocol version at a server that may have sessions: servers of both kinds ask during
   * a call only within a session.
   */
  #wantsSession({ is_legacy = false }: McpExchange): boolean {
    return is_legacy && this.#hasSessions && this.#spoken?.kind !== 'sse'
  }

  /** Opens a session, or detects the protocol if the server has none. */
  async #openSession(sdk: Sdk, exchange: McpExchange): Promise<McpConnection> {
    try {
      return await this.#connector.connect(sdk, exchange, { kind: 'legacy' })
    } catch (error) {
      const failure = failureOf(error, exchange, exchange.signal, sdk)
      const isRefused = failure.code === 'unknown_action' || failure.code === 'invalid_request'
      if (!isRefused && failure.code !== 'upstream_invalid') throw ofServer(failure)
      this.#hasSessions = false
      return await this.#open(sdk, exchange, this.#spoken)
    }
  }

  /** Does the work in one exchange; throws only Failure. */
  async #exchange<Value>(
    call: ExchangeFacts,
    work: (sdk: Sdk, exchange: McpExchange) => Promise<Value>,
  ): Promise<Value> {
    const sdk = await loadSdk()
    return runExchange(this.#options.current, call, async (exchange) => {
      try {
        if (call.signal.aborted) throw call.signal.reason
        return await work(sdk, exchange)
      } catch (error) {
        const failure = failureOf(error, exchange, call.signal, sdk)
        // The server may have changed its protocol version.
        const isStale =
          failure.code === 'upstream_invalid' || failure.details.upstream?.code === unsupportedVersion
        if (isStale) this.#spoken = undefined
        throw failure
      }
    })
  }

  /** Reads the list of tools that the server shows the caller, and keeps it. */
  async #list({ client }: McpConnection, { signal }: McpExchange, caller: string): Promise<Description> {
    const { clock, descriptions } = this.#options
    // Made before the list is read: it may change while it is on its way.
    const shared = this.#descriptionKey(allCallers)
    const own = this.#descriptionKey(caller)
    const { tools, ttl_ms, is_public } = await listTools(client, { signal, timeout: maxTimeout_ms })
    const capabilities = capabilitiesOf(tools)
    const until = clock() + Math.min(ttl_ms ?? defaultTtl_ms, maxTtl_ms)
    const description = { capabilities, mirrored: mirroredIn(capabilities), until }
    descriptions.set(is_public ? shared : own, description)
    return description
  }
}

/** The tools whose schemas name headers; the schemas are those of the capabilities, so that they are kept once. */
function mirroredIn(capabilities: readonly Capability[]): ReadonlyMap<string, Tool> {
  const mirrored = capabilities.filter(({ input_schema }) =>
    JSON.stringify(input_schema ?? {}).includes('"x-mcp-header"'),
  )
  return new Map(
    mirrored.map(({ name, input_schema }) => [
      name,
      { name, inputSchema: input_schema as Tool['inputSchema'] },
    ]),
  )
}

/** Methods of legacy protocol versions that a server of 2026-07-28 needs no request for. */
const withoutAnswer = new Set(['logging/setLevel', 'resources/subscribe', 'resources/unsubscribe'])

/** Takes a result as the server wrote it. */
const verbatim: StandardSchemaV1<unknown, JsonObject> = {
  '~standard': {
    version: 1,
    vendor: 'dragoman',
    validate: (value: unknown) => ({ value: value as JsonObject }),
  },
}

function metaIn({ _meta }: JsonObject): JsonObject {
  return isRecord(_meta) ? (_meta as JsonObject) : {}
}

function factsOf({ signal, headers, content, notifyClient, onActivity }: RemoteCall): ExchangeFacts {
  const { capabilities, log_level, era } = content?.protocol === 'mcp' ? content : {}
  return {
    signal,
    headers,
    capabilities: offeredCapabilities(capabilities),
    is_legacy: era === 'legacy',
    ...(log_level !== undefined && { log_level }),
    onActivity,
    ...(notifyClient && { notifyClient }),
  }
}

/** The facts of a call, with how the server is started if it is a package that may run for the caller. */
async function permitted(call: RemoteCall, ask?: AskCaller): Promise<ExchangeFacts> {
  const facts = factsOf(call)
  return call.permit ? { ...facts, launch: await call.permit(ask) } : facts
}

async function statementOf({ client }: McpConnection, { signal }: McpExchange): Promise<SelfDescription> {
  const { tools, is_cut } = await readTools(client, { signal, timeout: maxTimeout_ms })
  return { ...selfOf(client), capabilities: capabilitiesOf(tools), is_cut }
}

/** A server that asks for a credential, or rejects a call with an error of its own, works; it refuses this caller. */
function refusedOr(thrown: unknown): { readonly refused: Failure } {
  const failure = Failure.from(thrown)
  if (wantsCredential(failure) || isCallError(Number(failure.details.upstream?.code)))
    return { refused: failure }
  throw failure
}

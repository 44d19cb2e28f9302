import type { Progress, StandardSchemaV1, Tool } from '@modelcontextprotocol/client'
import type { Capability, ServerStatement } from '../../../schemas/entry-parts.ts'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord, type Json, type JsonObject } from '../../../schemas/json.ts'
import { abortable } from '../../common/abort.ts'
import { type Eventual, withValue } from '../../common/eventual.ts'
import type { RpcError } from '../../common/mcp/message.ts'
import { logLevelKey } from '../../common/mcp/protocol.ts'
import { wantsCredential } from '../refusal.ts'
import {
  type AskCaller,
  descriptionCall,
  type McpReply,
  type Question,
  type Refused,
  type RemoteAgent,
  type RemoteAnswer,
  type RemoteCall,
} from '../remote-agent.ts'
import { type Audience, ofFilter, ofOtherSession } from './changes.ts'
import type { Connections } from './connections.ts'
import type { McpConnection } from './connector.ts'
import { continued, isQuestion, questionOf } from './continuation.ts'
import { type Current, type ExchangeFacts, type McpExchange, runExchange } from './exchange.ts'
import { failureOf, failureOfRpc, isCallError, rpcErrorIn } from './failure.ts'
import { type Listeners, listenTo } from './listen.ts'
import type { OpenCalls } from './open-calls.ts'
import { answerOf } from './output.ts'
import { permitted } from './permitted.ts'
import { createProgress } from './progress.ts'
import { checkedError, checkedQuestions, offeredCapabilities } from './questions.ts'
import { loadSdk, maxTimeout_ms, type Sdk } from './sdk.ts'
import { statementOf } from './statement.ts'
import type { ToolLists } from './tools.ts'

/** One request of MCP. */
interface McpCall {
  readonly method: string
  readonly params: JsonObject
}

interface McpAgentOptions {
  readonly connections: Connections
  readonly tools: ToolLists
  readonly current: Current
  /** Calls of all servers in which the server waits for an answer. */
  readonly openCalls: OpenCalls
  readonly listeners: Listeners
  readonly audience: Audience
  readonly package_name: string
  readonly own_origins: () => readonly string[]
}

/** SEP-2243: a header does not match the body, or is missing. */
const headerMismatch = -32020
/** 2026-07-28: the server does not support the protocol version. */
const unsupportedVersion = '-32022'

/**
 * One MCP server. The protocol version and the transport are detected once; after that a call to a server of
 * 2026-07-28 is one request.
 */
export class McpAgent implements RemoteAgent {
  readonly #options: McpAgentOptions

  constructor(options: McpAgentOptions) {
    this.#options = options
  }

  async call(action: string, params: JsonObject, call: RemoteCall): Promise<RemoteAnswer> {
    const request = call.task ? continued(call.task, params) : { name: action, arguments: params }
    const meta = call.content?.protocol === 'mcp' ? { _meta: call.content.meta } : {}
    try {
      const reply =
        request.name === descriptionCall
          ? await this.#describeAsked(request, call)
          : await this.request('tools/call', { ...request, ...meta }, call)
      if ('refused' in reply) return reply
      if ('error' in reply) return refusedBy(reply.error)
      const { result } = reply
      if (isQuestion(result)) return questionOf(request, result)
      if (request.name === descriptionCall) return { output: result }
      return answerOf(result, String(request.name), await loadSdk())
    } catch (thrown) {
      return refusedOr(thrown)
    }
  }

  async request(method: string, params: JsonObject, call: RemoteCall): Promise<McpReply | Refused> {
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
    const { caller, content, notifyClient = async () => {} } = call
    using _ = this.#options.listeners.add(caller)
    const isLegacy = content?.protocol === 'mcp' && content.era === 'legacy'
    const notify = ofFilter(filter, notifyClient)
    const join = () => this.#options.audience.add(caller, ofOtherSession(filter, isLegacy, notify))
    const facts = { ...(await this.#factsOf(call)), is_listening: true, notifyClient: notify }
    await this.#exchange(facts, (sdk, exchange) =>
      this.#options.connections.useAlone(sdk, call, exchange, (connection) =>
        listenTo(connection, filter, exchange, join),
      ),
    )
  }

  /**
   * Sends only `server/discover` or `initialize`, which keeps the probe cheap. An answer proves that the server speaks
   * MCP.
   */
  async probe(call: Pick<RemoteCall, 'signal' | 'headers'>): Promise<Failure | undefined> {
    const opened = this.#exchange({ ...call, capabilities: {} }, async (sdk, exchange) => {
      await using _ = await this.#options.connections.open(sdk, exchange)
    })
    return await opened.then(
      () => undefined,
      (thrown) => refusedOr(thrown).refused,
    )
  }

  /** What the server states about itself: its capabilities and its instructions (DiscoverResult). */
  async #discover(call: RemoteCall): Promise<JsonObject> {
    return await this.#exchange(await this.#factsOf(call), (sdk, exchange) =>
      this.#options.connections.use(sdk, call, exchange, async ({ client, spoken }) => {
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
    const own = await this.#factsOf(call, ask)
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
        const result = await this.#options.connections.use(sdk, call, exchange, (connection) =>
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
        return { error: checkedError(rpc, capabilities, asker) }
      }
    })
  }

  /** Sends one request; a tool that wants params in headers too is looked up where the server misses them. */
  async #pass(
    sdk: Sdk,
    { client, spoken, request }: McpConnection,
    exchange: McpExchange,
    { method, params: sent }: McpCall,
    { caller, onprogress }: { caller: string; onprogress: (progress: Progress) => void },
  ): Promise<JsonObject> {
    if (spoken.kind !== 'modern') {
      const reply = await request(method, sent, onprogress)
      if ('result' in reply) return reply.result
      // Not `fromError`: it changes the code of an unknown resource, and drops data.
      throw new sdk.ProtocolError(reply.error.code, reply.error.message, reply.error.data)
    }
    if (withoutAnswer.has(method)) return {}
    const { tools } = this.#options
    const { log_level } = exchange
    const params: JsonObject =
      log_level === undefined ? sent : { ...sent, _meta: { ...metaIn(sent), [logLevelKey]: log_level } }
    const options = { signal: exchange.signal, timeout: maxTimeout_ms, onprogress, allowInputRequired: true }
    const send = async (toolDefinition: Tool | undefined): Promise<JsonObject> => {
      if (!toolDefinition) return await client.request({ method, params }, verbatim, options)
      const named = params as unknown as Parameters<typeof client.callTool>[0]
      return (await client.callTool(named, { ...options, toolDefinition })) as unknown as JsonObject
    }
    const name = method === 'tools/call' ? String(params.name) : ''
    try {
      // A process is sent no headers.
      return await send(exchange.launch ? undefined : tools.mirroredTool(name, caller))
    } catch (error) {
      const isMissing = error instanceof sdk.ProtocolError && error.code === headerMismatch
      if (!isMissing || method !== 'tools/call') throw error
      const { mirrored } = await tools.read(client, exchange.signal, caller)
      return await send(mirrored.get(name))
    }
  }

  async describe(call: RemoteCall): Promise<readonly Capability[]> {
    return this.#options.tools.fresh(call.caller) ?? (await this.#readTools(call))
  }

  /** The capabilities of a package, whose caller is asked first whether it may run. */
  #describeAsked(request: JsonObject, call: RemoteCall): Promise<McpReply> {
    return this.#options.openCalls.run(request, call, async (lasting, ask) => {
      const capabilities = await this.#readTools(lasting, ask)
      return { result: { capabilities: capabilities as unknown as Json } }
    })
  }

  async #readTools(call: RemoteCall, ask?: AskCaller): Promise<readonly Capability[]> {
    const { connections, tools } = this.#options
    const { capabilities } = await this.#exchange(await this.#factsOf(call, ask), (sdk, exchange) =>
      connections.use(sdk, call, exchange, ({ client }) => tools.read(client, exchange.signal, call.caller)),
    )
    return capabilities
  }

  async read({
    permit,
    ...call
  }: Pick<RemoteCall, 'signal' | 'headers' | 'permit'>): Promise<ServerStatement> {
    const launch = await permit?.({ signal: call.signal, progress() {} })
    return await this.#exchange(
      { ...call, capabilities: {}, ...(launch && { launch }) },
      async (sdk, exchange) => {
        await using connection = await this.#options.connections.open(sdk, exchange)
        return await statementOf(connection, exchange)
      },
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#options.connections[Symbol.asyncDispose]()
  }

  /** The facts of a call, with how the server is started if it is a package that may run for the caller. */
  #factsOf(call: RemoteCall, ask?: AskCaller): Eventual<ExchangeFacts> {
    const { caller, signal, headers, content, notifyClient, onActivity, permit } = call
    const { capabilities, log_level, era } = content?.protocol === 'mcp' ? content : {}
    return withValue(permit && permitted(permit, call, ask), (launch) => ({
      signal,
      headers,
      capabilities: offeredCapabilities(capabilities),
      is_legacy: era === 'legacy',
      announce: (...notification) => this.#options.audience.tell(caller, ...notification),
      ...(log_level !== undefined && { log_level }),
      onActivity,
      ...(notifyClient && { notifyClient }),
      ...(launch && { launch }),
    }))
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
        if (isStale) this.#options.connections.forgetProtocol()
        throw failure
      }
    })
  }
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

/** The SDKs in Java, Ruby and Rust answer so for a tool that throws. */
const internalError = -32603

/** The answer of a server that works. Throws Failure for an error that means a broken one. */
function refusedBy(error: RpcError): Refused {
  const failure = failureOfRpc(error)
  if (error.code !== internalError) return refusedOr(failure)
  const { code, message, details } = failure
  return { refused: new Failure(code, message, { retryable: false, ...details }) }
}

/** A server that asks for a credential, or rejects a call with an error of its own, works; it refuses this caller. */
function refusedOr(thrown: unknown): Refused {
  const failure = Failure.from(thrown)
  if (wantsCredential(failure) || isCallError(Number(failure.details.upstream?.code)))
    return { refused: failure }
  throw failure
}

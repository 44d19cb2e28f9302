import type { EntryDetail } from '../../../schemas/card.ts'
import { isRecord, type JsonObject } from '../../../schemas/json.ts'
import { listedActions } from '../../../schemas/names.ts'
import { inputRequiredIn } from '../../../schemas/task.ts'
import { hidesCharacters } from '../../../schemas/text.ts'
import { modernVersion } from '../../common/mcp/protocol.ts'
import { isChallenge } from '../http/challenge.ts'
import type { TransportContext } from '../shared/transport-context.ts'
import { factsOf } from './client-facts.ts'
import { createLegacy, type LegacyClients, type LegacyMethod } from './protocol-2025/legacy.ts'
import { Fault } from './protocol-2026/fault.ts'
import { createModern, type McpMethod } from './protocol-2026/protocol.ts'
import { createResultWriter } from './protocol-2026/result.ts'
import type { McpService } from './service.ts'
import { type CallTool, createCallTool, signInQuestion, withNext } from './views/calls.ts'
import { type ClientExchange, createForward, type Forward } from './views/forward.ts'
import { failedResult, problemResult, succeeded } from './views/results.ts'
import { createSubscribe, listenBy } from './views/subscriptions.ts'
import { continueTask, type Tool } from './views/tools.ts'

interface ForwardedOptions {
  readonly context: TransportContext
  readonly entry: EntryDetail
  readonly info: JsonObject
  readonly instructions: string
  /** The tools of the entry, for callers for whom the server itself cannot be asked. */
  readonly tools: readonly object[]
  readonly onError: (fault: unknown) => void
  readonly clients: LegacyClients
  /** Aborts when the gateway stops: subscriptions end then. */
  readonly ending?: AbortSignal | undefined
}

/** Methods whose result a client may keep (2026-07-28, Caching); a server of a legacy protocol version says nothing. */
const lists = ['tools/list', 'resources/list', 'resources/templates/list', 'resources/read', 'prompts/list']
const calls = ['tools/call', 'prompts/get', 'completion/complete']
const legacyOnly = ['resources/subscribe', 'resources/unsubscribe', 'logging/setLevel']
const unknownFreshness = { ttlMs: 0, cacheScope: 'private' } as const
const maxInstructions = 4000

/** A listed MCP server behind this gateway, in every protocol version. */
export function createForwardedService(options: ForwardedOptions): McpService {
  const { context, entry, info, onError } = options
  const server = new ForwardedServer(options)
  const subscribe = createSubscribe(context, entry.package_name, options.ending)
  const { write } = createResultWriter(info)
  const named = (names: readonly string[], freshness?: typeof unknownFreshness) =>
    names.map((method): [string, McpMethod] => [
      method,
      async (params, exchange) => {
        const result = await server.answer(method, params, { ...exchange, facts: factsOf(exchange.meta) })
        return write({ ...freshness, ...result })
      },
    ])
  const modern = createModern({
    onError,
    methods: {
      async 'server/discover'(_, exchange) {
        const stated = await server.describe({ ...exchange, facts: factsOf(exchange.meta) })
        return write({ supportedVersions: [modernVersion], ...stated, ...unknownFreshness })
      },
      'subscriptions/listen': listenBy(subscribe, write),
      ...Object.fromEntries([...named(lists, unknownFreshness), ...named(calls)]),
    },
  })
  const legacyMethods = [...lists, ...calls, ...legacyOnly].map((method): [string, LegacyMethod] => [
    method,
    (params, exchange) => server.answer(method, params, exchange),
  ])
  const legacy = createLegacy({
    onError,
    clients: options.clients,
    agent: entry.package_name,
    subscribe,
    streams: true,
    methods: Object.fromEntries(legacyMethods),
    describe: async (exchange) => ({ ...(await server.describe(exchange)), serverInfo: info }),
  })
  return { modern, legacy }
}

/** Passes every request on, and every answer back as it is; adds two tools of the gateway where a client needs them. */
class ForwardedServer {
  readonly #options: ForwardedOptions
  readonly #forward: Forward
  readonly #callTool: CallTool
  readonly #continuation: Tool
  readonly #connection: ReturnType<typeof connectionTool>
  readonly #fallback: object

  constructor(options: ForwardedOptions) {
    const { context, entry, tools } = options
    this.#options = options
    this.#forward = createForward(context, entry.package_name)
    this.#continuation = continueTask(entry.package_name)
    this.#connection = connectionTool(entry.package_name)
    this.#callTool = createCallTool(context, new Map([[this.#continuation.listing.name, this.#continuation]]))
    this.#fallback = Object.freeze({ tools })
  }

  async answer(
    method: string,
    params: Readonly<Record<string, unknown>>,
    exchange: ClientExchange,
  ): Promise<object> {
    const { tools, entry } = this.#options
    try {
      const own = isContinuation(method, params)
        ? await this.#continued(params, exchange)
        : await this.#connected(method, params, exchange)
      const result = own ?? (await this.#forward(method, params, exchange))
      if (method === 'tools/list') return this.#withContinuation(result, exchange)
      const { structuredContent } = result
      if (method !== 'tools/call' || !inputRequiredIn(structuredContent)) return result
      return { ...result, ...succeeded(withNext(structuredContent as JsonObject)) }
    } catch (thrown) {
      const failure = thrown instanceof Fault ? thrown.failure : undefined
      if (!failure) throw thrown
      const question = params.requestState === undefined ? signInQuestion(failure, exchange.facts) : undefined
      if (question) return question
      if (method === 'tools/list' && tools.length > 0 && params.cursor === undefined) return this.#fallback
      const hasNoTools = failure.code === 'sign_in_required' && method === 'tools/list'
      if (hasNoTools) return this.#withContinuation({ tools: [this.#connection] }, exchange)
      const isHidden = method !== 'tools/call' || isChallenge(failure) || failure.code === 'invalid_request'
      if (isHidden) throw thrown
      return problemResult((thrown as Fault).data as JsonObject, this.#placeOf(exchange), entry.package_name)
    }
  }

  /**
   * The answer of our own tool `connect_agent`: a server that lists its tools needs no sign-in. Undefined for any other
   * request, and if the server has a tool of that name.
   */
  async #connected(
    method: string,
    { name }: Readonly<Record<string, unknown>>,
    exchange: ClientExchange,
  ): Promise<JsonObject | undefined> {
    if (method !== 'tools/call' || name !== this.#connection.name) return undefined
    const { tools: listed } = await this.#forward('tools/list', {}, exchange)
    const isTheirs = Array.isArray(listed) && listed.some((tool) => isRecord(tool) && tool.name === name)
    return isTheirs
      ? undefined
      : (succeeded({ connected: true, next: 'List the tools again.' }) as JsonObject)
  }

  /** The answer to a question; undefined for a task of the server's own tool of that name. */
  async #continued(
    params: Readonly<Record<string, unknown>>,
    exchange: ClientExchange,
  ): Promise<JsonObject | undefined> {
    const outcome = await this.#callTool(params, exchange, exchange.facts)
    if ('question' in outcome) return { ...outcome.question }
    if ('output' in outcome) {
      return succeeded(outcome.output, outcome.mark, outcome.content) as JsonObject
    }
    // Another reference than one of this gateway: the server may have a tool of that name.
    const isForeign = outcome.failure.details.errors?.some(({ pointer }) => pointer === '/task_id')
    if (outcome.failure.code === 'not_found' && isForeign) return undefined
    return failedResult(outcome, this.#placeOf(exchange)) as JsonObject
  }

  #placeOf({ caller }: ClientExchange) {
    return { ...caller, ...this.#options.context.site() }
  }

  /** The tools, with the one that answers questions for clients that cannot be asked. */
  #withContinuation(result: JsonObject, { facts }: ClientExchange): JsonObject {
    const { tools: listed, nextCursor } = result
    const { elicitation, sampling } = facts.capabilities
    if (!Array.isArray(listed) || nextCursor !== undefined || (elicitation ?? sampling) !== undefined) {
      return result
    }
    const isTaken = listed.some((tool) => isRecord(tool) && tool.name === this.#continuation.listing.name)
    return isTaken
      ? result
      : { ...result, tools: [...listed, this.#continuation.listing as unknown as JsonObject] }
  }

  /** What the server states about itself, under the name that the registry has for it. */
  async describe(exchange: ClientExchange): Promise<JsonObject> {
    const stated = await this.#forward('server/discover', {}, exchange).catch((thrown) => {
      const code = thrown instanceof Fault ? thrown.failure?.code : undefined
      const isClosed = code === 'sign_in_required' || code === 'approval_required'
      const hasTools = thrown instanceof Fault && this.#options.tools.length > 0
      if (isClosed || hasTools) return { capabilities: { tools: {} } } as JsonObject
      throw thrown
    })
    const { capabilities, instructions } = stated
    const words =
      typeof instructions === 'string' && !hidesCharacters(instructions)
        ? ` It says: ${instructions.slice(0, maxInstructions)}`
        : ''
    return {
      capabilities: isRecord(capabilities) ? (capabilities as JsonObject) : {},
      instructions: `${this.#options.instructions}${words}`,
    }
  }
}

/** The only tool for a caller who has not signed in to a server that lists its tools after that. */
function connectionTool(packageName: string) {
  const title = 'Sign in to the agent'
  return {
    name: 'connect_agent',
    title,
    description: `Answers the address at which the user signs in to ${packageName}. Its tools are listed after that.`,
    inputSchema: { type: 'object', properties: {} },
    annotations: { title, readOnlyHint: true, openWorldHint: true },
  }
}

/** True for the answer to a question that a client received as the result of a tool. */
function isContinuation(
  method: string,
  { name, arguments: input }: Readonly<Record<string, unknown>>,
): boolean {
  return (
    method === 'tools/call' &&
    name === listedActions.continuation &&
    isRecord(input) &&
    typeof input.task_id === 'string'
  )
}

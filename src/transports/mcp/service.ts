import { isRecord, type JsonObject } from '../../../schemas/json.ts'
import { modernVersion } from '../../common/mcp/protocol.ts'
import { createPaced, type OnChange } from '../../common/paced.ts'
import { isChallenge } from '../http/challenge.ts'
import type { TransportContext } from '../shared/transport-context.ts'
import { type ClientFacts, factsOf } from './client-facts.ts'
import { createLegacy, type Legacy, LegacyClients, type LegacyMethod } from './protocol-2025/legacy.ts'
import { Fault, faults } from './protocol-2026/fault.ts'
import { createModern, type Exchange, type McpMethod, type Modern } from './protocol-2026/protocol.ts'
import { createResultWriter } from './protocol-2026/result.ts'
import { createAsk, faultOf } from './views/ask.ts'
import { createCallTool } from './views/calls.ts'
import { type Catalogue, createCatalogue } from './views/catalogue.ts'
import { completionViews } from './views/completion.ts'
import { assertFirstPage, capabilitiesOf, freshness, instructionsOf } from './views/listing.ts'
import { promptViews } from './views/prompts.ts'
import { createResources } from './views/resources.ts'
import { failedResult, markMeta, succeeded, writeSucceeded } from './views/results.ts'
import { listenBy, subscribeToLists } from './views/subscriptions.ts'
import { createTools, type Tool } from './views/tools.ts'
import type { McpView, McpViews } from './views/view.ts'

/** An MCP server behind every transport, in every protocol version. */
export interface McpService {
  readonly modern: Modern
  readonly legacy: Legacy
}

/** What a server offers, whatever the protocol version. */
export interface Offer {
  readonly tools: ReadonlyMap<string, Tool>
  readonly info: JsonObject
  readonly instructions: string
  /** The capabilities, with or without notifications of changes. */
  readonly capabilitiesOf: (tells: boolean) => object
  readonly views: McpViews
  /** Calls the listener when the listed agents change; absent where they are not among the resources. */
  readonly onListed?: OnChange
}

interface ServingOptions {
  readonly context: TransportContext
  readonly onError: (fault: unknown) => void
  /** Aborts when the gateway stops: subscriptions end then. */
  readonly ending?: AbortSignal | undefined
}

/** The gateway itself as an MCP server. */
export function createMcpService(
  context: TransportContext,
  version: string,
  onError: (fault: unknown) => void,
  { clock = Date.now, ending }: { readonly clock?: () => number; readonly ending?: AbortSignal } = {},
): McpService {
  return serveOffer(offerOf(context, version, clock), { context, onError, ending })
}

/** The actions of the gateway as MCP tools, and the registry as resources and prompts. */
export function offerOf(context: TransportContext, version: string, clock: () => number): Offer {
  const tools = createTools(context.agents, context.mcp_tools)
  const ask = createAsk(context)
  const catalogue = createCatalogue({ tools, unconfigured: context.unconfigured, ask, clock })
  return {
    tools,
    info: { name: 'dragoman', title: 'Dragoman', version },
    instructions: instructionsOf(tools),
    capabilitiesOf,
    views: {
      'tools/list': listOf(catalogue),
      ...createResources(ask),
      ...promptViews,
      ...completionViews(ask),
    },
    // At most once a second.
    onListed: createPaced(context.onListed),
  }
}

/** The view that lists tools, on one page. */
export function listOf(catalogue: Catalogue): McpView {
  return {
    freshness,
    answer(params) {
      assertFirstPage(params)
      return catalogue()
    },
  }
}

/** Tools and views for every transport and every protocol version. */
export function serveOffer(offer: Offer, { context, onError, ending }: ServingOptions): McpService {
  const { tools, info, instructions, capabilitiesOf: capabilities, views, onListed } = offer
  const callTool = createCallTool(context, tools)
  const { write, close } = createResultWriter(info)
  const subscribe = subscribeToLists(onListed ? { resourcesListChanged: onListed } : {}, ending)

  /** The result of a tool: JSON members as text where they are at hand. */
  async function resultOf(params: Params, exchange: Exchange, facts: ClientFacts): Promise<ToolResult> {
    const outcome = await callTool(params, exchange, facts)
    if ('question' in outcome) return { result: outcome.question }
    if ('output' in outcome) {
      const { output, mark, content } = outcome
      if (content) return { result: succeeded(output, mark, content) }
      return { members: writeSucceeded(output), meta: mark && markMeta(mark) }
    }
    if (exchange.challenges && isChallenge(outcome.failure)) throw faultOf(outcome.failure, outcome.id)
    return { result: failedResult(outcome, { ...exchange.caller, ...context.site() }) }
  }

  const discovery = write(
    { supportedVersions: [modernVersion], capabilities: capabilities(true), instructions },
    freshness,
  )
  const shown = Object.entries(views).map(
    ([method, { answer, freshness: viewFreshness }]): [string, McpMethod] => [
      method,
      async (params, exchange) => write(await answer(params, exchange), viewFreshness),
    ],
  )
  const modern = createModern({
    onError,
    methods: {
      'server/discover': () => discovery,
      'subscriptions/listen': listenBy(subscribe, write),
      ...Object.fromEntries(shown),
      async 'tools/call'(params, exchange) {
        const { result, members, meta } = await resultOf(params, exchange, factsOf(exchange.meta))
        return members === undefined ? write(result) : close(members, meta)
      },
    },
  })

  const viewed = Object.entries(views).map(([method, { answer }]): [string, LegacyMethod] => [
    method,
    withEarlierCode(answer),
  ])
  const legacy = createLegacy({
    onError,
    clients: new LegacyClients(),
    agent: String(info.name),
    subscribe,
    // A change of the registry would call every client that listens.
    streams: false,
    describe: ({ challenges = false }) => ({
      capabilities: capabilities(!challenges),
      serverInfo: info,
      instructions,
    }),
    methods: {
      ...Object.fromEntries(viewed),
      async 'tools/call'(params, exchange) {
        const { result, members, meta } = await resultOf(params, exchange, exchange.facts)
        if (members === undefined) return result
        return meta ? `{${members},"_meta":${JSON.stringify(meta)}}` : `{${members}}`
      },
    },
  })
  return { modern, legacy }
}

type Params = Readonly<Record<string, unknown>>

type ToolResult =
  | { readonly result: object; readonly members?: undefined; readonly meta?: undefined }
  | { readonly members: string; readonly meta: object | undefined; readonly result?: undefined }

/** Until 2025-11-25 the code of an unknown resource is -32002; SEP-2164 changed it. */
function withEarlierCode(answer: McpView['answer']): LegacyMethod {
  return async (params, exchange) => {
    try {
      return await answer(params, exchange)
    } catch (thrown) {
      const isUnknown =
        thrown instanceof Fault && thrown.code === faults.invalidParams && isAddress(thrown.data)
      throw isUnknown ? new Fault(-32002, thrown.message, { data: thrown.data }) : thrown
    }
  }
}

/** The data of SEP-2164: only the address. */
function isAddress(data: unknown): boolean {
  return isRecord(data) && Object.keys(data).join() === 'uri'
}

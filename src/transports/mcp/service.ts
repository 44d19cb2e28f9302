import type { JsonObject } from '../../../schemas/json.ts'
import { modernVersion } from '../../common/mcp/protocol.ts'
import { isChallenge } from '../http/challenge.ts'
import type { TransportContext } from '../shared/transport-context.ts'
import { createPaced, type OnListed } from './changes.ts'
import { factsOf } from './client-facts.ts'
import { createModern, type McpMethod, type Modern } from './protocol-2026/protocol.ts'
import { createResultWriter } from './protocol-2026/result.ts'
import type { CreateMcpServer } from './sdk/server.ts'
import { createAsk, faultOf } from './views/ask.ts'
import { createCallTool, failedResult, markMeta, succeeded, writeSucceeded } from './views/calls.ts'
import { type Catalogue, createCatalogue } from './views/catalogue.ts'
import { completionViews } from './views/completion.ts'
import { assertFirstPage, capabilitiesOf, freshness, instructionsOf } from './views/listing.ts'
import { promptViews } from './views/prompts.ts'
import { type CheckAccess, createRefusal } from './views/refusal.ts'
import { createResources } from './views/resources.ts'
import { createTools, type Tool } from './views/tools.ts'
import type { McpView, McpViews } from './views/view.ts'

/**
 * The MCP service behind every transport: the gateway's own answers, and the SDK for legacy protocol versions and the
 * remaining methods of 2026-07-28.
 */
export interface McpService {
  readonly modern: Modern
  /** Loads the SDK on first use: clients of 2026-07-28 do not wait for it. */
  load(): Promise<CreateMcpServer>
  readonly refusal: CheckAccess
  /** Calls the listener when the listed agents change, at most once a second. */
  readonly onListed: OnListed
}

/** A view of the router as MCP tools, and of the registry as resources and prompts. */
export function createMcpService(
  context: TransportContext,
  version: string,
  onError: (fault: unknown) => void,
  clock: () => number = Date.now,
): McpService {
  const tools = createTools(context.agents, context.mcp_tools)
  const ask = createAsk(context)
  const catalogue = createCatalogue({ tools, ask, clock })
  return createServing({
    context,
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
    onError,
    onListed: createPaced(context.onListed),
  })
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

interface ServingOptions {
  readonly context: TransportContext
  readonly tools: ReadonlyMap<string, Tool>
  readonly info: JsonObject
  readonly instructions: string
  /** The capabilities, with or without notifications of changes. */
  readonly capabilitiesOf: (tells: boolean) => object
  readonly views: McpViews
  readonly onError: (fault: unknown) => void
  readonly onListed: OnListed
}

/** Tools and views for every transport and every protocol version. */
export function createServing(options: ServingOptions): McpService {
  const { context, tools, info, instructions, capabilitiesOf, views, onError, onListed } = options
  const callTool = createCallTool(context, tools)
  const { write, close } = createResultWriter(info)
  const discovery = write(
    { supportedVersions: [modernVersion], capabilities: capabilitiesOf(true), instructions },
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
    others: new Set(['subscriptions/listen']),
    methods: {
      'server/discover': () => discovery,
      ...Object.fromEntries(shown),
      async 'tools/call'(params, exchange) {
        const outcome = await callTool(params, exchange, factsOf(exchange.meta))
        if ('question' in outcome) return write(outcome.question)
        if ('output' in outcome) {
          const { output, mark, content } = outcome
          if (content) return write(succeeded(output, mark, content))
          return close(writeSucceeded(output), mark && markMeta(mark))
        }
        if (exchange.challenges && isChallenge(outcome.failure)) throw faultOf(outcome.failure, outcome.id)
        return write(failedResult(outcome))
      },
    },
  })
  let loading: Promise<CreateMcpServer> | undefined
  async function load(): Promise<CreateMcpServer> {
    const { createMcpServers } = await import('./sdk/server.ts')
    return createMcpServers({ info, instructions, capabilitiesOf, views, callTool, onListed })
  }
  return {
    modern,
    onListed,
    refusal: createRefusal(context, tools),
    load() {
      loading ??= load()
      return loading
    },
  }
}

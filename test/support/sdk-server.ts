import { type CallToolResult, ProtocolError, Server } from '@modelcontextprotocol/server'
import type { JsonObject } from '../../schemas/json.ts'
import type { OnChange } from '../../src/common/paced.ts'
import { Fault, faults } from '../../src/transports/mcp/protocol-2026/fault.ts'
import type { Exchange, McpCaller } from '../../src/transports/mcp/protocol-2026/protocol.ts'
import type { Offer } from '../../src/transports/mcp/service.ts'
import type { CallTool } from '../../src/transports/mcp/views/calls.ts'
import { freshness } from '../../src/transports/mcp/views/listing.ts'
import { failedResult, succeeded } from '../../src/transports/mcp/views/results.ts'
import type { TransportContext } from '../../src/transports/shared/transport-context.ts'

/**
 * Whether an SDK server serves a legacy or a modern protocol version (the SDK's "era"), and whether its connection
 * lasts.
 */
interface Serving {
  readonly era: 'legacy' | 'modern'
  readonly lasting: boolean
}

/** Makes an MCP server for one serving unit (a connection, or an HTTP request) of one caller. */
type CreateMcpServer = (caller: McpCaller, serving: Serving) => Server

/** Tools and views on the SDK's servers, which ours are compared with. */
export function createSdkServers(
  offer: Offer,
  callTool: CallTool,
  site: TransportContext['site'],
): CreateMcpServer {
  const { info, instructions, capabilitiesOf, views, onListed = () => () => {} } = offer
  const hints = Object.entries(views).map(([method, view]) => [method, view.freshness])
  const cacheHints = Object.fromEntries([
    ...hints.filter(([, hint]) => hint !== undefined),
    ['server/discover', freshness],
  ])

  return (caller, { era, lasting }) => {
    const capabilities = capabilitiesOf(era === 'modern' || lasting)
    const server = new Server(info as { name: string; version: string }, {
      capabilities,
      instructions,
      cacheHints,
    })
    const handle = server.setRequestHandler.bind(server) as (
      method: string,
      answer: (request: { params?: Params }, context: Context) => Promise<object>,
    ) => void
    const exchangeOf = ({ mcpReq }: Context): Exchange => ({
      caller,
      signal: mcpReq.signal,
      notify: (method, params) => mcpReq.notify({ method, params }),
    })
    for (const [method, { answer }] of Object.entries(views)) {
      handle(method, ({ params = {} }, context) =>
        translated(async () => ({ ...(await answer(params, exchangeOf(context))) })),
      )
    }
    handle('tools/call', ({ params = {} }, context) =>
      translated(async () => {
        const facts = { era, capabilities: (server.getClientCapabilities() ?? {}) as JsonObject }
        const exchange = exchangeOf(context)
        let outcome = await callTool(params, exchange, facts)
        for (let round = 0; 'question' in outcome && round < maxRounds; round++) {
          const { inputRequests, requestState } = outcome.question
          const inputResponses: Record<string, object> = {}
          for (const [key, question] of Object.entries(inputRequests)) {
            inputResponses[key] = await context.mcpReq.send(question as unknown as Question)
          }
          outcome = await callTool({ ...params, requestState, inputResponses }, exchange, facts)
        }
        if ('question' in outcome) throw new Fault(faults.internal, 'The agent asks without end.')
        return (
          'failure' in outcome
            ? failedResult(outcome, { ...caller, ...site() })
            : succeeded(outcome.output, outcome.mark, outcome.content)
        ) as CallToolResult
      }),
    )
    if (lasting) notifyOfChanges(server, onListed, era)
    return era === 'legacy' ? withLegacyNotFound(server) : server
  }
}

type Params = Readonly<Record<string, unknown>>

interface Context {
  readonly mcpReq: {
    readonly signal: AbortSignal
    notify(notification: object): Promise<void>
    /** Asks the client. */
    send(question: Question): Promise<object>
  }
}

interface Question {
  readonly method: string
  readonly params: object
}

/** Rounds of questions in one call. */
const maxRounds = 16

/** A legacy client gets notifications only after it has sent `initialized`. */
function notifyOfChanges(server: Server, onListed: OnChange, era: Serving['era']): void {
  const begin = () => {
    const stop = onListed(() => void server.sendResourceListChanged().catch(() => {}))
    server.onclose = stop
  }
  if (era === 'modern') begin()
  else server.oninitialized = begin
}

/** In legacy protocol versions the code of an unknown resource is -32002; the SDK sends its later code (SEP-2164). */
function withLegacyNotFound(server: Server): Server {
  const connect = server.connect.bind(server)
  server.connect = (transport) => {
    const send = transport.send.bind(transport)
    transport.send = (message, options) => {
      const error = 'error' in message ? message.error : undefined
      const missing = error?.code === faults.invalidParams && isAddress(error.data)
      return send(missing ? { ...message, error: { ...error, code: -32002 } } : message, options)
    }
    return connect(transport)
  }
  return server
}

/** The data of SEP-2164: only the address. */
function isAddress(data: unknown): boolean {
  return typeof data === 'object' && data !== null && Object.keys(data).join() === 'uri'
}

async function translated<Result>(answer: () => Promise<Result>): Promise<Result> {
  try {
    return await answer()
  } catch (thrown) {
    if (thrown instanceof Fault) throw new ProtocolError(thrown.code, thrown.message, thrown.data)
    throw thrown
  }
}

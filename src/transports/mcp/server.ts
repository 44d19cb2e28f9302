import {
  type CallToolResult,
  type ListToolsResult,
  ProtocolError,
  Server,
} from '@modelcontextprotocol/server'
import type { JsonObject } from '../../../schemas/json.ts'
import { type CallTool, succeeded } from './calls.ts'
import { Fault } from './fault.ts'
import { assertFirstPage, freshness, instructions } from './listing.ts'
import type { McpCaller } from './modern.ts'

/** Makes an MCP server for one serving unit (a connection, or an HTTP request) of one caller. */
export type CreateMcpServer = (caller: McpCaller) => Server

interface McpServersOptions {
  readonly info: JsonObject
  readonly listing: readonly object[]
  readonly callTool: CallTool
}

/** The tools on the SDK's servers. A failed call is a result with `isError` whose text is the problem. */
export function createMcpServers({ info, listing, callTool }: McpServersOptions): CreateMcpServer {
  return (caller) => {
    const server = new Server(info as { name: string; version: string }, {
      capabilities: { tools: {} },
      instructions,
      cacheHints: { 'tools/list': freshness, 'server/discover': freshness },
    })
    server.setRequestHandler('tools/list', ({ params }) =>
      translated(() => {
        assertFirstPage(params)
        return { tools: listing } as unknown as ListToolsResult
      }),
    )
    server.setRequestHandler('tools/call', ({ params }, { mcpReq }) =>
      translated(async () => {
        const exchange = {
          caller,
          signal: mcpReq.signal,
          notify: (method: string, params: object) =>
            mcpReq.notify({ method, params } as Parameters<typeof mcpReq.notify>[0]),
        }
        const outcome = await callTool(params, exchange)
        return ('failed' in outcome ? outcome.failed : succeeded(outcome.output)) as CallToolResult
      }),
    )
    return server
  }
}

async function translated<Result>(answer: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await answer()
  } catch (thrown) {
    if (thrown instanceof Fault) throw new ProtocolError(thrown.code, thrown.message, thrown.data)
    throw thrown
  }
}

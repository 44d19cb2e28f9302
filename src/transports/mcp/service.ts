import type { JsonObject } from '../../../schemas/json.ts'
import type { Door } from '../door.ts'
import { createCallTool, writeSucceeded } from './calls.ts'
import { modernVersion } from './envelope.ts'
import { assertFirstPage, freshness, instructions } from './listing.ts'
import { createModern, type Modern } from './modern.ts'
import { createResultWriter } from './result.ts'
import type { CreateMcpServer } from './server.ts'
import { createTools } from './tools.ts'

/** What the transports serve: our own answers, and the SDK for the 2025 era and for the rest of the modern one. */
export interface McpService {
  readonly modern: Modern
  /** Loads the SDK, which nobody who speaks 2026-07-28 alone ever waits for. */
  load(): Promise<CreateMcpServer>
}

/** A view of the router as MCP tools. */
export function createMcpService(door: Door, version: string, failed: (fault: unknown) => void): McpService {
  const tools = createTools(door.agents)
  const listing = [...tools.values()].map((tool) => tool.listing)
  const callTool = createCallTool(door, tools)
  const info: JsonObject = { name: 'dragoman', title: 'Dragoman', version }
  const { write, close } = createResultWriter(info)
  const list = write({ tools: listing }, freshness)
  const discovery = write(
    { supportedVersions: [modernVersion], capabilities: { tools: {} }, instructions },
    freshness,
  )
  const modern = createModern({
    failed,
    others: new Set(['subscriptions/listen']),
    methods: {
      'server/discover': () => discovery,
      'tools/list'(params) {
        assertFirstPage(params)
        return list
      },
      async 'tools/call'(params, exchange) {
        const outcome = await callTool(params, exchange)
        return 'failed' in outcome ? write(outcome.failed) : close(writeSucceeded(outcome.output))
      },
    },
  })
  let loading: Promise<CreateMcpServer> | undefined
  async function load(): Promise<CreateMcpServer> {
    const { createMcpServers } = await import('./server.ts')
    return createMcpServers({ info, listing, callTool })
  }
  return {
    modern,
    load() {
      loading ??= load()
      return loading
    },
  }
}

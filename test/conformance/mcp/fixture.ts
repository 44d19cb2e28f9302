import type { OnChange } from '../../../src/common/paced.ts'
import { mcpMounts } from '../../../src/transports/mcp/http.ts'
import type { McpService } from '../../../src/transports/mcp/service.ts'
import { subscribeToLists } from '../../../src/transports/mcp/views/subscriptions.ts'
import { originRule } from '../../../src/transports/shared/origins.ts'
import { serve } from '../../net/support.ts'
import { transportOver } from '../../support/transport-context.ts'
import { createCall, createFixtureService } from './service.ts'

export interface Fixture extends AsyncDisposable {
  /** Its MCP endpoint. */
  readonly url: string
  /** The same for connections of messages. */
  readonly service: McpService
}

/** A server that does not know 2026-07-28. */
const none: McpService['modern'] = {
  takes: () => false,
  answer: () => Promise.reject(new Error('Nothing is taken.')),
}

/** A list that changes, and those who want to know. */
function createList(): { readonly onListed: OnChange; changed(): void } {
  const listeners = new Set<() => void>()
  return {
    changed() {
      for (const listener of listeners) listener()
    },
    onListed(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** Every tool, resource and prompt that the conformance scenarios call by name, mounted on our own transport code. */
export async function startFixture({ modern = true } = {}): Promise<Fixture> {
  const onError = (fault: unknown) => console.error(fault)
  const lists = { tools: createList(), prompts: createList() }
  const call = createCall((list) => lists[list].changed())
  const ending = new AbortController()
  const subscribe = subscribeToLists(
    { toolsListChanged: lists.tools.onListed, promptsListChanged: lists.prompts.onListed },
    ending.signal,
  )
  const whole = createFixtureService(call, subscribe, onError)
  const service = modern ? whole : { ...whole, modern: none }
  const server = await serve((request, response) => {
    const mount = mounts.find(({ method }) => method === request.method?.toLowerCase())
    if (mount) void mount.handler(request as Parameters<typeof mount.handler>[0], response)
    else response.writeHead(405).end()
  })
  const base = server.origin
  const mounts = mcpMounts({
    context: transportOver([]),
    path: '/mcp',
    serviceOf: () => service,
    allowsOrigin: originRule(base, []),
  })
  return {
    url: `${base}/mcp`,
    service,
    async [Symbol.asyncDispose]() {
      ending.abort()
      await server[Symbol.asyncDispose]()
    },
  }
}

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, type Server } from '@modelcontextprotocol/server'
import { isMessage, isRequest } from '../../../src/common/mcp/message.ts'
import { mcpMounts, type Serve } from '../../../src/transports/mcp/http.ts'
import { isModern } from '../../../src/transports/mcp/protocol-2026/headers.ts'
import type { McpService } from '../../../src/transports/mcp/service.ts'
import { originRule } from '../../../src/transports/shared/origins.ts'
import { transportOver } from '../../support/transport-context.ts'
import { createSdkServer } from './sdk-server.ts'
import { createCall, createFixtureModern } from './service.ts'
import { serveSessions } from './sessions.ts'

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

/** Every tool, resource and prompt that the conformance scenarios call by name, mounted on our own transport code. */
export async function startFixture({ modern = true } = {}): Promise<Fixture> {
  const onError = (fault: unknown) => console.error(fault)
  const connected = new Set<Server>()
  const call = createCall((list) => {
    sdk.notify[list === 'tools' ? 'toolsChanged' : 'promptsChanged']()
    for (const instance of connected)
      void instance[list === 'tools' ? 'sendToolListChanged' : 'sendPromptListChanged']().catch(() => {})
  })
  const connect = () => {
    const instance = createSdkServer(call)
    connected.add(instance)
    instance.onclose = () => void connected.delete(instance)
    return instance
  }
  const sdk = createMcpHandler(() => createSdkServer(call))
  const serveSdk = toNodeHandler(sdk) as Serve
  const serveLegacy = serveSessions(connect)
  const rest: Serve = (request, response, body) => {
    const isNew = modern && isMessage(body) && isRequest(body) && isModern(body, request.headers)
    return isNew ? serveSdk(request, response, body) : serveLegacy(request, response, body)
  }
  const service = {
    modern: modern ? createFixtureModern(call, onError) : none,
    onListed: () => () => {},
    refusal: () => undefined,
    async load() {
      return connect
    },
  }
  const server = createServer((request, response) => {
    const mount = mounts.find(({ method }) => method === request.method?.toLowerCase())
    if (mount) void mount.handler(request as Parameters<typeof mount.handler>[0], response)
    else response.writeHead(405).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const allowsOrigin = originRule(base, [])
  const mounts = mcpMounts({
    context: transportOver([]),
    path: '/mcp',
    serviceOf: () => service,
    allowsOrigin,
    onError,
    load: async () => rest,
  })
  return {
    url: `${base}/mcp`,
    service,
    async [Symbol.asyncDispose]() {
      await sdk.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { Failure } from '../../schemas/failure.ts'
import { a2aJsonRpcMount } from '../transports/a2a/json-rpc.ts'
import { a2aRestMounts } from '../transports/a2a/rest.ts'
import { createRouting } from '../transports/a2a/routing.ts'
import { createService } from '../transports/a2a/service.ts'
import { envelopeMount } from '../transports/envelope/http.ts'
import { envelopeSchemaMount } from '../transports/envelope/schema.ts'
import { envelopeSocket } from '../transports/envelope/socket.ts'
import { createHttpApp } from '../transports/http/app.ts'
import { documents } from '../transports/http/documents.ts'
import { createEtags } from '../transports/http/etag.ts'
import { stopping } from '../transports/http/event-answer.ts'
import { operations } from '../transports/http/operations.ts'
import { requestId } from '../transports/http/request-id.ts'
import { sendFailure } from '../transports/http/respond.ts'
import { jsonRpcMount } from '../transports/json-rpc/http.ts'
import { jsonRpcSocket } from '../transports/json-rpc/socket.ts'
import { createAgentServices } from '../transports/mcp/agent-services.ts'
import { mcpMounts } from '../transports/mcp/http.ts'
import { createMcpService } from '../transports/mcp/service.ts'
import { mcpSocket } from '../transports/mcp/socket.ts'
import { serverCardMounts } from '../transports/mcp/views/server-card.ts'
import { oauthMounts } from '../transports/oauth/endpoints.ts'
import { hostRule } from '../transports/shared/hosts.ts'
import { originRule } from '../transports/shared/origins.ts'
import { Upgrades } from '../transports/websocket/upgrade.ts'
import { version } from './assets.ts'
import { isWildcard } from './config.ts'
import type { Gateway } from './gateway.ts'

export interface RunningServer extends AsyncDisposable {
  /** The URL of the server, without a slash at the end. */
  readonly url: string
}

const defaultDrain = 300
const deadlineMilliseconds = 10_000

interface ServerOptions {
  /** How long requests are still answered with `Connection: close`, in milliseconds; 300 when absent. */
  readonly drain_ms?: number
}

/** Starts every transport of a gateway on its configured host and port. Disposing drains: no answer is cut off. */
export async function startServer(
  gateway: Gateway,
  { drain_ms = defaultDrain }: ServerOptions = {},
): Promise<RunningServer> {
  const state = { draining: false }
  const ending = new AbortController()
  const server = createServer({
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    connectionsCheckingInterval: 2000,
    keepAliveTimeout: 5000,
    maxHeaderSize: 16 * 1024,
    // RFC 9110 section 7.8: an unsupported upgrade is ignored and the request answered.
    shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
  })
  const url = await listen(server, gateway)
  gateway.reachedAt(url)
  const { base_url, site_url } = gateway.site()
  const etags = createEtags(
    JSON.stringify([version, base_url, site_url]),
    () => gateway.liveness.livenessCache.swept,
  )
  const allowsOrigin = originRule(base_url, gateway.config.DRAGOMAN_ALLOWED_WEB_ORIGINS)
  const onError = (fault: unknown) => gateway.log.warn({ err: fault }, 'mcp')
  const service = createMcpService(gateway, version, onError)
  const agentService = createAgentServices(gateway, version, onError)
  const mcp = { context: gateway, allowsOrigin, onError, ending: ending.signal }
  const perform = createService(gateway, createRouting(gateway), gateway.taskManager)
  const mounts = [
    ...documents({ ...gateway, challenge: gateway.verification.challenge }, version),
    ...operations(gateway, gateway.config.DRAGOMAN_METRICS, () => state.draining),
    envelopeMount(gateway, ending.signal),
    envelopeSchemaMount(gateway),
    jsonRpcMount(gateway, version),
    a2aJsonRpcMount(gateway, perform),
    ...a2aRestMounts(gateway, perform),
    ...oauthMounts({ context: gateway, ...gateway.identity }),
    ...serverCardMounts(gateway, version),
    ...mcpMounts({ ...mcp, path: '/mcp', serviceOf: () => service }),
    ...mcpMounts({
      ...mcp,
      path: '/mcp/agents/:agent',
      serviceOf: ({ agent = '' }, caller) => agentService(agent, caller),
    }),
  ]
  const app = createHttpApp(gateway, etags, mounts, ending.signal)
  const refuseHost = hostRule(gateway.config.HOST, () => [base_url, site_url])
  const upgrades = new Upgrades({
    context: gateway,
    refuseHost,
    allowsOrigin,
    sockets: [
      envelopeSocket(gateway, ending.signal),
      jsonRpcSocket(gateway, version, ending.signal),
      mcpSocket(service, onError),
    ],
  })
  gateway.identity.onRevocation(() => void upgrades.identify())
  server.on('request', (request, response) => {
    if (state.draining) response.setHeader('Connection', 'close')
    const failure = refuseHost(request)
    if (failure) sendFailure(gateway, request, response, failure, requestId(request))
    else app(request, response)
  })
  server.on('upgrade', (request, socket: Duplex, head) => void upgrades.accept(request, socket, head))
  return {
    url,
    async [Symbol.asyncDispose]() {
      if (state.draining) return
      state.draining = true
      await Promise.all([
        drain(server, upgrades, ending, drain_ms),
        gateway.taskManager[Symbol.asyncDispose](),
      ])
    },
  }
}

async function listen(server: Server, { config }: Gateway): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', (fault: NodeJS.ErrnoException) => reject(cannotListen(config, fault)))
  server.listen(config.PORT, config.HOST, resolve)
  await promise
  server.removeAllListeners('error')
  const { port } = server.address() as AddressInfo
  return `http://${hostName(config.HOST)}:${port}`
}

/** The host name for callers on this machine: a wildcard address cannot be called. */
function hostName(host: string): string {
  if (isWildcard(host)) return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

function cannotListen({ HOST, PORT }: Gateway['config'], fault: NodeJS.ErrnoException): Failure {
  const why = fault.code === 'EADDRINUSE' ? 'another process listens there' : fault.message
  return new Failure(
    'unavailable',
    `Cannot listen on ${HOST}:${PORT}: ${why}.`,
    { hint: 'Set PORT or HOST.' },
    fault,
  )
}

/** Requests are still answered for a moment with `Connection: close`; then idle connections are closed, then all. */
async function drain(
  server: Server,
  upgrades: Upgrades,
  ending: AbortController,
  milliseconds: number,
): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds))
  ending.abort(stopping())
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  const idle = setInterval(() => server.closeIdleConnections(), 50)
  const hard = setTimeout(() => {
    server.closeAllConnections()
    upgrades.destroy()
  }, deadlineMilliseconds)
  await upgrades.close()
  await closed
  clearInterval(idle)
  clearTimeout(hard)
}

import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { a2aJsonRpcMount } from '../transports/a2a/json-rpc.ts'
import { a2aRestMounts } from '../transports/a2a/rest.ts'
import { createRouting } from '../transports/a2a/routing.ts'
import { createService } from '../transports/a2a/service.ts'
import { ardMounts } from '../transports/catalog/ard/mounts.ts'
import { mcpRegistrySubtrees } from '../transports/catalog/mcp-registry/handler.ts'
import { envelopeMount } from '../transports/envelope/http.ts'
import { envelopeSchemaMount } from '../transports/envelope/schema.ts'
import { envelopeSocket } from '../transports/envelope/socket.ts'
import { createHttpApp, type Mount } from '../transports/http/app.ts'
import { chargeAtEnd } from '../transports/http/caller.ts'
import { documents, indexMount } from '../transports/http/documents.ts'
import { createEtags } from '../transports/http/etag.ts'
import { nameIn } from '../transports/http/input.ts'
import { operations } from '../transports/http/operations.ts'
import { requestId } from '../transports/http/request-id.ts'
import { sendFailure } from '../transports/http/respond.ts'
import type { Handler } from '../transports/http/rest.ts'
import { jsonRpcMount } from '../transports/json-rpc/http.ts'
import { jsonRpcSocket } from '../transports/json-rpc/socket.ts'
import { createAgentServices } from '../transports/mcp/agent-services.ts'
import { mcpMounts } from '../transports/mcp/http.ts'
import { createMcpService, type McpService } from '../transports/mcp/service.ts'
import { mcpSocket } from '../transports/mcp/socket.ts'
import { agentServerCardMount } from '../transports/mcp/views/agent-server-card.ts'
import { serverCardMounts } from '../transports/mcp/views/server-card.ts'
import { oauthMounts } from '../transports/oauth/endpoints.ts'
import { siteMounts } from '../transports/page/site/mounts.ts'
import { hostRule } from '../transports/shared/hosts.ts'
import { type AllowsOrigin, originRule } from '../transports/shared/origins.ts'
import { repeatedField } from '../transports/shared/repeated-fields.ts'
import { Upgrades } from '../transports/websocket/upgrade.ts'
import { pageFiles, version } from './assets.ts'
import type { Gateway } from './gateway.ts'
import { type InstanceSecret, proofHeader, proofOf, receivedChallenge } from './running-server.ts'

/** How far the end of the server has come. */
interface Shutdown {
  readonly isDraining: () => boolean
  /** Ends streams that have no end of their own. */
  readonly ending: AbortSignal
  readonly secret: InstanceSecret
}

/** The parts that the mounts and the sockets share. */
interface Parts extends Shutdown {
  readonly gateway: Gateway
  readonly mcpService: McpService
  readonly allowsOrigin: AllowsOrigin
  readonly onMcpError: (fault: unknown) => void
}

/** Answers the requests and upgrades of a server with every transport over HTTP and WebSocket. Call `reachedAt` first. */
export function serveHttp(server: Server, gateway: Gateway, shutdown: Shutdown): Upgrades {
  const { base_url, site_url } = gateway.site()
  const onMcpError = gateway.onErrorOf('mcp', 'warn')
  const parts: Parts = {
    ...shutdown,
    gateway,
    mcpService: createMcpService(gateway, version, onMcpError, shutdown),
    allowsOrigin: originRule(base_url, gateway.config.DRAGOMAN_ALLOWED_WEB_ORIGINS),
    onMcpError,
  }
  const etags = createEtags(
    JSON.stringify([version, base_url, site_url]),
    () => gateway.liveness.livenessCache.swept,
  )
  const subtrees = mcpRegistrySubtrees(gateway, {
    version,
    state: () => `${gateway.tailer.applied_revision}.${gateway.liveness.livenessCache.swept}`,
  })
  const { mounts, missing } = createMounts(parts)
  const app = createHttpApp(gateway, etags, mounts, { ending: shutdown.ending, subtrees, missing })
  const refuseHost = hostRule(gateway.config.HOST, () => [base_url, site_url])
  const upgrades = createUpgrades(parts, refuseHost)
  server.on('request', (request, response) => {
    if (shutdown.isDraining()) response.setHeader('Connection', 'close')
    chargeAtEnd(gateway, request, response)
    const failure = repeatedField(request) ?? refuseHost(request)
    if (failure) sendFailure(gateway, request, response, failure, requestId(request))
    else app(request, response)
  })
  server.on('upgrade', (request, socket: Duplex, head) => void upgrades.accept(request, socket, head))
  return upgrades
}

function proveTo(secret: InstanceSecret) {
  return ({ headers }: IncomingMessage): Record<string, string> => {
    const challenge = headers[receivedChallenge]
    return typeof challenge === 'string' && challenge.length <= 100
      ? { [proofHeader]: proofOf(secret, challenge) }
      : {}
  }
}

function createMounts({ gateway, mcpService, allowsOrigin, onMcpError, isDraining, ending, secret }: Parts): {
  mounts: Mount[]
  missing: Handler
} {
  const agentService = createAgentServices(gateway, version, onMcpError, ending)
  const mcp = { context: gateway, allowsOrigin }
  const perform = createService(gateway, createRouting(gateway), gateway.taskManager)
  const a2aJsonRpc = a2aJsonRpcMount(gateway, perform)
  const site = siteMounts(
    gateway,
    gateway.signIn.server,
    { ...pageFiles, version },
    indexMount(gateway, version),
  )
  const mounts = [
    ...documents({ ...gateway, challenge: gateway.verification.challenge }, version),
    ...site.mounts,
    ...operations(gateway, gateway.config.DRAGOMAN_METRICS, isDraining, proveTo(secret)),
    envelopeMount(gateway, allowsOrigin, ending),
    envelopeSchemaMount(gateway),
    jsonRpcMount(gateway, version, allowsOrigin),
    a2aJsonRpc,
    ...a2aRestMounts(gateway, perform, a2aJsonRpc.handler),
    ...oauthMounts({ context: gateway, ...gateway.identity, ...gateway.signIn, signIns: gateway.signIns }),
    ...ardMounts(gateway),
    ...serverCardMounts(gateway, version),
    agentServerCardMount(gateway),
    ...mcpMounts({ ...mcp, path: '/mcp', serviceOf: () => mcpService }),
    ...mcpMounts({
      ...mcp,
      // People write the name into the configuration of a host by hand, with its slash.
      path: '/mcp/agents/:agent{/:rest}',
      serviceOf: (params, caller) => agentService(nameIn(params, 'agent'), caller),
    }),
  ]
  return { mounts, missing: site.missing }
}

function createUpgrades(
  { gateway, mcpService, allowsOrigin, onMcpError, ending }: Parts,
  refuseHost: ReturnType<typeof hostRule>,
): Upgrades {
  return new Upgrades({
    context: gateway,
    max_connections: gateway.config.DRAGOMAN_MAX_SOCKETS,
    refuseHost,
    allowsOrigin,
    sockets: [
      envelopeSocket(gateway, ending),
      jsonRpcSocket(gateway, version, ending),
      mcpSocket(mcpService, onMcpError),
    ],
  })
}

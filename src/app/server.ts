import { createServer, type Server } from 'node:http'
import { setTimeout as after } from 'node:timers/promises'
import { Failure } from '../../schemas/failure.ts'
import { type HttpLimits, limitConnections } from '../transports/http/connections.ts'
import { stopping } from '../transports/http/event-answer.ts'
import { listen } from '../transports/shared/listen.ts'
import type { Upgrades } from '../transports/websocket/upgrade.ts'
import { type Config, isWildcard } from './config.ts'
import type { Gateway } from './gateway.ts'
import { serveHttp } from './http.ts'
import { createInstanceSecret, type InstanceSecret } from './running-server.ts'

export interface RunningServer extends AsyncDisposable {
  /** The URL of the server, without a slash at the end. */
  readonly url: string
  readonly secret: InstanceSecret
}

/** How long calls run while the gateway stops. */
const callMilliseconds = 10_000
/** How long connections stay open once no more are taken: callers read the answers of the last calls. */
const hardMilliseconds = 11_000

/**
 * How long an idle connection is kept: longer than the minute of nginx and of the balancers of clouds. A request that a
 * balancer sends at the moment of the end is lost, and no balancer repeats a POST.
 */
const idleMilliseconds = 75_000

interface ServerOptions {
  /** How long requests are still answered with `Connection: close`, in milliseconds; as configured when absent. */
  readonly drain_ms?: number
  readonly connections?: HttpLimits
}

/**
 * Starts every transport of a gateway on its configured host and port. Disposing drains: requests are taken for a while
 * and answered with `Connection: close`; then no answer is cut off, for eleven seconds. A start that fails closes what it
 * opened.
 */
export async function startServer(
  gateway: Gateway,
  { drain_ms = drainOf(gateway.config), connections }: ServerOptions = {},
): Promise<RunningServer> {
  await gateway.checkSecretKey()
  const server = createHttpServer()
  const { HOST: host, PORT } = gateway.config
  const port = await listen(server, {
    host,
    port: PORT,
    hint: 'Set PORT or HOST. With PORT=0 a free port is taken.',
  })
  // An open server would keep the process alive after a failed start.
  await using opened = new AsyncDisposableStack()
  opened.defer(() => closeNow(server))
  const url = `http://${hostName(host)}:${port}`
  gateway.reachedAt(url)
  const { DRAGOMAN_MAX_CONNECTIONS: max_connections } = gateway.config
  const closeUnused = limitConnections(server, gateway, { max_connections, ...connections })
  const secret = createInstanceSecret()
  let isDraining = false
  const ending = new AbortController()
  const upgrades = serveHttp(server, gateway, { isDraining: () => isDraining, ending: ending.signal, secret })
  opened.defer(() => upgrades.destroy())
  opened.move()
  return {
    url,
    secret,
    async [Symbol.asyncDispose]() {
      if (isDraining) return
      isDraining = true
      await after(drain_ms)
      await Promise.all([
        close(server, upgrades, ending, closeUnused),
        gateway.taskManager[Symbol.asyncDispose](),
      ])
    },
  }
}

function createHttpServer(): Server {
  return createServer({
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    connectionsCheckingInterval: 2000,
    keepAliveTimeout: idleMilliseconds,
    maxHeaderSize: 16 * 1024,
    // RFC 9110 section 7.8: an unsupported upgrade is ignored and the request answered.
    shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
  })
}

function closeNow(server: Server): void {
  server.close()
  server.closeAllConnections()
}

/** The host name for callers on this machine: a wildcard address cannot be called. */
function hostName(host: string): string {
  if (isWildcard(host)) return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

/** Milliseconds for which a gateway that stops still takes requests. */
export function drainOf({ DRAGOMAN_DRAIN }: Pick<Config, 'DRAGOMAN_DRAIN'>): number {
  return DRAGOMAN_DRAIN * 1000
}

/** Idle connections are closed at once, and all of them in the end. */
async function close(
  server: Server,
  upgrades: Upgrades,
  ending: AbortController,
  closeUnused: () => void,
): Promise<void> {
  ending.abort(stopping())
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  const idle = setInterval(() => {
    server.closeIdleConnections()
    closeUnused()
  }, 50)
  const hard = setTimeout(() => {
    server.closeAllConnections()
    upgrades.destroy()
  }, hardMilliseconds)
  await upgrades.close()
  await closed
  clearInterval(idle)
  clearTimeout(hard)
}

/** For a gateway that stops: fails the calls that still run after a while, unless it is disposed before. */
export function endCallsLate(
  { endCalls, config }: Pick<Gateway, 'endCalls' | 'config'>,
  milliseconds = drainOf(config) + callMilliseconds,
): Disposable {
  const timer = setTimeout(() => {
    endCalls(
      new Failure('unavailable', 'The gateway is shutting down, and the call takes too long to wait for.', {
        hint: 'The agent may have done its work. Call again in a moment.',
        retry_after_s: 5,
      }),
    )
  }, milliseconds)
  return { [Symbol.dispose]: () => clearTimeout(timer) }
}

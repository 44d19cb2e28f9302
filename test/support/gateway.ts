import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Scope } from '../../schemas/scope.ts'
import { languagesModel, staticModel } from '../../src/app/assets.ts'
import { readConfig } from '../../src/app/config.ts'
import { type Gateway, openGateway } from '../../src/app/gateway.ts'
import type { GatewayOptions } from '../../src/app/runtime.ts'
import { type RunningServer, startServer } from '../../src/app/server.ts'
import { mintToken } from '../../src/auth/issuer.ts'
import { parseJson } from '../../src/common/json.ts'
import type { Embedder } from '../../src/search/embedders/embedder.ts'
import { createStaticEmbedder } from '../../src/search/embedders/static/static-embedder.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { writeEmptyDatabase } from './empty-database.ts'

export interface TestGateway extends AsyncDisposable {
  readonly url: string
  readonly data: string
  /** The settings it was started with. */
  readonly environment: Readonly<Record<string, string>>
  readonly gateway: Gateway
  readonly server: RunningServer
  /** A signed token; every scope but admin unless told. */
  token(subject: string, grant?: { scopes?: Scope[]; namespaces?: string[]; ttl_s?: number }): Promise<string>
  /** A request to the gateway, JSON both ways where there is a body. */
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>
}

interface RequestOptions {
  readonly body?: unknown
  readonly token?: string | undefined
  readonly headers?: Record<string, string>
  readonly signal?: AbortSignal | undefined
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  readonly json: any
}

export const everyScope: Scope[] = ['agents:read', 'agents:write', 'agents:publish', 'a2a:call', 'playground']

/** Nobody listens there: what a test does not play is not asked for on the internet. */
const nowhere = 'http://127.0.0.1:9'
const sources = [
  'COINBASE',
  'KRAKEN',
  'BINANCE',
  'COINGECKO',
  'FINNHUB',
  'TWELVE_DATA',
  'ALPHA_VANTAGE',
  'FRANKFURTER',
]
const noInternet = Object.fromEntries(
  ['WIKI', ...sources].map((name) => [`DRAGOMAN_${name}_URL`, nowhere] as const),
)

/** Settings that have one server play every source of prices that needs no key. */
export function pricesFrom(url: string): Record<string, string> {
  return Object.fromEntries(sources.map((name) => [`DRAGOMAN_${name}_URL`, url]))
}

/** A whole gateway on a free port over a fresh folder, outputs checked, nothing logged, no rate limits, nobody looked at unasked. */
export async function startGateway(
  environment: Record<string, string> = {},
  options: GatewayOptions = {},
  compose: (gateway: Gateway) => Gateway = (gateway) => gateway,
): Promise<TestGateway> {
  const data = environment.DRAGOMAN_DATA ?? (await freshFolder())
  const config = readConfig({
    PORT: '0',
    DRAGOMAN_CHECK_OUTPUTS: 'on',
    DRAGOMAN_RATE_LIMIT: 'off',
    DRAGOMAN_LIVENESS: 'off',
    // So that every hosted agent can be called.
    DRAGOMAN_CONTACT: 'tests@example.org',
    ...noInternet,
    ...environment,
    DRAGOMAN_DATA: data,
  })
  const static_embedder = await sharedEmbedder()
  const gateway = compose(
    await openGateway(config, { log: createLogger('silent'), static_embedder, ...options }),
  )
  // Who stops a gateway in a test has no more to ask of it.
  const server = await startServer(gateway, { drain_ms: 0 })
  const clock = options.clock ?? Date.now
  return {
    url: server.url,
    data,
    environment,
    gateway,
    server,
    async token(subject, { scopes = everyScope, namespaces = [], ttl_s = 3600 } = {}) {
      const { key, issuer } = await signerOf({ gateway })
      const audience = [gateway.identity.ring.name]
      return await mintToken(key, issuer, { subject, scopes, namespaces, audience, ttl_s }, clock)
    },
    request: (method, path, options) => request(server.url, method, path, options),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await gateway[Symbol.asyncDispose]()
      if (!environment.DRAGOMAN_DATA) await rm(data, { recursive: true, force: true })
    },
  }
}

let embedder: Promise<Embedder> | undefined

/** The shipped model, loaded once in this process. */
function sharedEmbedder(): Promise<Embedder> {
  embedder ??= createStaticEmbedder(staticModel, languagesModel)
  return embedder
}

async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'dragoman-'))
  await writeEmptyDatabase(join(folder, 'registry.sqlite'))
  return folder
}

/** The key and the name that a gateway's own tokens have now. */
export async function signerOf({ gateway: { identity } }: Pick<TestGateway, 'gateway'>) {
  return { key: await identity.ring.signing(), issuer: identity.issuer }
}

async function request(
  url: string,
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<Answer> {
  const { body, token, headers = {}, signal } = options
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(signal && { signal }),
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, text, json: parseJson(text) }
}

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'
import { serve } from '../net/support.ts'

/** Somebody else's authorization server: oidc-provider on loopback, where everybody is logged in and allows everything. */
export interface UpstreamServer extends AsyncDisposable {
  readonly issuer: string
  /** The requests, in order: method and path. */
  readonly requests: string[]
  /** The grants that the token endpoint was asked for. */
  readonly grants: Readonly<Record<string, unknown>>[]
  /** Seconds that access tokens live. */
  ttl_s: number
  /** Who is logged in. */
  user: string
  /** Answers a request in the server's place; false leaves it to the server. */
  answer: (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>
  /** Changes JSON answers of a path. */
  change: (path: string, body: Record<string, unknown>) => Record<string, unknown>
}

const scope = 'read write'

export async function startUpstreamServer(
  settings: Readonly<Record<string, unknown>> = {},
): Promise<UpstreamServer> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const key = { ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig', kid: 'one' }
  let handle: RequestListener | undefined
  const http = await serve((request, response) => void take(request, response))
  const issuer = http.origin

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', issuer)
    server.requests.push(`${request.method} ${pathname}`)
    if (await server.answer(request, response)) return
    const end = response.end.bind(response)
    response.end = ((chunk: unknown, ...rest: []) => {
      const isJson = String(response.getHeader('content-type')).includes('json')
      if (!isJson || chunk === undefined) return end(chunk as never, ...rest)
      const changed = JSON.stringify(server.change(pathname, JSON.parse(String(chunk))))
      response.setHeader('content-length', Buffer.byteLength(changed))
      return end(changed as never, ...rest)
    }) as typeof response.end
    handle?.(request, response)
  }

  const server: UpstreamServer = {
    issuer,
    requests: [],
    grants: [],
    ttl_s: 600,
    user: 'ada-upstream',
    answer: () => false,
    change: (_, body) => body,
    [Symbol.asyncDispose]: () => http[Symbol.asyncDispose](),
  }
  const provider = new Provider(issuer, {
    jwks: { keys: [key] },
    scopes: ['read', 'write', 'offline_access'],
    claims: {},
    responseTypes: ['code'],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    pkce: { required: () => true },
    findAccount: (_: unknown, id: string) => ({ accountId: id, claims: async () => ({ sub: id }) }),
    rotateRefreshToken: () => true,
    issueRefreshToken: async () => true,
    ttl: {
      AccessToken: () => server.ttl_s,
      AuthorizationCode: 60,
      Grant: 3600,
      Interaction: 60,
      RefreshToken: 3600,
      Session: 3600,
    },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_: unknown, resource: string) => ({
          scope,
          audience: resource,
          accessTokenTTL: server.ttl_s,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'ES256' } },
        }),
      },
    },
    ...settings,
  })
  provider.use(async (context, next) => {
    await next()
    if (context.path === '/token' && context.oidc?.params) server.grants.push({ ...context.oidc.params })
  })
  const callback = provider.callback()
  handle = (request, response) => {
    if (request.url?.startsWith('/interaction/')) return void interact(request, response)
    callback(request, response)
  }

  /** Logs the user in and grants what is asked for. */
  async function interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { prompt, params, session } = await provider.interactionDetails(request, response)
    const client = params.client_id ?? ''
    const accountId = session?.accountId ?? server.user
    const grant = new provider.Grant({ accountId, clientId: client })
    grant.addOIDCScope(params.scope ?? '')
    const resource = params.resource
    if (resource !== undefined) grant.addResourceScope(resource, params.scope ?? '')
    const result =
      prompt.name === 'login' ? { login: { accountId } } : { consent: { grantId: await grant.save() } }
    const location = await provider.interactionResult(request, response, result)
    response.writeHead(303, { Location: location }).end()
  }
  return server
}

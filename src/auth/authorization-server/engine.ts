import type { JWK } from 'jose'
import Provider, { type Context, errors, type Interaction, type StructuredToken } from 'oidc-provider'
import { localIssuer } from '../../../schemas/identity.ts'
import { resourcePaths } from '../../../schemas/scope.ts'
import { resourceNamed } from '../resources.ts'
import type { Accounts } from './accounts.ts'
import { createAdapter } from './adapter.ts'
import { readCookie } from './browser.ts'
import { ownClients } from './clients.ts'
import { cookieNames, lifetimes } from './lifetimes.ts'
import { offeredScopes } from './offered-scopes.ts'
import type { Page, ProtocolPages } from './pages.ts'
import type { Records } from './records.ts'

interface EngineOptions {
  /** The base URL, which is the issuer. */
  readonly issuer: string
  /** The private key that signs access tokens. */
  readonly key: JWK & { readonly kid: string }
  readonly records: Records
  readonly accounts: Accounts
  readonly pages: ProtocolPages
  readonly clock: () => number
  readonly endTokens: (grantId: string) => Promise<void>
  /** Fetches client ID metadata documents; absent if they are not supported. */
  readonly fetchDocument?: ((url: string, signal: AbortSignal) => Promise<Response>) | undefined
  /** The codes of `verification_uri_complete`, which the form shows. */
  readonly typedCodes: WeakMap<object, string>
  readonly onError: (fault: unknown) => void
}

/** OAuth 2.1 by oidc-provider. It has no state of its own: everything is in the records. */
export function createEngine(options: EngineOptions): Provider {
  const { issuer, key, accounts, pages, onError } = options
  const secure = issuer.startsWith('https:')
  const cookie = { httpOnly: true, sameSite: 'lax', secure, overwrite: true }
  const provider = new Provider(issuer, {
    adapter: (kind: string) => createAdapter(kind, options),
    clients: ownClients,
    jwks: { keys: [{ ...key, alg: 'EdDSA', use: 'sig' }] },
    routes: {
      authorization: '/oauth/authorize',
      token: '/oauth/token',
      registration: '/oauth/register',
      revocation: '/oauth/revoke',
      device_authorization: '/oauth/device/code',
      code_verification: '/oauth/device',
      jwks: '/oauth/jwks',
      end_session: '/oauth/session',
    },
    scopes: offeredScopes,
    claims: {},
    responseTypes: ['code'],
    clientAuthMethods: ['none'],
    clientDefaults: {
      application_type: 'native',
      grant_types: ['authorization_code', 'refresh_token'],
      id_token_signed_response_alg: 'EdDSA',
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    allowOmittingSingleRegisteredRedirectUri: false,
    clientBasedCORS: (_: Context, origin: string, client: { readonly redirectUris: readonly string[] }) =>
      client.redirectUris.some((uri) => URL.parse(uri)?.origin === origin),
    pkce: { required: () => true },
    features: featuresOf(options),
    cookies: {
      names: cookieNames(secure),
      long: { ...cookie, path: '/' },
      short: cookie,
    },
    ttl: lifetimes,
    findAccount: async (_: Context, id: string) => {
      const person = await accounts.find(id)
      return person && { accountId: id, claims: async () => ({ sub: id }) }
    },
    interactions: { url: (_: Context, { uid }: Interaction) => `${issuer}/sign-in/${uid}` },
    formats: { customizers: { jwt: createClaims(options) } },
    issueRefreshToken: async (_: Context, client: { grantTypeAllowed(type: string): boolean }) =>
      client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: () => true,
    expiresWithSession: async () => false,
    renderError: (context: Context, { error_description, error }: Record<string, string>) =>
      show(context, pages.error(error_description ?? error ?? 'The request failed.')),
    ...(options.fetchDocument && { fetch: fetchBy(options.fetchDocument) }),
  })
  provider.proxy = true
  provider.use((context, next) => withoutRedirect(context, next, options))
  provider.use((context, next) => withWaitingDevice(context, next, provider, pages))
  provider.use((context, next) => withSession(context, next, provider, options))
  provider.on('error', (fault) => onError(fault))
  provider.on('server_error', (_, fault) => onError(fault))
  return provider
}

function featuresOf({ issuer, pages, typedCodes, fetchDocument }: EngineOptions): object {
  const off = { enabled: false }
  const typedCode = ({ req }: Context) => {
    const code = typedCodes.get(req)
    return code === undefined ? {} : { code }
  }
  return {
    devInteractions: off,
    dPoP: off,
    rpInitiatedLogout: off,
    pushedAuthorizationRequests: off,
    userinfo: off,
    registration: { enabled: true, initialAccessToken: false, issueRegistrationAccessToken: false },
    revocation: {
      enabled: true,
      allowedPolicy: async (_: Context, client: Client, token: Client) => token.clientId === client.clientId,
    },
    clientIdMetadataDocument: fetchDocument ? { enabled: true, ack: 'draft-02' } : off,
    resourceIndicators: {
      enabled: true,
      defaultResource: async (_: Context, __: unknown, oneOf?: readonly string[]) => oneOf?.[0] ?? issuer,
      getResourceServerInfo: (_: Context, address: string) => {
        const resource = resourceNamed(address, issuer)
        if (resource === undefined) throw invalidTarget(issuer)
        return {
          scope: offeredScopes.join(' '),
          audience: issuer + resource,
          accessTokenTTL: lifetimes.AccessToken,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'EdDSA' } },
        }
      },
    },
    deviceFlow: {
      enabled: true,
      charset: 'base-20',
      mask: '****-****',
      deviceInfo: () => ({}),
      userCodeInputSource: (context: Context, _: string, __: unknown, fault?: Error) =>
        show(context, pages.deviceCode({ ...formOf(context), ...typedCode(context), ...noticeOf(fault) })),
      userCodeConfirmSource: (context: Context, _: string, client: Client, __: unknown, code: string) =>
        show(context, pages.deviceConfirm({ ...formOf(context), code, client: nameOf(client) })),
      successSource: (context: Context) =>
        show(context, pages.deviceDone(context.oidc.client ? nameOf(context.oidc.client) : '')),
    },
  }
}

interface Client {
  readonly clientId: string
  readonly clientName?: string
}

function nameOf({ clientName, clientId }: Client): string {
  return clientName ?? clientId
}

function formOf({ oidc }: Context): { action: string; xsrf: string } {
  return { action: oidc.urlFor('code_verification'), xsrf: oidc.session?.state?.secret ?? '' }
}

const notices: Readonly<Record<string, string>> = {
  NoCodeError: 'Type the code that the device shows.',
  NotFoundError: 'There is no such code. Compare it with the one on the device.',
  ExpiredError: 'This code has expired. Start again on the device.',
  AlreadyUsedError: 'This code was used before. Start again on the device.',
  AbortedError: 'The sign-in of the device was refused.',
}

function noticeOf(fault: Error | undefined): { notice?: string } {
  if (!fault) return {}
  return { notice: notices[fault.name] ?? 'The form is not valid any more. Try again.' }
}

function show(context: Context, { html, headers }: Page): void {
  context.type = 'html'
  context.set(headers)
  context.body = html
}

/**
 * A request that its user has not seen sends no browser elsewhere: a page names the client first (RFC 9700 section
 * 4.11.2). Anybody can register an address.
 */
async function withoutRedirect(
  context: Context,
  next: () => Promise<void>,
  { issuer, pages }: EngineOptions,
): Promise<void> {
  await next()
  const location = URL.parse(context.response.get('location'))
  if (!context.path.endsWith('/oauth/authorize') || !location) return
  if (location.href.startsWith(`${issuer}/`)) return
  const { searchParams, hash } = location
  const parameters = searchParams.has('error') ? searchParams : new URLSearchParams(hash.slice(1))
  const reason = parameters.get('error_description') ?? parameters.get('error') ?? 'unknown'
  context.remove('location')
  context.status = 400
  show(context, pages.error(`The application sent a request that is not valid: ${reason}`, location.href))
}

/** The library fails at a device that waits for nobody. */
async function withWaitingDevice(
  context: Context,
  next: () => Promise<void>,
  provider: Provider,
  pages: ProtocolPages,
): Promise<void> {
  const isResumed = /\/oauth\/device\/(?!code$)[^/]+$/.test(context.path)
  const cookie = readCookie(context.req, cookieNames(true).resume)
  if (!isResumed || (cookie !== undefined && (await provider.Interaction.find(cookie)))) return await next()
  context.status = 400
  show(context, pages.error('No device waits for this browser. Start again on the device.'))
}

/** The library fails at the form of a browser whose session is over, or that never had one. */
async function withSession(
  context: Context,
  next: () => Promise<void>,
  provider: Provider,
  { issuer, pages }: EngineOptions,
): Promise<void> {
  const isForm = context.req.method === 'POST' && context.path.endsWith('/oauth/device')
  const cookie = readCookie(context.req, cookieNames(issuer.startsWith('https:')).session)
  if (!isForm || (cookie !== undefined && (await provider.Session.find(cookie)))) return await next()
  context.status = 400
  show(context, pages.error('The form is not valid any more. Load the page again, and type the code.'))
}

/** The claims of our own tokens; the subject is that of the person's issuer. */
function createClaims({ issuer, accounts }: Pick<EngineOptions, 'issuer' | 'accounts'>) {
  return async (
    context: Context,
    token: { readonly accountId?: string; readonly grantId?: string },
    jwt: StructuredToken,
  ): Promise<void> => {
    const person = await accounts.find(token.accountId ?? '')
    if (!person) throw new Error('The account of the token is missing.')
    Object.assign(jwt.payload, {
      sub: person.subject,
      ...(person.issuer !== localIssuer && { sub_iss: person.issuer }),
      ns: person.namespaces,
      aud: audienceOf(context, issuer),
      grant: token.grantId,
    })
  }
}

/** The requested resources that were granted; all of the grant if none is requested. */
function audienceOf({ oidc }: Context, issuer: string): string[] | string {
  const { AuthorizationCode, RotatedRefreshToken, RefreshToken, DeviceCode } = oidc.entities
  const source = AuthorizationCode ?? DeviceCode ?? RotatedRefreshToken ?? RefreshToken
  const granted = source?.resourceIndicators ?? new Set<string | undefined>()
  const requested = [oidc.params?.resource ?? [...granted]].flat()
  const audience = requested.map((address) => {
    const resource = address === undefined ? undefined : resourceNamed(address, issuer)
    if (resource === undefined || !granted.has(address)) throw invalidTarget(issuer)
    return issuer + resource
  })
  const [only, ...more] = new Set(audience)
  return only !== undefined && more.length === 0 ? only : [...new Set(audience)]
}

function invalidTarget(issuer: string): Error {
  const InvalidTarget = errors.InvalidTarget ?? Error
  return new InvalidTarget(`the resources are ${resourcePaths.map((path) => issuer + path).join(', ')}`)
}

function fetchBy(fetchDocument: NonNullable<EngineOptions['fetchDocument']>) {
  return (url: string | URL, { signal }: { signal?: AbortSignal } = {}) =>
    fetchDocument(String(url), signal ?? new AbortController().signal)
}

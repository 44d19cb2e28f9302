import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { JWK } from 'jose'
import type Provider from 'oidc-provider'
import type { Interaction } from 'oidc-provider'
import { localPersonId } from '../../../schemas/identity.ts'
import type { ResourcePath } from '../../../schemas/scope.ts'
import { dayMilliseconds } from '../../common/days.ts'
import { isLoopbackUrl } from '../../common/loopback.ts'
import { isSamePrincipal } from '../../common/principal-key.ts'
import type { Login, Person } from '../logins/login.ts'
import { resourceNamed } from '../resources.ts'
import type { Accounts } from './accounts.ts'
import { type Browsers, createBrowsers } from './browser.ts'
import { unusedClientMilliseconds } from './lifetimes.ts'
import { offeredScopes } from './offered-scopes.ts'
import type { ProtocolPages } from './pages.ts'
import { createPendingLogins, type PendingLogins } from './pending-logins.ts'
import type { Records } from './records.ts'

interface AuthorizationServerOptions {
  /** The base URL, known once the server listens. */
  readonly issuer: () => string
  readonly signingKey: () => Promise<JWK & { readonly kid: string }>
  readonly logins: readonly Login[]
  readonly records: Records
  readonly accounts: Accounts
  readonly pages: ProtocolPages
  readonly clock: () => number
  readonly random: (bytes: number) => Uint8Array
  readonly endTokens: (grantId: string) => Promise<void>
  readonly fetchDocument?: ((url: string, signal: AbortSignal) => Promise<Response>) | undefined
  readonly onError: (fault: unknown) => void
}

/** A client that asks for its user. */
export interface WaitingClient {
  readonly client: string
  /** Where the browser goes afterwards: a host, or the scheme of an application on this device. */
  readonly destination: string
  /** A source of Content Security Policy that permits the redirect. */
  readonly source: string
}

/** What a client requests, for the person who decides. */
export interface ConsentRequest extends WaitingClient {
  readonly resources: readonly ResourcePath[]
  readonly scopes: readonly string[]
}

/** A request of a client that waits for its user. */
type Waiting =
  | { readonly kind: 'login'; readonly request: WaitingClient; readonly since: number }
  | { readonly kind: 'consent'; readonly request: ConsentRequest }

/** Longer than the longest grant. */
const usedClientMilliseconds = 120 * dayMilliseconds
const maxClients = 20_000
/** An unused client that is older makes room for others when there are too many. */
const newClientMilliseconds = 1_800_000

/** The authorization server for people, as OAuth 2.1 defines it, and the sessions of their browsers. */
export class AuthorizationServer {
  readonly issuer: () => string
  readonly isSecure = () => this.issuer().startsWith('https:')
  readonly clock: () => number
  readonly logins: readonly Login[]
  readonly browsers: Browsers
  readonly pendingLogins: PendingLogins
  readonly #options: AuthorizationServerOptions
  readonly #accounts: Accounts
  readonly #typedCodes = new WeakMap<object, string>()
  #engine: { readonly name: string; readonly provider: Promise<Provider> } | undefined

  constructor(options: AuthorizationServerOptions) {
    this.#options = options
    this.#accounts = knownAccounts(options)
    this.issuer = options.issuer
    this.clock = options.clock
    this.logins = options.logins
    const provider = () => this.#provider()
    this.browsers = createBrowsers({ provider, accounts: this.#accounts, isSecure: this.isSecure })
    this.pendingLogins = createPendingLogins(options)
  }

  /** Answers a request to an endpoint of the protocol. The body was read before. */
  async answer(request: IncomingMessage, response: ServerResponse, body?: string): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', this.issuer())
    const code = searchParams.get('user_code')
    if (code !== null) {
      // The library would submit the form by a script.
      this.#typedCodes.set(request, code)
      request.url = pathname
    }
    const readable = body === undefined ? request : withBody(request, body)
    prepare(readable, this.issuer())
    const callback = (await this.#provider()).callback()
    await new Promise<void>((resolve) => {
      response.once('close', resolve)
      response.once('finish', resolve)
      callback(readable, response)
    })
  }

  /** What the request of this browser waits for; undefined if there is none, or it is of another browser. */
  async waiting(
    request: IncomingMessage,
    response: ServerResponse,
    uid: string,
  ): Promise<Waiting | undefined> {
    const interaction = await this.#interactionOf(request, response, uid)
    if (!interaction) return undefined
    const { name } = await this.#clientOf(interaction)
    const { scope = '', redirect_uri } = interaction.params
    const client = { client: name, ...destinationOf(redirect_uri) }
    if (interaction.prompt.name === 'login') return { kind: 'login', request: client, since: interaction.iat }
    const missing = interaction.prompt.details.missingResourceScopes ?? {}
    const resources = resourcesOf(interaction).flatMap(
      (address) => resourceNamed(address, this.issuer()) ?? [],
    )
    const scopes = offeredIn([scope, ...Object.values(missing).flat()].join(' '))
    return {
      kind: 'consent',
      request: { ...client, resources: [...new Set(resources)], scopes },
    }
  }

  /**
   * Continues a request after the sign-in of its user, which stays as old as it is; returns the address to go on at.
   */
  async signedIn(
    request: IncomingMessage,
    response: ServerResponse,
    person: Person,
    signedInAt: number,
  ): Promise<string> {
    const accountId = await this.#accounts.put(person)
    return await this.#end(request, response, { login: { accountId, ts: signedInAt } })
  }

  /** Grants what the request asks for. Throws if the request is not of this browser. */
  async allow(request: IncomingMessage, response: ServerResponse, uid: string): Promise<string | undefined> {
    const interaction = await this.#interactionOf(request, response, uid)
    const accountId = interaction?.session?.accountId
    if (!interaction || accountId === undefined || interaction.prompt.name !== 'consent') return undefined
    const { id } = await this.#clientOf(interaction)
    const grant = new (await this.#provider()).Grant({ accountId, clientId: id })
    const scope = offeredIn(interaction.params.scope ?? '').join(' ')
    grant.addOIDCScope(scope)
    for (const address of resourcesOf(interaction)) grant.addResourceScope(address, scope)
    await this.#options.records.extend('Client', id, this.clock() + usedClientMilliseconds)
    return await this.#end(request, response, { consent: { grantId: await grant.save() } })
  }

  /** Refuses what the request asks for, before or after its user has signed in: `access_denied` for its client. */
  async deny(request: IncomingMessage, response: ServerResponse, uid: string): Promise<string | undefined> {
    if (!(await this.#interactionOf(request, response, uid))) return undefined
    return await this.#end(request, response, {
      error: 'access_denied',
      error_description: 'The user refused.',
    })
  }

  /**
   * Signs the browser out, and asks for the sign-in of another person for the same request; returns the address to go
   * on at.
   */
  async switchPerson(
    request: IncomingMessage,
    response: ServerResponse,
    uid: string,
  ): Promise<string | undefined> {
    const interaction = await this.#interactionOf(request, response, uid)
    if (!interaction) return undefined
    // The library goes on with a request in the session alone in which it began, and as who signed in there.
    interaction.session = undefined
    interaction.result = {}
    await interaction.persist()
    await this.browsers.signOut(request, response)
    return interaction.returnTo
  }

  /** False while there are too many registered clients that are in use or new. */
  async hasRoom(): Promise<boolean> {
    const { records } = this.#options
    if ((await records.count('Client')) < maxClients) return true
    await records.removeExpiring('Client', this.clock() + unusedClientMilliseconds - newClientMilliseconds)
    return (await records.count('Client')) < maxClients
  }

  /** The library is loaded at first use, and again after a change of the key or the base URL. */
  async #provider(): Promise<Provider> {
    const issuer = this.issuer()
    const key = await this.#options.signingKey()
    const name = `${key.kid} ${issuer}`
    if (this.#engine?.name !== name) {
      const accounts = this.#accounts
      const typedCodes = this.#typedCodes
      const provider = import('./engine.ts').then(({ createEngine }) =>
        createEngine({ ...this.#options, accounts, issuer, key, typedCodes }),
      )
      this.#engine = { name, provider }
    }
    return await this.#engine.provider
  }

  async #interactionOf(
    request: IncomingMessage,
    response: ServerResponse,
    uid: string,
  ): Promise<Interaction | undefined> {
    prepare(request, this.issuer())
    try {
      const interaction = await (await this.#provider()).interactionDetails(request, response)
      return interaction.uid === uid ? interaction : undefined
    } catch (fault) {
      if (fault instanceof Error && fault.name === 'SessionNotFound') return undefined
      throw fault
    }
  }

  async #clientOf({ params }: Interaction): Promise<{ name: string; id: string }> {
    const id = params.client_id ?? ''
    const client = await (await this.#provider()).Client.find(id)
    return { id, name: client?.clientName ?? id }
  }

  async #end(request: IncomingMessage, response: ServerResponse, result: object): Promise<string> {
    prepare(request, this.issuer())
    return await (await this.#provider()).interactionResult(request, response, result)
  }
}

/** Who signed in at a login that is not configured any more is nobody. */
function knownAccounts({ accounts, issuer, logins }: AuthorizationServerOptions): Accounts {
  function isKnown(person: Person): boolean {
    if (isSamePrincipal(person, localPersonId)) return isLoopbackUrl(new URL(issuer()))
    return logins.some((login) => login.issuer === person.issuer)
  }
  return {
    put: accounts.put,
    async find(id) {
      const person = await accounts.find(id)
      return person && isKnown(person) ? person : undefined
    },
  }
}

/** oidc-provider reads its own address from the request; here it is the base URL, whatever the proxy sends. */
function prepare(request: IncomingMessage & { originalUrl?: string }, issuer: string): void {
  const { protocol, host, pathname } = new URL(issuer)
  request.headers['x-forwarded-proto'] = protocol.slice(0, -1)
  request.headers['x-forwarded-host'] = host
  request.originalUrl = pathname.replace(/\/$/, '') + (request.url ?? '')
}

/** A request whose body was read before, and perhaps changed. */
function withBody(request: IncomingMessage, body: string): IncomingMessage {
  const bytes = Buffer.from(body)
  const { 'transfer-encoding': _, ...headers } = request.headers
  return Object.assign(Readable.from([bytes]), {
    headers: { ...headers, 'content-length': String(bytes.length) },
    method: request.method,
    url: request.url,
    socket: request.socket,
    httpVersion: request.httpVersion,
  }) as unknown as IncomingMessage
}

function resourcesOf({ params }: Interaction): string[] {
  const { resource } = params as Readonly<Record<string, string | readonly string[] | undefined>>
  return [resource ?? []].flat()
}

function offeredIn(scope: string): string[] {
  const words = new Set(scope.split(' '))
  return offeredScopes.filter((offered) => words.has(offered))
}

function destinationOf(redirectUri: string | undefined): { destination: string; source: string } {
  const url = URL.parse(redirectUri ?? '')
  // A device has no address.
  if (!url) return { destination: '', source: '' }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return { destination: url.protocol, source: url.protocol }
  // Content Security Policy has no form for IPv6 addresses.
  const source = url.hostname.startsWith('[') ? url.protocol : url.origin
  return { destination: url.host, source }
}

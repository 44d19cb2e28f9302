import { hash } from 'node:crypto'
import { AuthorizationResponseError, calculatePKCECodeChallenge } from 'oauth4webapi'
import type { SignInPlace } from '../../../schemas/credential.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { principalKey } from '../../common/principal-key.ts'
import { isSameSecret } from '../../common/same-secret.ts'
import type { Accounts } from '../authorization-server/accounts.ts'
import type { Records } from '../authorization-server/records.ts'
import type { Person } from '../logins/login.ts'
import type { Credentials } from '../upstream-credentials.ts'
import { type Clients, callbackOf, connectPath, issuerKey } from './clients.ts'
import { type Authorization, type Grants, isUnknownClient } from './grants.ts'
import { reasonOf } from './metadata.ts'
import {
  type Challenged,
  type FindRequirement,
  parseChallenge,
  type Requirement,
  scopesIn,
  unusable,
} from './requirement.ts'

/** An agent that asks its caller for a sign-in. */
interface AskingAgent extends Challenged {
  readonly entry_id: string
}

interface Pending extends Pick<Authorization, 'server' | 'client' | 'resource' | 'scopes'> {
  readonly code: string
  readonly owner: string
  readonly caller: { readonly issuer: string; readonly subject: string }
  readonly entry_id: string
  readonly package_name: string
  readonly url: string
  readonly expires_at: number
}

type Begun = Pending &
  Pick<Authorization, 'state' | 'verifier' | 'redirect_uri'> & { readonly browser: string }

/** What the page of a sign-in shows. */
export interface ConnectView {
  readonly package_name: string
  readonly host: string
  readonly issuer: string
  readonly scopes: readonly string[]
  /** The subject of the caller. */
  readonly caller: string
}

interface SignInsOptions {
  readonly findRequirement: FindRequirement
  readonly clients: Clients
  readonly grants: Grants
  readonly records: Records
  readonly accounts: Pick<Accounts, 'find'>
  readonly credentials: Pick<Credentials, 'signInOf' | 'putSignIn'>
  readonly base_url: () => string
  readonly clock: () => number
  readonly random: (bytes: number) => Uint8Array
}

export const signInMilliseconds = 600_000
/** An address that ends sooner is not shown again. */
const leftMilliseconds = 120_000
const registrationMilliseconds = 15_000
const offline = 'offline_access'

/** Sign-ins of callers to listed agents, by the authorization code flow in their browser. */
export class SignIns {
  readonly #options: SignInsOptions
  /** One request for all calls of a caller that ask at one time. */
  readonly #asking = new Map<string, Promise<SignInPlace | undefined>>()

  constructor(options: SignInsOptions) {
    this.#options = options
  }

  /**
   * Where the caller signs in to an agent; undefined if the agent asks for no sign-in, or for nothing that a sign-in
   * could add. Rejects with a Failure for a sign-in that cannot be used.
   */
  async ask(agent: AskingAgent, caller: Principal): Promise<SignInPlace | undefined> {
    const key = JSON.stringify([principalKey(caller), agent.entry_id, agent.challenge])
    const current =
      this.#asking.get(key) ??
      this.#request(agent, caller)
        .catch((fault) => {
          throw fault instanceof Failure ? fault : unusable(agent.package_name, fault)
        })
        .finally(() => this.#asking.delete(key))
    this.#asking.set(key, current)
    return await current
  }

  /** Throws Failure `not_found`, and `forbidden` for another person than the caller. */
  async show(code: string, person: Person | null): Promise<ConnectView> {
    const { package_name, url, server, scopes, caller } = await this.#pending(code, person)
    return { package_name, host: new URL(url).host, issuer: server.issuer, scopes, caller: caller.subject }
  }

  /** Uses the code: the address of the authorization server, and the secret for the cookie of the browser. */
  async begin(
    code: string,
    person: Person | null,
  ): Promise<{ readonly url: string; readonly secret: string }> {
    const { records, base_url, clock } = this.#options
    await this.#pending(code, person)
    const pending = await this.#use<Pending>('UpstreamSignIn', code)
    const browser = this.#secret()
    const begun: Begun = {
      ...pending,
      state: this.#secret(),
      verifier: this.#secret(),
      redirect_uri: callbackOf(base_url(), pending.server.issuer),
      browser: digest(browser),
    }
    const expires_at = clock() + signInMilliseconds
    await records.put('UpstreamCallback', begun.state, begun, { expires_at, owner: begun.owner })
    return { url: await authorizationUrl(begun), secret: browser }
  }

  /** Stores the tokens; returns the name of the agent. Throws Failure for an answer that is not that of this browser. */
  async finish(
    issuerKey: string,
    returned: URL,
    browser: { readonly secret: string | undefined; readonly person: Person | null },
    signal: AbortSignal,
  ): Promise<string> {
    const { records, grants, clients, credentials } = this.#options
    const state = returned.searchParams.get('state') ?? ''
    const found = (await records.find<Begun>('UpstreamCallback', state))?.document
    if (!found || !isBegunBy(browser.secret, issuerKey, found)) {
      throw new Failure('forbidden', 'This browser has not begun this sign-in, or it took too long.', {
        hint: 'Repeat the call that asked for the sign-in.',
      })
    }
    await this.#assertCaller(found, browser.person)
    const begun = await this.#use<Begun>('UpstreamCallback', state)
    const { owner, entry_id, package_name, url } = begun
    const tokens = await grants.redeem(begun, returned, signal).catch(async (fault) => {
      if (isUnknownClient(fault)) await clients.forget(begun.server)
      throw refused(begun, fault)
    })
    await credentials.putSignIn({ owner, entry_id, url }, tokens)
    return package_name
  }

  /** The stored sign-in that the agent still asks for, or a new one in its place. */
  async #request(agent: AskingAgent, caller: Principal): Promise<SignInPlace | undefined> {
    const { records, clock } = this.#options
    const owner = principalKey(caller)
    const requirement = await this.#requirementOf(agent, owner)
    if (!requirement) return undefined
    const alias = JSON.stringify([owner, agent.entry_id])
    const before = (await records.findByAlias<Pending>('UpstreamSignIn', alias))?.document
    const isLeft = before !== undefined && before.expires_at - clock() > leftMilliseconds
    if (isLeft && isFor(before, agent.url, requirement)) return this.#shown(before)
    if (before) await records.remove('UpstreamSignIn', before.code)
    const pending = await this.#newPending(agent, caller, requirement)
    const { expires_at } = pending
    await records.put('UpstreamSignIn', pending.code, pending, { expires_at, alias, owner })
    return this.#shown(pending)
  }

  async #requirementOf(agent: AskingAgent, owner: string): Promise<Requirement | undefined> {
    const { findRequirement, clients, credentials } = this.#options
    const found = await findRequirement(agent)
    if (!found) return undefined
    const { server } = found
    const isOperators = clients.isOperators(server.issuer, agent.url)
    if (!isOperators && server.code_challenge_methods_supported?.includes('S256') !== true) {
      throw new Error(`${server.issuer} does not support PKCE with S256.`)
    }
    const before = (await credentials.signInOf(owner, agent.entry_id))?.scopes ?? []
    const { error, scope } = parseChallenge(agent.challenge)
    const isMore = error === 'insufficient_scope'
    const missing = scopesIn(scope).filter((word) => !before.includes(word))
    if (isMore && missing.length === 0) return undefined
    const lasting = server.scopes_supported?.includes(offline) === true ? [offline] : []
    const scopes = [...new Set([...(isMore ? before : []), ...found.scopes, ...lasting])]
    return { ...found, scopes }
  }

  async #newPending(
    { entry_id, package_name, url }: AskingAgent,
    caller: Principal,
    { server, resource, scopes }: Requirement,
  ): Promise<Pending> {
    const { clients, clock } = this.#options
    const signal = AbortSignal.timeout(registrationMilliseconds)
    const client = await clients.of(server, url, signal).catch((fault) => {
      throw unusable(package_name, fault)
    })
    return {
      code: this.#secret(),
      owner: principalKey(caller),
      caller: { issuer: caller.issuer, subject: caller.subject },
      entry_id,
      package_name,
      url,
      server,
      client,
      ...(resource !== undefined && { resource }),
      scopes,
      expires_at: clock() + signInMilliseconds,
    }
  }

  #shown({ code, server, scopes, expires_at }: Pending): SignInPlace {
    const sign_in_url = `${this.#options.base_url()}${connectPath}/${code}`
    return { sign_in_url, issuer: server.issuer, scopes, expires_at }
  }

  async #pending(code: string, person: Person | null): Promise<Pending> {
    const pending = (await this.#options.records.find<Pending>('UpstreamSignIn', code))?.document
    if (!pending) throw nothingWaits()
    await this.#assertCaller(pending, person)
    return pending
  }

  /** A document for the first caller only, who ends it. */
  async #use<Document>(kind: string, name: string): Promise<Document> {
    const { records } = this.#options
    const document = await records.take<Document>(kind, name)
    if (!document) throw nothingWaits()
    await records.remove(kind, name)
    return document
  }

  /** A caller who has an account signs in with it; for any other the address itself is the proof. */
  async #assertCaller({ owner, caller }: Pending, person: Person | null): Promise<void> {
    if (person !== null && principalKey(person) === owner) return
    const account = await this.#options.accounts.find(owner)
    if (person === null && account === undefined) return
    const message =
      person === null
        ? 'Sign in to this gateway first: this address is for a person who has an account here.'
        : `This address is for ${account?.name ?? caller.subject}, and this browser is signed in as ${person.name}.`
    throw new Failure('forbidden', message, {
      hint: `Sign in at ${this.#options.base_url()}/sign-in, then open this address again.`,
    })
  }

  #secret(): string {
    return Buffer.from(this.#options.random(32)).toString('base64url')
  }
}

/** True if a stored sign-in is the one that the agent asks for now. */
function isFor(pending: Pending, url: string, { server, resource, scopes }: Requirement): boolean {
  return (
    pending.url === url &&
    pending.server.issuer === server.issuer &&
    pending.resource === resource &&
    pending.scopes.join(' ') === scopes.join(' ')
  )
}

function isBegunBy(secret: string | undefined, key: string, { browser, server }: Begun): boolean {
  return secret !== undefined && isSameSecret(digest(secret), browser) && issuerKey(server.issuer) === key
}

async function authorizationUrl(begun: Begun): Promise<string> {
  const { server, client, resource, scopes, redirect_uri, state, verifier } = begun
  const url = new URL(server.authorization_endpoint)
  const parameters = {
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri,
    state,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    ...(resource !== undefined && { resource }),
    // OpenID Connect Core 1.0, section 11: without the prompt a server may leave out the refresh token.
    ...(scopes.includes(offline) && { prompt: 'consent' }),
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

function digest(secret: string): string {
  return hash('sha256', secret, 'base64url')
}

function nothingWaits(): Failure {
  return new Failure('not_found', 'This address was used before, or it is older than ten minutes.', {
    hint: 'Repeat the call that asked for the sign-in.',
  })
}

function refused({ server, package_name }: Begun, fault: unknown): Failure {
  const { host } = new URL(server.issuer)
  if (fault instanceof AuthorizationResponseError) {
    return new Failure('forbidden', `${host} did not permit the sign-in to ${package_name}.`, {}, fault)
  }
  return new Failure(
    'upstream_invalid',
    `The sign-in to ${package_name} at ${host} failed: ${reasonOf(fault)}`,
    { hint: 'Repeat the call that asked for the sign-in.' },
    fault,
  )
}

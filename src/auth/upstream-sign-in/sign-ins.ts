import { hash } from 'node:crypto'
import { AuthorizationResponseError, calculatePKCECodeChallenge } from 'oauth4webapi'
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
import { type Challenged, type FindRequirement, parseChallenge, scopesIn, unusable } from './requirement.ts'

/** An agent that asks its caller for a sign-in. */
interface AskingAgent extends Challenged {
  readonly entry_id: string
}

/** An address of this gateway at which a caller signs in to an agent. */
interface SignInRequest {
  readonly sign_in_url: string
  readonly issuer: string
  readonly scopes: readonly string[]
  /** Milliseconds since the epoch. */
  readonly expires_at: number
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
interface SignInView {
  readonly package_name: string
  readonly host: string
  readonly issuer: string
  readonly scopes: readonly string[]
  /** The subject of the caller. */
  readonly caller: string
}

/** Sign-ins of callers to listed agents, by the authorization code flow in their browser. */
export interface SignIns {
  /**
   * Where the caller signs in to an agent; undefined if the agent asks for no sign-in, or for nothing that a sign-in
   * could add. Rejects with a Failure for a sign-in that cannot be used.
   */
  ask(agent: AskingAgent, caller: Principal): Promise<SignInRequest | undefined>
  /** Throws Failure `not_found`, and `forbidden` for another person than the caller. */
  show(code: string, person: Person | null): Promise<SignInView>
  /** Uses the code: the address of the authorization server, and the secret for the cookie of the browser. */
  begin(code: string, person: Person | null): Promise<{ readonly url: string; readonly secret: string }>
  /** Stores the tokens; returns the name of the agent. Throws Failure for an answer that is not that of this browser. */
  finish(
    issuerKey: string,
    returned: URL,
    browser: { readonly secret: string | undefined; readonly person: Person | null },
    signal: AbortSignal,
  ): Promise<string>
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

export function createSignIns(options: SignInsOptions): SignIns {
  const { findRequirement, clients, grants, records, accounts, credentials, base_url, clock, random } =
    options
  const asking = new Map<string, Promise<SignInRequest | undefined>>()
  const secret = () => Buffer.from(random(32)).toString('base64url')

  async function pendingOf(code: string, person: Person | null): Promise<Pending> {
    const pending = (await records.find<Pending>('UpstreamSignIn', code))?.document
    if (!pending) throw nothingWaits()
    await assertCaller(pending, person)
    return pending
  }

  /** A caller who has an account signs in with it; for any other the address itself is the proof. */
  async function assertCaller({ owner, caller }: Pending, person: Person | null): Promise<void> {
    if (person !== null && principalKey(person) === owner) return
    const account = await accounts.find(owner)
    if (person === null && account === undefined) return
    const message =
      person === null
        ? 'Sign in to this gateway first: this address is for a person who has an account here.'
        : `This address is for ${account?.name ?? caller.subject}, and this browser is signed in as ${person.name}.`
    throw new Failure('forbidden', message, {
      hint: `Sign in at ${base_url()}/sign-in, then open this address again.`,
    })
  }

  async function requirementOf(agent: AskingAgent, owner: string) {
    const found = await findRequirement(agent)
    if (!found) return undefined
    const { server } = found
    const isOperators = clients.isOperators(server.issuer)
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

  async function ask(agent: AskingAgent, caller: Principal): Promise<SignInRequest | undefined> {
    const owner = principalKey(caller)
    const { entry_id, package_name, url } = agent
    const requirement = await requirementOf(agent, owner)
    if (!requirement) return undefined
    const { server, resource, scopes } = requirement
    const alias = JSON.stringify([owner, entry_id])
    const before = (await records.findByAlias<Pending>('UpstreamSignIn', alias))?.document
    const isSame =
      before?.url === url &&
      before.server.issuer === server.issuer &&
      before.resource === resource &&
      before.scopes.join(' ') === scopes.join(' ')
    if (before && isSame && before.expires_at - clock() > leftMilliseconds) return requestOf(before)
    if (before) await records.remove('UpstreamSignIn', before.code)
    const client = await clients.of(server, AbortSignal.timeout(registrationMilliseconds)).catch((fault) => {
      throw unusable(package_name, fault)
    })
    const { issuer, subject } = caller
    const expires_at = clock() + signInMilliseconds
    const pending: Pending = {
      code: secret(),
      owner,
      caller: { issuer, subject },
      entry_id,
      package_name,
      url,
      server,
      client,
      ...(resource !== undefined && { resource }),
      scopes,
      expires_at,
    }
    await records.put('UpstreamSignIn', pending.code, pending, { expires_at, alias, owner })
    return requestOf(pending)
  }

  const requestOf = ({ code, server, scopes, expires_at }: Pending): SignInRequest => ({
    sign_in_url: `${base_url()}${connectPath}/${code}`,
    issuer: server.issuer,
    scopes,
    expires_at,
  })

  return {
    async ask(agent, caller) {
      const key = JSON.stringify([principalKey(caller), agent.entry_id, agent.challenge])
      const current =
        asking.get(key) ??
        ask(agent, caller)
          .catch((fault) => {
            throw fault instanceof Failure ? fault : unusable(agent.package_name, fault)
          })
          .finally(() => asking.delete(key))
      asking.set(key, current)
      return await current
    },

    async show(code, person) {
      const { package_name, url, server, scopes, caller } = await pendingOf(code, person)
      return { package_name, host: new URL(url).host, issuer: server.issuer, scopes, caller: caller.subject }
    },

    async begin(code, person) {
      await pendingOf(code, person)
      const pending = await records.take<Pending>('UpstreamSignIn', code)
      if (!pending) throw nothingWaits()
      await records.remove('UpstreamSignIn', code)
      const { server, client, resource, scopes, owner } = pending
      const browser = secret()
      const begun: Begun = {
        ...pending,
        state: secret(),
        verifier: secret(),
        redirect_uri: callbackOf(base_url(), server.issuer),
        browser: digest(browser),
      }
      const expires_at = clock() + signInMilliseconds
      await records.put('UpstreamCallback', begun.state, begun, { expires_at, owner })
      const url = new URL(server.authorization_endpoint)
      const parameters = {
        response_type: 'code',
        client_id: client.client_id,
        redirect_uri: begun.redirect_uri,
        state: begun.state,
        code_challenge: await calculatePKCECodeChallenge(begun.verifier),
        code_challenge_method: 'S256',
        ...(scopes.length > 0 && { scope: scopes.join(' ') }),
        ...(resource !== undefined && { resource }),
        // OpenID Connect Core 1.0, section 11: without the prompt a server may leave out the refresh token.
        ...(scopes.includes(offline) && { prompt: 'consent' }),
      }
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
      return { url: url.href, secret: browser }
    },

    async finish(key, returned, browser, signal) {
      const state = returned.searchParams.get('state') ?? ''
      const found = (await records.find<Begun>('UpstreamCallback', state))?.document
      const isOwn =
        found !== undefined &&
        browser.secret !== undefined &&
        isSameSecret(digest(browser.secret), found.browser) &&
        issuerKey(found.server.issuer) === key
      if (!isOwn) {
        throw new Failure('forbidden', 'This browser has not begun this sign-in, or it took too long.', {
          hint: 'Repeat the call that asked for the sign-in.',
        })
      }
      await assertCaller(found, browser.person)
      const begun = await records.take<Begun>('UpstreamCallback', state)
      if (!begun) throw nothingWaits()
      await records.remove('UpstreamCallback', state)
      const { owner, entry_id, package_name, url } = begun
      const tokens = await grants.redeem(begun, returned, signal).catch(async (fault) => {
        if (isUnknownClient(fault)) await clients.forget(begun.server)
        throw refused(begun, fault)
      })
      await credentials.putSignIn({ owner, entry_id, url }, tokens)
      return package_name
    },
  }
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

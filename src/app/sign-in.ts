import { randomBytes } from 'node:crypto'
import { Failure } from '../../schemas/failure.ts'
import { createAccounts } from '../auth/authorization-server/accounts.ts'
import { AuthorizationServer } from '../auth/authorization-server/authorization-server.ts'
import { consumeLoginLink } from '../auth/authorization-server/login-link.ts'
import { createRecords } from '../auth/authorization-server/records.ts'
import type { Login } from '../auth/logins/login.ts'
import type { Vault } from '../auth/vault.ts'
import { Buckets } from '../router/buckets.ts'
import type { Store } from '../store/store.ts'
import { protocolPages } from '../transports/oauth/pages.ts'
import type { Identity } from './identity.ts'
import type { Outbound } from './outbound.ts'
import type { Runtime } from './runtime.ts'

/** Sign-in of people, for browsers and for the clients that they allow. */
export interface SignIn {
  readonly server: AuthorizationServer
  readonly readsClientDocuments: boolean
  /** Counts one registration of a client. Throws Failure `rate_limited`. */
  readonly countRegistration: (client: string) => void
  readonly consumeLoginLink: (code: string) => Promise<boolean>
}

interface SignInPorts {
  readonly store: Pick<Store, 'signIn'>
  readonly vault: Vault
  readonly outbound: Outbound
  readonly identity: Pick<Identity, 'ring' | 'endGrant'>
  readonly logins: readonly Login[]
}

/** Registrations of clients, per minute and address. */
const registrations = 5
const maxDocumentBytes = 8 * 1024

export function openSignIn(
  { config, clock, site, log, onErrorOf }: Runtime,
  { store, vault, outbound, identity, logins }: SignInPorts,
): SignIn {
  const records = createRecords(store.signIn, vault, clock)
  const buckets = new Buckets(clock)
  const readsClientDocuments = config.DRAGOMAN_CLIENT_DOCUMENTS === 'on'

  async function fetchDocument(url: string, signal: AbortSignal): Promise<Response> {
    const { status, body } = await outbound.public.fetch({
      url,
      headers: { accept: 'application/json' },
      signal,
      max_bytes: maxDocumentBytes,
      timeout_ms: 5000,
      refuse_redirects: true,
    })
    if (status !== 200) throw new Failure('unavailable', `The metadata of the client answers ${status}.`)
    return new Response(Uint8Array.from(body), { headers: { 'Content-Type': 'application/json' } })
  }

  const server = new AuthorizationServer({
    issuer: () => site().base_url,
    async signingKey() {
      const { kid, jwk } = await identity.ring.signing()
      return { ...jwk, kid }
    },
    logins: logins.map((login) => logged(login, log)),
    records,
    accounts: createAccounts(records, clock),
    pages: protocolPages,
    clock,
    random: randomBytes,
    endTokens: identity.endGrant,
    ...(readsClientDocuments && { fetchDocument }),
    onError: onErrorOf('sign_in'),
  })
  return {
    server,
    readsClientDocuments,
    countRegistration(client) {
      if (config.DRAGOMAN_RATE_LIMIT !== 'off') buckets.take('register', client, registrations)
    },
    consumeLoginLink: (code) => consumeLoginLink(store.signIn, clock, code),
  }
}

/** A login that logs why it failed: its issuer may be away or refuse this gateway, and the person learns only that. */
function logged(login: Login, log: Runtime['log']): Login {
  const note = (fault: unknown): never => {
    const level = Failure.from(fault).code === 'unavailable' ? 'warn' : 'info'
    log[level]({ login: login.id, reason: reasonOf(fault) }, 'login failed')
    throw fault
  }
  return {
    ...login,
    begin: (callback) => login.begin(callback).catch(note),
    finish: (...returned) => login.finish(...returned).catch(note),
  }
}

/** What the causes of a fault say, the outermost first, with the codes of OAuth. */
function reasonOf(fault: unknown): string {
  const reasons: string[] = []
  for (let cause = fault; cause instanceof Error; cause = cause.cause) {
    reasons.push(cause.message)
    if ('error' in cause && typeof cause.error === 'string') reasons.push(cause.error)
  }
  return reasons.join(' ')
}

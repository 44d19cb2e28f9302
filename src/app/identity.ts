import { randomBytes } from 'node:crypto'
import type { JWK } from 'jose'
import type { IdentityPort } from '../../agents/registry/port.ts'
import { localIssuer, type Revocation } from '../../schemas/identity.ts'
import { createApiKeys } from '../auth/api-keys.ts'
import { type Authenticate, createAuthenticator } from '../auth/authenticator.ts'
import { createExternalVerifier } from '../auth/external.ts'
import { issuerName } from '../auth/issuer.ts'
import { readIssuers } from '../auth/issuers.ts'
import { type KeyRing, openKeyRing } from '../auth/key-ring.ts'
import { createLocalVerifier } from '../auth/local.ts'
import type { Login } from '../auth/logins/login.ts'
import { createMinter, type Mint } from '../auth/minter.ts'
import { Revocations } from '../auth/revocations.ts'
import { createRevoker } from '../auth/revoker.ts'
import { createStanding, type Standing } from '../auth/standing.ts'
import { principalKey } from '../common/principal-key.ts'
import { Buckets } from '../router/buckets.ts'
import type { Store } from '../store/store.ts'
import { keysPath } from './config.ts'
import { watchKeys } from './keys-differ.ts'
import type { Outbound } from './outbound.ts'
import type { Runtime } from './runtime.ts'

/** Authentication: tokens, API keys, external issuers and revocation. */
export interface Identity extends IdentityPort {
  readonly authenticate: Authenticate
  readonly ring: KeyRing
  /** Compares the keys with those of the other gateways, for `/readyz`; it is done every minute by itself. */
  checkKeys(): Promise<void>
  /** Issuer of the tokens that the command line makes. */
  readonly issuer: string
  readonly mint: Mint
  readonly published: () => Promise<readonly JWK[]>
  /** The other issuers whose tokens are accepted. */
  readonly external: readonly string[]
  /** All whose subjects this gateway knows: itself, the other issuers, and the logins. */
  readonly issuers: readonly string[]
  /** Counts one request of a client to the token endpoint. Throws Failure `rate_limited`. */
  readonly count: (client: string) => void
  /** Ends what outlives a check of its caller's token. */
  readonly standing: Standing
  /** Ends the access tokens of what a user granted to a client. */
  endGrant(grant: string): Promise<void>
}

/** Attempts at the token endpoint, per minute and address. */
const attempts = 60

interface IdentityPorts {
  readonly store: Store
  readonly outbound: Outbound
  readonly logins: readonly Login[]
  /** Ends the sign-ins of a principal key to listed agents. */
  readonly endSignIns: (owner: string) => Promise<void>
}

/**
 * Reads the keys, the revocations and the issuers of the configuration. Throws Failure `invalid_request` for an
 * invalid issuer.
 */
export async function openIdentity(
  runtime: Runtime,
  { store, outbound, logins, endSignIns }: IdentityPorts,
): Promise<Identity> {
  const { stack, config, clock, site } = runtime
  const onError = runtime.onErrorOf('identity')
  const ring = await openKeyRing(keysPath(config), clock)
  const checkKeys = await watchKeys(runtime, store, ring)
  const own = [...new Set([ring.name, site().base_url])]
  const others = await readIssuers(config.DRAGOMAN_ISSUERS, own)
  const revocations = stack.use(
    await Revocations.open({
      store: store.identity,
      wake: (signal) => store.wake(signal),
      clock,
      onError,
    }),
  )
  const keys = createApiKeys({
    store: store.identity,
    endKey: (id, revocation) => revocations.endKey(id, revocation),
    revocationOf: (holder, issued_at) => revocations.ofSubject(holder, issued_at),
    clock,
    random: randomBytes,
  })
  const local = createLocalVerifier(ring, () => site().base_url, clock)
  const external = new Map(
    others.map((issuer) => {
      const allowed = [issuer.issuer, ...(issuer.jwks_uri === undefined ? [] : [issuer.jwks_uri])]
      return [
        issuer.issuer,
        createExternalVerifier(issuer, { fetch: outbound.fetchFrom(allowed), clock, onError }),
      ] as const
    }),
  )
  const issuers = [...new Set([localIssuer, ...external.keys(), ...logins.map(({ issuer }) => issuer)])]
  const isOwn = (issuer: string) => issuer === ring.name || issuer === site().base_url
  const authenticate = createAuthenticator({
    verifierOf: (issuer) => (isOwn(issuer) ? local : external.get(issuer)),
    verifyKey: keys.verify,
    isTrusted: (issuer) => issuers.includes(issuer),
    revocations,
    clock,
    onRefused: (refusal) => runtime.log.info(refusal, 'credential refused'),
  })
  const buckets = new Buckets(clock)
  return {
    authenticate,
    ring,
    checkKeys,
    issuer: issuerName(ring, config.DRAGOMAN_BASE_URL),
    mint: createMinter(ring, () => site().base_url, clock),
    published: ring.published,
    external: others.map((issuer) => issuer.issuer),
    issuers,
    count(client) {
      if (config.DRAGOMAN_RATE_LIMIT !== 'off') buckets.take('token', client, attempts)
    },
    standing: createStanding({ revocations, clock }),
    endGrant: (grant) => revocations.revoke(endOfGrant(grant, clock())),
    createKey: keys.create,
    listKeys: keys.list,
    deleteKey: (key, caller) => keys.remove(key, caller),
    revoke: createRevoker({
      revocations,
      keys,
      ring,
      authenticate,
      async endSignIns(holder) {
        const owner = principalKey(holder)
        await store.signIn.removeOwner(owner)
        await endSignIns(owner)
      },
      clock,
    }),
  }
}

/** Access tokens live for an hour at most; twice that, for clocks that differ. */
const grantTokensMilliseconds = 7_200_000

function endOfGrant(name: string, before: number): Revocation {
  return {
    kind: 'grant',
    issuer: '',
    name,
    before,
    expires_at: before + grantTokensMilliseconds,
    reason: null,
  }
}

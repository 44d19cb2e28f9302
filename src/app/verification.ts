import { randomBytes } from 'node:crypto'
import { localIssuer } from '../../schemas/identity.ts'
import type { SignatureReport } from '../../schemas/trust.ts'
import { createTxtResolver } from '../net/fetch/resolver.ts'
import { createKeysOf } from '../registry/verification/card-keys.ts'
import { verifyCard } from '../registry/verification/card-signature.ts'
import { claimToken, statement } from '../registry/verification/challenge.ts'
import { Checker, type CheckerOptions } from '../registry/verification/checker.ts'
import { isProvable } from '../registry/verification/domain.ts'
import { createLoginProver, type ProveLogin } from '../registry/verification/domain-login.ts'
import type { Prove } from '../registry/verification/proof.ts'
import { createProver } from '../registry/verification/prove.ts'
import { httpsOrigin } from '../registry/verification/site-text.ts'
import type { Store } from '../store/store.ts'
import type { Outbound } from './outbound.ts'
import type { Runtime } from './runtime.ts'

/** Proofs, signatures and checks behind the verification levels. */
export interface Verification {
  readonly prove: Prove
  readonly proveLogin: ProveLogin
  /** Secret of this installation, shared by all processes of its store; created at its first use. */
  readonly secret: () => Promise<Uint8Array>
  readonly checker: Checker
  /** The domain of the base URL; null if its host is not a domain that can be proved. */
  readonly domain: string | null
  /** The proof that the gateway serves at its own domain; null without a domain. */
  readonly challenge: () => Promise<string | null>
}

const resolveMilliseconds = 5000
const gateway = { issuer: localIssuer, subject: 'urn:dragoman:gateway' }

export function openVerification(
  runtime: Runtime,
  store: Store,
  outbound: Outbound,
  {
    fetchCard,
    reader,
    protectedNames,
  }: Required<Pick<CheckerOptions, 'fetchCard' | 'reader' | 'protectedNames'>>,
): Verification {
  const { config, options, clock } = runtime
  const { DRAGOMAN_BASE_URL, DRAGOMAN_DNS_SERVERS, DRAGOMAN_ALLOW_ORIGINS } = config
  const { fetch } = outbound.public
  const servers = { servers: DRAGOMAN_DNS_SERVERS, timeout_ms: resolveMilliseconds }
  const { resolveTxt = createTxtResolver(servers), originOf } = options
  const site = { resolveTxt, ...(originOf && { originOf }) }
  const prove = createProver({ ...site, fetch })
  const keysOf = createKeysOf({ fetch, ...(originOf && { originOf }) })
  const domain = domainIn(DRAGOMAN_BASE_URL)
  let secretMade: Promise<Uint8Array> | undefined

  async function makeSecret(): Promise<Uint8Array> {
    const made = randomBytes(32).toString('base64url')
    return Buffer.from(await store.settings.settle('challenge-secret', made), 'base64url')
  }

  async function secret(): Promise<Uint8Array> {
    secretMade ??= makeSecret().catch((fault) => {
      secretMade = undefined
      throw fault
    })
    return await secretMade
  }

  async function verifySignature(
    card: unknown,
    domain: string | null,
    signal: AbortSignal,
  ): Promise<SignatureReport> {
    const { kid, unsigned, ...checked } = await verifyCard(card, { domain, keysOf }, signal)
    return {
      ...checked,
      ...(kid !== undefined && { key_id: kid }),
      ...(unsigned && { unsigned: [...unsigned] }),
    }
  }

  /** Unlike all other clients, this one may reach the gateway's own base URL. */
  function ownDomain(domain: string) {
    const own = outbound.reach({ allow_origins: DRAGOMAN_ALLOW_ORIGINS, refuse_origins: () => [] })
    return { domain, claimant: gateway, prove: createProver({ ...site, fetch: own.fetch }) }
  }

  return {
    prove,
    proveLogin: createLoginProver({ resolveTxt, fetch, originOf: originOf ?? httpsOrigin, clock }),
    secret,
    domain,
    checker: new Checker({
      store,
      clock,
      fetchCard,
      reader,
      prove,
      secret,
      verifySignature,
      protectedNames,
      own: domain === null ? null : ownDomain(domain),
      onError: runtime.onErrorOf('check'),
    }),
    challenge: async () => domain && `${statement(claimToken(await secret(), gateway, domain))}\n`,
  }
}

function domainIn(baseUrl: string | undefined): string | null {
  if (baseUrl === undefined) return null
  const { hostname } = new URL(baseUrl)
  return isProvable(hostname) ? hostname : null
}

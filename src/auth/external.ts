import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose'
import { Failure } from '../../schemas/failure.ts'
import { isRecord } from '../../schemas/json.ts'
import { PackageName } from '../../schemas/names.ts'
import type { Principal, Scope } from '../../schemas/scope.ts'
import { parseJson } from '../common/json.ts'
import { type ExternalIssuer, SecureUrl } from './issuers.ts'
import { maxTokenMilliseconds } from './key-ring.ts'
import { refused, type Verify, verifyJwt } from './verify.ts'

/** The part of `SafeFetch` that this file uses. */
type FetchKeys = (request: {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  readonly max_bytes: number
  readonly timeout_ms: number
}) => Promise<Answer>

interface Answer {
  readonly status: number
  readonly body: Uint8Array
  /** The addresses that redirected. */
  readonly redirects: readonly string[]
}

export interface ExternalOptions {
  readonly fetch: FetchKeys
  readonly clock: () => number
  /** Receives why an issuer's keys cannot be fetched. */
  readonly onError: (fault: unknown) => void
  /** How long after a fetch an unknown `kid` causes no further fetch; 30,000 when absent. */
  readonly cooldown_ms?: number
}

const timeoutMilliseconds = 5000
const maxBytes = 512 * 1024
/** Time for which an issuer that did not answer is not asked again. */
const restMilliseconds = 5000

/** Verifies the tokens of one issuer that the operator trusts, with the keys that it publishes. */
export function createExternalVerifier(issuer: ExternalIssuer, options: ExternalOptions): Verify {
  const keys = createKeys(issuer, options)

  return async (token) => {
    const { payload, typ } = await verifyJwt(token, {
      algorithms: issuer.algorithms,
      issuer: [issuer.issuer],
      audience: issuer.audience,
      types: issuer.types,
      key: keys,
      clock: options.clock,
    })
    const { sub, jti, iat, exp } = payload
    if (typeof sub !== 'string' || sub === '' || sub.length > 200)
      throw refused(new Error('The sub claim is missing or invalid.'))
    // RFC 9068 section 2.2 requires one in access tokens; other types may have none.
    if (typ === 'at+jwt' && typeof jti !== 'string') throw refused(new Error('No jti.'))
    // Revocations of a subject are stored this long; a longer token would become valid again.
    const life = Number(exp) - (iat ?? options.clock() / 1000)
    if (life > maxTokenMilliseconds / 1000)
      throw refused(new Error('The token is valid for more than a year.'))
    return {
      issuer: issuer.issuer,
      subject: sub,
      scopes: scopesIn(payload, issuer),
      namespaces: namespacesIn(payload, issuer),
      expires_at: Number(exp),
      credential: {
        issued_at: typeof iat === 'number' ? iat * 1000 : 0,
        ...(typeof jti === 'string' && { jti }),
      },
    } satisfies Principal
  }
}

/**
 * The issuer's keys, fetched at first use. If they cannot be fetched the failure is `unavailable`, never the
 * caller's fault.
 */
function createKeys(
  issuer: ExternalIssuer,
  { fetch, clock, onError, cooldown_ms }: ExternalOptions,
): JWTVerifyGetKey {
  let keys: Promise<JWTVerifyGetKey> | undefined
  let resting = Number.NEGATIVE_INFINITY

  async function get(url: string, signal?: AbortSignal): Promise<Answer> {
    if (isResting()) throw unreachable(issuer)
    try {
      const answer = await fetch({
        url,
        headers: { accept: 'application/json' },
        signal: signal ?? new AbortController().signal,
        max_bytes: maxBytes,
        timeout_ms: timeoutMilliseconds,
      })
      // Neither jose nor RFC 8414 follows redirects: one could lead to plain HTTP, or to another party's
      // keys.
      if (answer.redirects.length > 0) throw new Error('It redirects.')
      return answer
    } catch (fault) {
      throw rest(fault)
    }
  }

  function isResting(): boolean {
    const since = clock() - resting
    return since >= 0 && since < restMilliseconds
  }

  /** Logged once, not for each token. */
  function rest(fault: unknown): Failure {
    if (!isResting()) onError(new Error(`The keys of ${issuer.issuer} cannot be fetched.`, { cause: fault }))
    resting = clock()
    return unreachable(issuer, fault)
  }

  async function open(): Promise<JWTVerifyGetKey> {
    const url = issuer.jwks_uri ?? (await discover(issuer, get))
    if (url === undefined) throw rest(new Error('The issuer publishes no metadata that names its keys.'))
    return createRemoteJWKSet(new URL(url), {
      timeoutDuration: timeoutMilliseconds,
      ...(cooldown_ms !== undefined && { cooldownDuration: cooldown_ms }),
      [customFetch]: async (address, { signal }) => {
        const { status, body } = await get(address, signal)
        if (status === 200) return new Response(Uint8Array.from(body))
        throw rest(new Error(`The key set answers ${status}.`))
      },
    })
  }

  return async (header, jws) => {
    keys ??= open()
    const opened = await keys.catch((fault) => {
      keys = undefined
      throw fault
    })
    try {
      return await opened(header, jws)
    } catch (fault) {
      if (fault instanceof Failure || isCallersFault(fault)) throw fault
      throw rest(fault)
    }
  }
}

function isCallersFault(fault: unknown): boolean {
  return (
    fault instanceof errors.JWKSNoMatchingKey ||
    fault instanceof errors.JWKSMultipleMatchingKeys ||
    fault instanceof errors.JOSENotSupported
  )
}

/**
 * OpenID Connect Discovery 1.0 section 4, then RFC 8414 section 3; either must name the issuer itself. Undefined
 * if neither names the keys.
 */
async function discover(
  issuer: ExternalIssuer,
  get: (url: string) => Promise<Answer>,
): Promise<string | undefined> {
  const { origin, pathname } = new URL(issuer.issuer)
  const path = pathname.replace(/\/$/, '')
  for (const url of [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ]) {
    const { status, body } = await get(url)
    const metadata = status === 200 ? parseJson(Buffer.from(body).toString()) : undefined
    if (!isRecord(metadata) || metadata.issuer !== issuer.issuer) continue
    const { success, data } = SecureUrl.safeParse(metadata.jwks_uri)
    if (success) return data
  }
  return undefined
}

function unreachable({ issuer }: ExternalIssuer, cause?: unknown): Failure {
  const message = `The keys of ${issuer} cannot be fetched now, so its tokens cannot be checked.`
  return new Failure('unavailable', message, { retry_after_s: restMilliseconds / 1000 }, cause)
}

/** `scope` (RFC 8693) or `scp` (Entra, Okta), as text or a list, mapped by the operator's table. */
function scopesIn(payload: Record<string, unknown>, { scopes }: ExternalIssuer): ReadonlySet<Scope> {
  const theirs = [payload.scope, payload.scp].flatMap(words)
  return new Set(theirs.flatMap((word) => (Object.hasOwn(scopes, word) ? (scopes[word] ?? []) : [])))
}

function namespacesIn(payload: Record<string, unknown>, { namespaces_claim }: ExternalIssuer): string[] {
  if (namespaces_claim === undefined) return []
  const claimed = Object.hasOwn(payload, namespaces_claim) ? words(payload[namespaces_claim]) : []
  // A group of one word, such as `com`, would cover half of all names.
  return claimed
    .filter((namespace) => namespace.includes('.') && PackageName.safeParse(namespace).success)
    .slice(0, 100)
}

function words(value: unknown): string[] {
  if (typeof value === 'string') return value.split(' ').filter(Boolean)
  return Array.isArray(value) ? value.filter((word) => typeof word === 'string') : []
}

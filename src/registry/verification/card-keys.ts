import { importJWK, type JWK } from 'jose'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord, presentFields } from '../../../schemas/json.ts'
import type { Fetch } from '../../net/fetch/fetch.ts'
import { httpsOrigin, readText } from './site-text.ts'

/**
 * The keys that a verified domain publishes (RFC 7517), from its jwks.json, or from `jku` if that has the same
 * origin. Throws Failure for keys that cannot be fetched, and the signal's reason.
 */
export type KeysOf = (domain: string, signal: AbortSignal, jku?: string) => Promise<readonly JWK[]>

interface KeyPorts {
  readonly fetch: Fetch
  /** Origin of a domain's files; https://DOMAIN when absent. */
  readonly originOf?: (domain: string) => string
}

const max_bytes = 64 * 1024
const maxKeys = 100
const maxOfOneName = 4

export function createKeysOf({ fetch, originOf = httpsOrigin }: KeyPorts): KeysOf {
  return async (domain, signal, jku) => {
    const origin = originOf(domain)
    if (jku !== undefined && (!URL.canParse(jku) || new URL(jku).origin !== origin)) {
      throw new Failure(
        'forbidden',
        `Its keys are at ${jku.slice(0, 200)}, not at ${origin}, and are not fetched.`,
      )
    }
    const url = jku ?? `${origin}/.well-known/jwks.json`
    return parseKeys(await readText(fetch, url, signal, { max_bytes, types: /./ }), url)
  }
}

function parseKeys(text: string, url: string): readonly JWK[] {
  try {
    const { keys }: { keys?: unknown } = JSON.parse(text)
    if (Array.isArray(keys)) return keys.slice(0, maxKeys).filter(isRecord)
  } catch {
    // Told below: not JSON, and JSON without keys, are the same to whoever serves it.
  }
  throw new Failure('upstream_invalid', `${url} is not a JSON Web Key Set.`)
}

/** Supported algorithms (RFC 7518, RFC 8037), each with its kind of key. */
const kinds = {
  ES256: { kty: 'EC', crv: 'P-256' },
  ES384: { kty: 'EC', crv: 'P-384' },
  EdDSA: { kty: 'OKP', crv: 'Ed25519' },
  RS256: { kty: 'RSA', crv: undefined },
  PS256: { kty: 'RSA', crv: undefined },
} as const

export type Algorithm = keyof typeof kinds

export function isAlgorithm(value: unknown): value is Algorithm {
  return typeof value === 'string' && Object.hasOwn(kinds, value)
}

/** The public keys of a set with this id that fit the algorithm; undefined if no key has the id. */
export async function keysNamed(keys: readonly JWK[], kid: string, alg: Algorithm) {
  const named = keys.filter((key) => key.kid === kid).slice(0, maxOfOneName)
  if (named.length === 0) return undefined
  const imported = await Promise.allSettled(
    named.filter((key) => isFit(key, alg)).map((key) => importJWK(publicPart(key), alg)),
  )
  return imported.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
}

function isFit(key: JWK, alg: Algorithm): boolean {
  const { kty, crv } = kinds[alg]
  if (key.kty !== kty || (crv !== undefined && key.crv !== crv)) return false
  if (key.alg !== undefined && key.alg !== alg) return false
  if (key.use !== undefined && key.use !== 'sig') return false
  return key.key_ops === undefined || (Array.isArray(key.key_ops) && key.key_ops.includes('verify'))
}

/** Drops the private members of a key, which some sets contain. */
function publicPart({ kty, crv, x, y, n, e }: JWK): JWK {
  return presentFields({ kty, crv, x, y, n, e }) as JWK
}

import { base64url, type CryptoKey, FlattenedSign, flattenedVerify } from 'jose'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'
import { type Form, formsOf, formsToSign } from './card-forms.ts'
import { type Algorithm, isAlgorithm, type KeysOf, keysNamed } from './card-keys.ts'
import { type JsonLimits, refusalOf } from './json-limits.ts'

export interface CardSigner {
  /** Ed25519 (signs as EdDSA) or ECDSA over P-256 (ES256). */
  readonly private_key: CryptoKey
  readonly kid: string
  /** URL of the key set, if it is not the domain's jwks.json. */
  readonly jku?: string | undefined
}

interface CardSignature {
  readonly protected: string
  readonly signature: string
}

/** Above what any entry within its bound renders to, so that each card of this gateway can be signed. */
const ownCard: JsonLimits = { max_values: 200_000, max_characters: 1024 * 1024 }

/**
 * Signs a card (A2A 1.0, 8.4: detached flattened JWS over RFC 8785), replacing its signatures. Makes one signature for
 * each form that verifiers use and one over the whole card, or fewer if forms have equal bytes: an A2A 1.0 card
 * without security schemes and empty values gets one. Throws Failure `invalid_request` for another kind of key and for
 * a card that has no canonical form.
 */
export async function signCard<Card extends Readonly<Record<string, unknown>>>(
  card: Card,
  { private_key, kid, jku }: CardSigner,
): Promise<Card & { signatures: CardSignature[] }> {
  const refusal = refusalOf(card, ownCard)
  if (refusal) throw new Failure('invalid_request', `The card cannot be signed: ${refusal}.`)
  const header = { alg: algorithmOf(private_key), kid, typ: 'JOSE', ...(jku !== undefined && { jku }) }
  const signatures = await Promise.all(
    formsToSign(card).map(async (payload) => {
      const jws = await new FlattenedSign(new TextEncoder().encode(payload))
        .setProtectedHeader(header)
        .sign(private_key)
      return { protected: jws.protected ?? '', signature: jws.signature }
    }),
  )
  return { ...card, signatures }
}

function algorithmOf({ algorithm }: CryptoKey): Algorithm {
  if (algorithm.name === 'Ed25519') return 'EdDSA'
  if ('namedCurve' in algorithm && algorithm.namedCurve === 'P-256') return 'ES256'
  throw new Failure('invalid_request', 'A card is signed by an Ed25519 or a P-256 key.')
}

export interface CardCheck {
  /** `untrusted_key`: signed by an unknown key, or by a key that cannot be fetched now. */
  readonly status: 'none' | 'valid' | 'invalid' | 'untrusted_key'
  readonly kid?: string
  /** False if the signature does not cover a member of the card. */
  readonly covers_all?: boolean
  /** JSON Pointers of the members that the most complete valid signature leaves out, 100 at most. */
  readonly unsigned?: readonly string[]
  readonly detail: string
}

interface CardTrust {
  /** The domain that the card's owner has proved. If it is null, no key is trusted. */
  readonly domain: string | null
  readonly keysOf: KeysOf
}

interface Header {
  readonly alg: Algorithm
  readonly kid: string
  readonly jku: string | undefined
}

type Verdict =
  | { readonly status: 'valid'; readonly kid: string; readonly unsigned: readonly string[] }
  | { readonly status: 'invalid' | 'untrusted_key'; readonly detail: string }

const maxSignatures = 8
const maxUnsigned = 100
const maxHeaderLength = 4096
const maxSignatureLength = 2048
const refusedParameters = ['crit', 'b64', 'jwk', 'x5c', 'x5u']

/**
 * Checks the signatures of a card, given as the JSON that its publisher serves. The card is valid if a key of the
 * verified domain made one of the signatures; other keys are neither trusted nor fetched. Throws only the signal's
 * reason.
 */
export async function verifyCard(card: unknown, trust: CardTrust, signal: AbortSignal): Promise<CardCheck> {
  signal.throwIfAborted()
  if (!isRecord(card)) return { status: 'invalid', detail: 'The card is not a JSON object.' }
  const { signatures } = card
  if (signatures === undefined || (Array.isArray(signatures) && signatures.length === 0)) {
    return { status: 'none', detail: 'The card is not signed.' }
  }
  const refusal = refusalOf(card)
  if (refusal) return { status: 'invalid', detail: `The card cannot be checked: ${refusal}.` }
  if (!Array.isArray(signatures)) return { status: 'invalid', detail: 'Its signatures are not a list.' }
  const forms = formsOf(card).map((form) => ({ ...form, payload: base64url.encode(form.payload) }))
  const keysOf = remembered(trust)
  const verdicts: Verdict[] = []
  for (const entry of signatures.slice(0, maxSignatures)) {
    verdicts.push(await judge(entry, forms, keysOf, signal))
    signal.throwIfAborted()
  }
  return summary(verdicts)
}

function summary(verdicts: readonly Verdict[]): CardCheck {
  const [best] = verdicts
    .filter((verdict) => verdict.status === 'valid')
    .toSorted((left, right) => left.unsigned.length - right.unsigned.length)
  if (best) {
    const { kid, unsigned } = best
    const covers_all = unsigned.length === 0
    const detail = covers_all ? 'The whole card is signed.' : 'The card is signed except for some members.'
    return { status: 'valid', kid, covers_all, unsigned: unsigned.slice(0, maxUnsigned), detail }
  }
  const [worst] = verdicts
    .filter((verdict) => verdict.status !== 'valid')
    .toSorted((left, right) => Number(right.status === 'invalid') - Number(left.status === 'invalid'))
  return worst ?? { status: 'invalid', detail: 'It has no readable signature.' }
}

type Keys = (jku: string | undefined, signal: AbortSignal) => ReturnType<KeysOf>

/** Fetches each key set once for all signatures of a card. */
function remembered({ domain, keysOf }: CardTrust): Keys {
  const sets = new Map<string | undefined, ReturnType<KeysOf>>()
  return async (jku, signal) => {
    if (domain === null) throw new Failure('forbidden', 'No domain is verified, so no key is trusted.')
    const set = sets.get(jku) ?? keysOf(domain, signal, jku)
    sets.set(jku, set)
    return set
  }
}

async function judge(
  entry: unknown,
  forms: readonly Form[],
  keysOf: Keys,
  signal: AbortSignal,
): Promise<Verdict> {
  const signature = readSignature(entry)
  if ('fault' in signature) return { status: 'invalid', detail: signature.fault }
  const { kid, alg, jku } = signature.header
  const set = await keysOf(jku, signal).catch((error: unknown) => Failure.from(error))
  if (set instanceof Failure) return { status: 'untrusted_key', detail: set.message }
  const keys = await keysNamed(set, kid, alg)
  if (!keys) return { status: 'untrusted_key', detail: `The domain publishes no key named ${kid}.` }
  for (const form of forms) {
    const jws = { ...signature.jws, payload: form.payload }
    for (const key of keys) {
      const isValid = await flattenedVerify(jws, key, { algorithms: [alg] }).then(
        () => true,
        () => false,
      )
      if (isValid) return { status: 'valid', kid, unsigned: form.unsigned }
    }
  }
  return {
    status: 'invalid',
    detail: `The signature is not by the key ${kid}, or the card was changed since.`,
  }
}

type Reading = { readonly jws: CardSignature; readonly header: Header } | { readonly fault: string }

function readSignature(entry: unknown): Reading {
  if (!isRecord(entry)) return { fault: 'A signature is not an object.' }
  const { protected: encoded, signature, header: open } = entry
  if (typeof encoded !== 'string' || encoded.length > maxHeaderLength) {
    return { fault: 'A signature has no readable protected header.' }
  }
  if (typeof signature !== 'string' || signature.length > maxSignatureLength) {
    return { fault: 'A signature is not a string of a permitted length.' }
  }
  const header = parseHeader(encoded)
  if (!header) return { fault: 'A protected header is not base64url of a JSON object.' }
  const refused = refusedParameters.find(
    (name) => Object.hasOwn(header, name) || (isRecord(open) && Object.hasOwn(open, name)),
  )
  if (refused) return { fault: `A signature with the header parameter ${refused} is refused.` }
  const { alg, kid, jku } = header
  if (!isAlgorithm(alg)) return { fault: 'A signature uses an unsupported algorithm.' }
  if (typeof kid !== 'string' || kid === '' || kid.length > 200)
    return { fault: 'A signature names no key (kid).' }
  if (jku !== undefined && typeof jku !== 'string')
    return { fault: 'A signature has a jku that is not a string.' }
  return { jws: { protected: encoded, signature }, header: { alg, kid, jku } }
}

function parseHeader(encoded: string): Record<string, unknown> | undefined {
  try {
    const header: unknown = JSON.parse(
      new TextDecoder('utf-8', { fatal: true }).decode(base64url.decode(encoded)),
    )
    return isRecord(header) ? header : undefined
  } catch {
    return undefined
  }
}

import { isDeepStrictEqual } from 'node:util'
import { Failure } from '../../../schemas/failure.ts'
import type { Change } from '../../../schemas/publication.ts'
import type { Principal } from '../../../schemas/scope.ts'
import type { Party, ProofRequest, VerificationOutcome } from '../../../schemas/trust.ts'
import type { Reader } from '../../store/store.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import type { Committed, Edit, Editor } from '../entry/editor.ts'
import { hasProved, namespacesOver } from '../entry/name-rules.ts'
import {
  assertMayChange,
  assertMayClaim,
  assertNotSuspended,
  coveringNamespace,
} from '../entry/permissions.ts'
import { toReference } from '../entry/reference.ts'
import { challengesFor, claimToken } from './challenge.ts'
import { agreement } from './domain.ts'
import type { Proof, Prove } from './proof.ts'
import { domainOf } from './verification-status.ts'

type VerifyRequest = Change & ProofRequest

/** Verifies and claims entries. */
interface Verifier {
  /** Checks for a proof of the domain by the entry's owner. */
  verify(request: VerifyRequest, caller: Principal | null, signal: AbortSignal): Promise<VerificationOutcome>
  /**
   * Makes the caller the owner of an entry whose owner, if it has one, did not prove the domain; by the same proof or by
   * the caller's namespace claim.
   */
  claim(request: VerifyRequest, caller: Principal | null, signal: AbortSignal): Promise<VerificationOutcome>
}

export interface VerifierOptions {
  readonly reader: Reader
  readonly editor: Editor
  readonly prove: Prove
  /** Secret of this installation; see `claimToken`. */
  readonly secret: () => Promise<Uint8Array>
}

export function createVerifier({ reader, editor, prove, secret }: VerifierOptions): Verifier {
  async function verify(
    request: VerifyRequest,
    caller: Principal | null,
    signal: AbortSignal,
  ): Promise<VerificationOutcome> {
    const entry = await reader.entry(toReference(request.agent))
    assertMayChange(caller, entry, request.agent)
    assertNotSuspended(entry)
    const { owner } = entry
    if (!owner) {
      throw new Failure('wrong_state', `${entry.package_name} has no owner.`, { hint: 'Claim it first.' })
    }
    return await attempt(entry, owner, request, signal, (proof) => {
      const edit: Edit = (now, _, at) => ({ ...unchanged(now, entry), ...verifiedFields(now, proof, at) })
      return editor.change(request, caller, { action: 'verify' }, edit)
    })
  }

  async function claim(
    request: VerifyRequest,
    caller: Principal | null,
    signal: AbortSignal,
  ): Promise<VerificationOutcome> {
    if (!caller) throw Failure.needsToken()
    const entry = await reader.entry(toReference(request.agent))
    const claims = entry ? await reader.claims(namespacesOver(entry.package_name)) : []
    const isProver = hasProved(caller, claims)
    assertMayClaim(caller, entry, request.agent, isProver)
    const namespace = coveringNamespace(caller, entry.package_name)
    const owner = { issuer: caller.issuer, subject: caller.subject, namespace }
    const take = (reason: string, proof?: Proof) => {
      const edit: Edit = (now, _, at) => claimed(unchanged(now, entry), owner, proof, at)
      const action = { action: entry.owner === null ? 'claim' : 'take_over', reason }
      return editor.change(request, caller, action, edit, (principal, now, agent) =>
        assertMayClaim(principal, now, agent, isProver),
      )
    }
    if (namespace !== null) {
      await take(`By a token with the namespace claim ${namespace}.`)
      return outcomeOf(entry, { verification_level: 'unverified' })
    }
    const outcome = await attempt(nameAlone(entry), caller, request, signal, (proof) =>
      take(`The domain ${proof.domain} was proved.`, proof),
    )
    if (!outcome.verified || entry.owner === null || isWithin(entry, outcome.domain)) return outcome
    const reason = `You own it now. Its card or an endpoint was outside ${outcome.domain}: correct it, then verify.`
    return { ...outcome, verified: false, verification_level: 'unverified', reason }
  }

  /** The entry is not locked during outside requests: `commit` checks that it is unchanged. */
  async function attempt(
    entry: StoredEntry,
    claimant: Party,
    { domain: requested, method, signature }: ProofRequest,
    signal: AbortSignal,
    commit: (proof: Proof) => Promise<Committed>,
  ): Promise<VerificationOutcome> {
    const { domain, reason } = domainOf(entry, requested)
    if (domain === null) return outcomeOf(entry, { reason })
    const token = claimToken(await secret(), claimant, domain)
    const { proof, attempts } = await prove({ domain, token, method, signature }, signal)
    if (proof) {
      await commit(proof)
      return outcomeOf(entry, {
        verified: true,
        verification_level: 'domain_verified',
        domain,
        attempts: [...attempts],
      })
    }
    const found = {
      domain,
      reason: 'No proof was found. Publish one of the challenges and try again.',
      challenges: challengesFor(domain, token),
      attempts: [...attempts],
    }
    return outcomeOf(entry, found as Partial<VerificationOutcome>)
  }

  return { verify, claim }
}

/**
 * For an entry with an owner the name alone decides about the domain: its manifest may be the work of an owner who has
 * no right to the name.
 */
function nameAlone(entry: StoredEntry): StoredEntry {
  return entry.owner === null ? entry : { ...entry, manifest_url: null }
}

/** True if the manifest and the endpoints of the entry are within the domain. */
function isWithin({ package_name, manifest_url, endpoints }: StoredEntry, domain: string | null): boolean {
  if (domain === null) return false
  const urls = [...(manifest_url === null ? [] : [manifest_url]), ...endpoints.map(({ url }) => url)]
  return urls.every((url) => agreement({ package_name, manifest_url: url, domain }).domain !== null)
}

/**
 * The entry after it was claimed, by a proof or by a namespace claim. Content that a former owner stated stays, but is
 * not verified unless it is within the domain, and a card outside the domain is no longer followed.
 */
function claimed(
  entry: StoredEntry,
  owner: StoredEntry['owner'],
  proof: Proof | undefined,
  at: string,
): StoredEntry {
  if (entry.owner === null) {
    const next = { ...entry, owner, stated: [], offer: null }
    return proof
      ? { ...next, ...verifiedFields(entry, proof, at) }
      : { ...next, verification_level: 'unverified', check_at: at }
  }
  const { issuer, subject } = entry.owner
  const taken_from = { issuer, subject }
  const next = {
    ...entry,
    ...unproved,
    ...cardWithin(entry, proof?.domain),
    owner,
    taken_from,
    offer: null,
    check_at: at,
  }
  return proof && isWithin(entry, proof.domain) ? { ...next, ...verifiedFields(next, proof, at) } : next
}

const unproved = { verification_level: 'unverified', proof: null, signature: null } as const

/** Nothing, or the fields without the card of an entry whose manifest is outside the domain of its name. */
function cardWithin(entry: StoredEntry, domain: string | undefined): Partial<StoredEntry> {
  const isOutside = entry.manifest_url !== null && domainOf(entry, domain).domain === null
  return isOutside ? { manifest_url: null, card: null, card_sha256: null, manifest: null } : {}
}

/** The fields of an entry whose proof was just found. */
function verifiedFields(entry: StoredEntry, proof: Proof, at: string): Partial<StoredEntry> {
  const previous = entry.proof?.domain === proof.domain ? entry.proof : null
  return {
    verification_level: 'domain_verified',
    check_at: at,
    proof: {
      ...proof,
      proved_at: previous?.proved_at ?? at,
      checked_at: at,
      failures: 0,
      failing_since: null,
      detail: null,
      card_sha256: entry.card_sha256,
    },
  }
}

/** Throws Failure `conflict` if the owner, the manifest or the endpoints have changed during the check. */
function unchanged(now: StoredEntry, before: StoredEntry): StoredEntry {
  const same =
    now.manifest_url === before.manifest_url &&
    isDeepStrictEqual(now.endpoints, before.endpoints) &&
    now.owner?.issuer === before.owner?.issuer &&
    now.owner?.subject === before.owner?.subject
  if (same) return now
  throw new Failure('conflict', `${now.package_name} has changed during the check. Try again.`)
}

function outcomeOf(
  { package_name, verification_level }: StoredEntry,
  found: Partial<VerificationOutcome>,
): VerificationOutcome {
  const nothing = { verified: false, domain: null, reason: null, challenges: null, attempts: [] }
  return { package_name, verification_level, ...nothing, ...found }
}

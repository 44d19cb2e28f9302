import { Failure } from '../../../schemas/failure.ts'
import type { Change } from '../../../schemas/publication.ts'
import type { Principal } from '../../../schemas/scope.ts'
import type { ProofRequest, VerificationOutcome } from '../../../schemas/trust.ts'
import type { Reader, StoredEntry } from '../../store/store.ts'
import type { Committed, Edit, Editor } from '../entry/editor.ts'
import {
  assertMayChange,
  assertMayClaim,
  assertNotSuspended,
  coveringNamespace,
} from '../entry/permissions.ts'
import { toReference } from '../entry/reference.ts'
import { type Claimant, challengesFor, claimToken } from './challenge.ts'
import type { Proof, Prove } from './proof.ts'
import { domainOf } from './verification-status.ts'

type VerifyRequest = Change & ProofRequest

/** The outcome, and the change that was committed with it. */
export interface Verified {
  readonly outcome: VerificationOutcome
  readonly committed: Committed | null
}

/** Verifies and claims entries. */
interface Verifier {
  /** Checks for a proof of the domain by the entry's owner. */
  verify(request: VerifyRequest, caller: Principal | null, signal: AbortSignal): Promise<Verified>
  /** Makes the caller the owner of an unowned entry, by the same proof or by the caller's namespace claim. */
  claim(request: VerifyRequest, caller: Principal | null, signal: AbortSignal): Promise<Verified>
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
  ): Promise<Verified> {
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
  ): Promise<Verified> {
    if (!caller) throw new Failure('unauthenticated', 'This needs a bearer token.')
    const entry = await reader.entry(toReference(request.agent))
    assertMayClaim(caller, entry, request.agent)
    const namespace = coveringNamespace(caller, entry.package_name)
    const owner = { issuer: caller.issuer, subject: caller.subject, namespace }
    const take = (earns: (now: StoredEntry, at: string) => Partial<StoredEntry>) => {
      const edit: Edit = (now, _, at) => ({ ...unchanged(now, entry), owner, stated: [], ...earns(now, at) })
      return editor.change(request, caller, { action: 'claim' }, edit, assertMayClaim)
    }
    if (namespace !== null) {
      const committed = await take((_, at) => ({ verification_level: 'unverified', check_at: at }))
      return { outcome: outcomeOf(entry, { verification_level: 'unverified' }), committed }
    }
    return await attempt(entry, caller, request, signal, (proof) =>
      take((now, at) => verifiedFields(now, proof, at)),
    )
  }

  /** The entry is not locked during outside requests: `commit` checks that it is unchanged. */
  async function attempt(
    entry: StoredEntry,
    claimant: Claimant,
    { domain: requested, method, signature }: ProofRequest,
    signal: AbortSignal,
    commit: (proof: Proof) => Promise<Committed>,
  ): Promise<Verified> {
    const { domain, reason } = domainOf(entry, requested)
    if (domain === null) return { outcome: outcomeOf(entry, { reason }), committed: null }
    const token = claimToken(await secret(), claimant, domain)
    const { proof, attempts } = await prove({ domain, token, method, signature }, signal)
    if (proof) {
      const committed = await commit(proof)
      const gained = {
        verified: true,
        verification_level: 'domain_verified',
        domain,
        attempts: [...attempts],
      }
      return { outcome: outcomeOf(entry, gained), committed }
    }
    const found = {
      domain,
      reason: 'No proof was found. Publish one of the challenges and try again.',
      challenges: challengesFor(domain, token),
      attempts: [...attempts],
    }
    return { outcome: outcomeOf(entry, found as Partial<VerificationOutcome>), committed: null }
  }

  return { verify, claim }
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

/** Throws Failure `conflict` if the owner, the name or the manifest has changed during the check. */
function unchanged(now: StoredEntry, before: StoredEntry): StoredEntry {
  const same =
    now.manifest_url === before.manifest_url &&
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

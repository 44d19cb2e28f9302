import type { StoredEntry, StoredProof } from '../../store/stored-entry.ts'
import { type Agreement, agreement, provableDomains } from './domain.ts'
import type { Proving } from './proof.ts'

const failuresToDemote = 3
/** Minimum time between the first and the third failed daily check: 48 hours less one hour of slack. */
const failingMilliseconds = 47 * 3_600_000
/**
 * Checks closer together count as one, so that neither a clock that jumps nor a repeated request demotes an entry.
 */
const apartMilliseconds = 20 * 3_600_000

/**
 * The domain on which the name and the manifest agree; without a manifest, the name and the source of an import, whose
 * name may look like a domain by chance (`java.redis`); without both, the domain of the name.
 */
export function domainOf(
  {
    package_name,
    manifest_url,
    source_url,
  }: Pick<StoredEntry, 'package_name' | 'manifest_url' | 'source_url'>,
  domain?: string,
): Agreement {
  const [own] = provableDomains(package_name).slice(-1)
  return agreement({
    package_name,
    domain,
    manifest_url: manifest_url ?? source_url ?? `https://${domain ?? own ?? 'none'}/`,
  })
}

/** An entry whose manifest URL was changed. It is unverified at once if its domain is no longer the proved one. */
export function afterMoving(entry: StoredEntry): StoredEntry {
  const { proof } = entry
  const reason = proof && domainOf(entry, proof.domain).reason
  if (!proof || reason === null) return entry
  return { ...entry, verification_level: 'unverified', proof: { ...proof, detail: reason } }
}

/**
 * An entry after its proof was checked again. A missing proof stays valid until three daily checks in a row have
 * failed; if a later check finds it, the level is restored. `disagreement`: the reason why the domain no longer fits
 * the entry, if it does not fit.
 */
export function afterProving(
  entry: StoredEntry,
  { proof, attempts }: Proving,
  disagreement: string | null,
  at: string,
): StoredEntry {
  const before = entry.proof
  if (proof && disagreement === null) {
    const held = { ...proof, checked_at: at, failures: 0, failing_since: null, detail: null }
    const proved_at = before?.proved_at ?? at
    // The entry was verified before its card was read: the first card read counts as the verified one.
    const card_sha256 = before?.card_sha256 ?? entry.card_sha256
    return { ...entry, verification_level: 'domain_verified', proof: { ...held, proved_at, card_sha256 } }
  }
  if (!before) return entry
  const detail = disagreement ?? attempts.map((attempt) => attempt.detail).join(' ')
  const missed = missedAgain(before, detail, at)
  const isOver =
    missed.failures >= failuresToDemote &&
    Date.parse(at) - Date.parse(missed.failing_since ?? at) >= failingMilliseconds
  return { ...entry, proof: missed, ...(isOver && { verification_level: 'unverified' }) }
}

function missedAgain(proof: StoredProof, detail: string, at: string): StoredProof {
  const elapsed = Date.parse(at) - Date.parse(proof.checked_at)
  // The clock was ahead at the last failed check, so the time counts from now.
  if (elapsed < 0 && proof.failures > 0) return { ...proof, detail, checked_at: at, failing_since: at }
  const counts = proof.failures === 0 || elapsed >= apartMilliseconds
  if (!counts) return { ...proof, detail }
  return {
    ...proof,
    detail,
    checked_at: at,
    failures: proof.failures + 1,
    failing_since: proof.failing_since ?? at,
  }
}

import type { ContentFlag } from '../../../schemas/trust.ts'
import { isSamePrincipal } from '../../common/principal-key.ts'
import { type DisplayWord, isQualifier, looksLike, wordsOf } from '../../store/entries/display-names.ts'
import { isListed } from '../../store/entries/version-content.ts'
import type { DecisionReads } from '../../store/store.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import { contentFlags } from './content-flags.ts'

/** A display name that the operator protects. */
export interface ProtectedName {
  readonly words: readonly DisplayWord[]
  /** Agents that are verified for this domain may use the name. */
  readonly domain: string | null
}

/** Reads `Google` and `Google=google.com`. */
export function readProtectedName(text: string): ProtectedName {
  const [name = '', domain] = text.split('=')
  return { words: wordsOf(name), domain: domain?.trim().toLowerCase() || null }
}

/** The warnings about an entry, including that about its display name. */
export async function flagsOf(
  entry: StoredEntry,
  reads: Pick<DecisionReads, 'verifiedNamesakes'>,
  protectedNames: readonly ProtectedName[],
): Promise<ContentFlag[]> {
  const flags = contentFlags(entry)
  // Imported and hosted entries are the operator's.
  if (entry.owner === null || entry.deleted) return flags
  const imitates =
    protectedNames.some((name) => claimsToBe(entry, name)) ||
    (await reads.verifiedNamesakes(entry.name)).some((original) => isImitation(entry, original))
  return imitates ? [...flags, 'imitates_name'] : flags
}

/** True if the name is the protected one, or contains it beside a word such as `official`. */
function claimsToBe(
  { name, verification_level, proof }: StoredEntry,
  { words, domain }: ProtectedName,
): boolean {
  if (domain !== null && verification_level === 'domain_verified' && proof) {
    if (proof.domain === domain || proof.domain.endsWith(`.${domain}`)) return false
  }
  const own = wordsOf(name)
  if (looksLike(own, words)) return true
  return own.some(isQualifier) && own.some((_, at) => looksLike(own.slice(at, at + words.length), words))
}

/**
 * True if the other entry is listed and has a similar name, another owner, and the earlier proof. A hidden entry does not
 * count: a flag would tell that it exists.
 */
function isImitation(entry: StoredEntry, original: StoredEntry): boolean {
  if (!isListed(original)) return false
  if (
    original.id === entry.id ||
    !original.owner ||
    (entry.owner && isSamePrincipal(original.owner, entry.owner))
  ) {
    return false
  }
  const isVerified = entry.verification_level === 'domain_verified'
  const isLater = (original.proof?.proved_at ?? '') < (entry.proof?.proved_at ?? '')
  return (!isVerified || isLater) && looksLike(wordsOf(entry.name), wordsOf(original.name))
}

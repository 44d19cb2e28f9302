import { Failure } from '../../../schemas/failure.ts'
import { isUnder, testTag } from '../../../schemas/names.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { isSamePrincipal } from '../../common/principal-key.ts'
import { isListed } from '../../store/entries/version-content.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import { unlisted } from './reference.ts'

/** What decides who may change an entry. */
export type Owned = Pick<StoredEntry, 'package_name' | 'owner'>

export function isAdmin(principal: Principal | null): boolean {
  return principal?.scopes.has('admin') ?? false
}

export function owns(principal: Principal, { owner }: Pick<StoredEntry, 'owner'>): boolean {
  return owner !== null && isSamePrincipal(owner, principal)
}

/**
 * True for the owner, for a caller whose namespace claim covers the name, and for admins. They may change the entry,
 * and see it in STAGE.
 */
export function mayRead(principal: Principal | null, entry: Owned): boolean {
  if (!principal) return false
  return (
    isAdmin(principal) || owns(principal, entry) || coveringNamespace(principal, entry.package_name) !== null
  )
}

/** True if this caller may know that the entry exists. */
export function isVisible(entry: StoredEntry, principal: Principal | null): boolean {
  if (entry.deleted) return false
  return isListed(entry) || mayRead(principal, entry)
}

/** The claimed namespace that covers the name, or null. */
export function coveringNamespace(
  principal: Pick<Principal, 'namespaces'>,
  packageName: string,
): string | null {
  return principal.namespaces.find((namespace) => isUnder(packageName, namespace)) ?? null
}

/** Throws Failure `not_found` if the caller may not see the entry, else `hosted_agent` or `forbidden`. */
export function assertMayChange(
  principal: Principal | null,
  entry: StoredEntry | undefined,
  agent: string,
): asserts entry is StoredEntry {
  if (!entry || !isVisible(entry, principal))
    throw unlisted(agent, {
      hint: 'An agent in STAGE is seen and changed by its owner alone: are you signed in as its owner?',
    })
  if (entry.hosted) {
    throw new Failure(
      'hosted_agent',
      `${entry.package_name} is hosted by this gateway and cannot be changed by callers.`,
    )
  }
  if (!mayRead(principal, entry)) {
    throw new Failure('forbidden', `${entry.package_name} has another owner.`, {
      hint: 'Use a token of its owner, or one whose namespace claim covers the name.',
    })
  }
}

/**
 * Throws Failure `wrong_state` if the caller is the owner, or another owner proved the domain; else as
 * `assertMayChange`. `isProver`: the caller has proved a domain that covers the name, and may claim entries in STAGE.
 */
export function assertMayClaim(
  principal: Principal | null,
  entry: StoredEntry | undefined,
  agent: string,
  isProver: boolean,
): asserts entry is StoredEntry {
  const isFound = entry && (isVisible(entry, principal) || (isProver && !entry.deleted && !entry.suspended))
  if (!isFound || entry.hosted) {
    assertMayChange(principal, entry, agent)
    return
  }
  assertNotSuspended(entry)
  const { owner, package_name, verification_level } = entry
  if (principal && owns(principal, entry)) {
    throw new Failure('wrong_state', `${package_name} is yours.`, { hint: 'verify proves its domain.' })
  }
  if (owner === null || verification_level !== 'domain_verified') return
  throw new Failure('wrong_state', `${package_name} has an owner who proved its domain.`, {
    hint: 'Its owner can transfer it.',
  })
}

/** Throws Failure `suspended`. */
export function assertNotSuspended({
  package_name,
  suspended,
}: Pick<StoredEntry, 'package_name' | 'suspended'>): void {
  if (!suspended) return
  throw new Failure('suspended', `${package_name} is suspended: ${suspended.reason}`, {
    hint: 'It can be updated and deleted; an admin of the registry lifts the suspension.',
  })
}

/** Throws Failure `reserved_tag` if a caller other than an admin sets the tag of hosted agents. */
export function assertTags(principal: Principal, tags: readonly string[]): void {
  if (!tags.includes(testTag) || isAdmin(principal)) return
  throw new Failure('reserved_tag', `The tag ${testTag} is reserved for hosted agents.`, {
    errors: [{ pointer: '/tags', detail: `Remove ${testTag}.` }],
  })
}

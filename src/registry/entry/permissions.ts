import { Failure } from '../../../schemas/failure.ts'
import { isUnder, testTag } from '../../../schemas/names.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { isListed } from '../../store/entries/version-content.ts'
import type { Claim, StoredEntry } from '../../store/store.ts'
import { isId } from './reference.ts'

/** Prefix of names that only the operator may create. */
const operatorPrefix = 'svc.'
/** Matches confusable spellings of the prefix too. */
const operatorName = /^svc(?![a-z0-9])/
/** The prefix of A2A addresses. A name with this prefix would be ambiguous. */
const addressPrefix = 'custom.'

export function isAdmin(principal: Principal | null): boolean {
  return principal?.scopes.has('admin') ?? false
}

export function owns(principal: Principal, { owner }: StoredEntry): boolean {
  return owner !== null && isSame(owner, principal)
}

/**
 * True for the owner, for a caller whose namespace claim covers the name, and for admins. They may change the entry,
 * and see it in STAGE.
 */
export function mayRead(principal: Principal | null, entry: StoredEntry): boolean {
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
export function coveringNamespace(principal: Principal, packageName: string): string | null {
  return principal.namespaces.find((namespace) => isUnder(packageName, namespace)) ?? null
}

/** Every namespace that could cover the name: `a.b/c` → `a`, `a.b`, `a.b/c`. */
export function namespacesOver(packageName: string): string[] {
  const ends = [...packageName.matchAll(/[./]/g)].map((match) => match.index)
  return [...ends.map((end) => packageName.slice(0, end)), packageName]
}

/** Throws Failure `not_found` if the caller may not see the entry, else `hosted_agent` or `forbidden`. */
export function assertMayChange(
  principal: Principal | null,
  entry: StoredEntry | undefined,
  agent: string,
): asserts entry is StoredEntry {
  if (!entry || !isVisible(entry, principal))
    throw new Failure('not_found', `No agent is listed as ${agent}.`)
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

/** Throws Failure `wrong_state` if the entry has an owner; else as `assertMayChange`. */
export function assertMayClaim(
  principal: Principal | null,
  entry: StoredEntry | undefined,
  agent: string,
): asserts entry is StoredEntry {
  if (!entry || !isVisible(entry, principal) || entry.hosted) {
    assertMayChange(principal, entry, agent)
    return
  }
  assertNotSuspended(entry)
  if (entry.owner === null) return
  throw new Failure(
    'wrong_state',
    `${entry.package_name} has an owner; only unclaimed entries can be claimed.`,
    {
      hint: 'Its owner can transfer it.',
    },
  )
}

/**
 * Throws Failure `invalid_request` if no caller may take the name, `forbidden` if this caller may not. A namespace
 * claim reserves the namespace for tokens that have the claim. A proved namespace is reserved for the callers who
 * proved it or a namespace within it that covers the name.
 */
export function assertMayCreate(principal: Principal, packageName: string, claims: readonly Claim[]): void {
  if (packageName.startsWith(addressPrefix)) {
    throw new Failure('invalid_request', `A name must not begin with ${addressPrefix}`, {
      errors: [{ pointer: '/package_name', detail: `${addressPrefix} is the prefix of A2A addresses.` }],
    })
  }
  if (isId(packageName)) {
    throw new Failure('invalid_request', 'A name must not look like an id.', {
      errors: [{ pointer: '/package_name', detail: 'It would be ambiguous with the id of an entry.' }],
    })
  }
  if (isAdmin(principal)) return
  if (operatorName.test(packageName)) {
    throw new Failure('forbidden', `Names under ${operatorPrefix} belong to the operator.`)
  }
  const hasProved = claims.some(({ proved, holder }) => proved && isSame(holder, principal))
  const foreign = claims.find(({ namespace, proved }) => {
    return !(proved && hasProved) && !principal.namespaces.some((own) => isUnder(namespace, own))
  })
  if (foreign === undefined) return
  const { namespace, proved } = foreign
  throw new Failure(
    'forbidden',
    proved
      ? `Only owners who proved the domain of ${namespace} may create names under it.`
      : `The namespace ${namespace} is claimed.`,
    { hint: `A token with the namespace claim ${namespace} may create names under it.` },
  )
}

function isSame(holder: Claim['holder'], other: Claim['holder']): boolean {
  return holder.issuer === other.issuer && holder.subject === other.subject
}

/** Throws Failure `conflict` if the name is confusable with that of another owner's agent. */
export function assertDistinct(
  principal: Principal,
  packageName: string,
  lookalikes: readonly StoredEntry[],
): void {
  if (isAdmin(principal)) return
  const foreign = lookalikes.find((entry) => !owns(principal, entry))
  if (!foreign) return
  throw new Failure('conflict', `The name ${packageName} is confusable with that of another agent.`, {
    errors: [{ pointer: '/package_name', detail: 'It looks like a name in use. Choose another one.' }],
    ...(isVisible(foreign, principal) && { nearest: [foreign.package_name] }),
  })
}

/** Throws Failure `suspended`. */
export function assertNotSuspended({ package_name, suspended }: StoredEntry): void {
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

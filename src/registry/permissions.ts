import { Failure } from '../../schemas/failure.ts'
import { isUnder, testTag } from '../../schemas/names.ts'
import type { Principal } from '../../schemas/scope.ts'
import type { StoredEntry } from '../store/store.ts'
import { isId } from './reference.ts'

/** Names that the operator alone gives. */
const operatorPrefix = 'svc.'
/** The prefix of A2A addresses; a name under it could not be told from an address. */
const addressPrefix = 'custom.'

export function isAdmin(principal: Principal | null): boolean {
  return principal?.scopes.has('admin') ?? false
}

export function owns(principal: Principal, entry: StoredEntry): boolean {
  return entry.owner?.issuer === principal.issuer && entry.owner.subject === principal.subject
}

/** Owner, a namespace claim that covers the name, or admin: who may act, and see an entry in STAGE. */
export function mayRead(principal: Principal | null, entry: StoredEntry): boolean {
  if (!principal) return false
  return (
    isAdmin(principal) || owns(principal, entry) || coveringNamespace(principal, entry.package_name) !== null
  )
}

/** True where the entry exists for this caller at all. */
export function isVisible(entry: StoredEntry, principal: Principal | null): boolean {
  if (entry.deleted) return false
  return entry.state === 'ACTIVE' || mayRead(principal, entry)
}

/** The claimed namespace that the name stands under, or null. */
export function coveringNamespace(principal: Principal, packageName: string): string | null {
  return principal.namespaces.find((namespace) => isUnder(packageName, namespace)) ?? null
}

/** Every namespace that could cover the name: `a.b/c` → `a`, `a.b`, `a.b/c`. */
export function namespacesOver(packageName: string): string[] {
  const ends = [...packageName.matchAll(/[./]/g)].map((match) => match.index)
  return [...ends.map((end) => packageName.slice(0, end)), packageName]
}

/** Throws Failure `not_found` to whoever may not see the entry, `hosted_agent` and `forbidden` to whoever may. */
export function assertMayChange(
  principal: Principal | null,
  entry: StoredEntry | undefined,
  asked: string,
): asserts entry is StoredEntry {
  if (!entry || !isVisible(entry, principal))
    throw new Failure('not_found', `No agent is listed as ${asked}.`)
  if (entry.hosted) {
    throw new Failure(
      'hosted_agent',
      `${entry.package_name} is part of this gateway and changes with it alone.`,
    )
  }
  if (!mayRead(principal, entry)) {
    throw new Failure('forbidden', `${entry.package_name} belongs to somebody else.`, {
      hint: 'Use a token of its owner, or one whose namespace claim covers the name.',
    })
  }
}

/** Throws Failure `invalid_request` or `forbidden` where nobody, or not this caller, may take the name. */
export function assertMayCreate(principal: Principal, packageName: string, claimed: readonly string[]): void {
  if (packageName.startsWith(addressPrefix)) {
    throw new Failure('invalid_request', `Names do not begin with ${addressPrefix}`, {
      errors: [{ pointer: '/package_name', detail: `${addressPrefix} begins A2A addresses.` }],
    })
  }
  if (isId(packageName)) {
    throw new Failure('invalid_request', 'A name does not look like an id.', {
      errors: [{ pointer: '/package_name', detail: 'It could not be told from the id of an entry.' }],
    })
  }
  if (isAdmin(principal)) return
  if (packageName.startsWith(operatorPrefix)) {
    throw new Failure('forbidden', `Names under ${operatorPrefix} belong to the operator.`)
  }
  const foreign = claimed.find((namespace) => !principal.namespaces.some((own) => isUnder(namespace, own)))
  if (foreign === undefined) return
  throw new Failure('forbidden', `The namespace ${foreign} is claimed.`, {
    hint: `A token with the namespace claim ${foreign} may create names under it.`,
  })
}

/** Throws Failure `reserved_tag` where anyone but an admin sets the tag of the hosted test agents. */
export function assertTags(principal: Principal, tags: readonly string[]): void {
  if (!tags.includes(testTag) || isAdmin(principal)) return
  throw new Failure('reserved_tag', `The tag ${testTag} is kept for the hosted test agents.`, {
    errors: [{ pointer: '/tags', detail: `Leave ${testTag} out.` }],
  })
}

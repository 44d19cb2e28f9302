import { parse } from 'tldts'
import { Failure } from '../../../schemas/failure.ts'
import { isUnder } from '../../../schemas/names.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { isSamePrincipal } from '../../common/principal-key.ts'
import type { Claim } from '../../store/store.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import { assertNotSuspended, coveringNamespace, isAdmin, isVisible, mayRead, owns } from './permissions.ts'
import { isId } from './reference.ts'

/**
 * `open`: every owner may take an agent live. `proof`: a name under a registrable domain goes live only if its owner
 * proved the domain, or the token claims the namespace.
 */
export type NameMode = 'open' | 'proof'

/** Prefix of names that only the operator may create. */
const operatorPrefix = 'svc.'
/** Matches confusable spellings of the prefix too. */
const operatorName = /^svc(?![a-z0-9])/
/** The prefix of A2A addresses. A name with this prefix would be ambiguous. */
const addressPrefix = 'custom.'

/** Refuses the name that a source gives an agent, if it is one of the operator or an address. Throws Failure `invalid_request`. */
export function assertUnreserved(packageName: string, shown = packageName): void {
  if (!operatorName.test(packageName) && !packageName.startsWith(addressPrefix)) return
  throw new Failure('invalid_request', `${shown} is a reserved name.`)
}

/**
 * The fixed segments of paths beside the name of an agent, and the prefixes of addresses: a request for an agent of
 * such a name would reach something else.
 */
export const reservedWords: ReadonlySet<string> = new Set(['api', 'custom', 'publish', 'search', 'validate'])

/** Registrable domains that RFC 2606 reserves for documentation. Its top-level domains are not registrable. */
const documentation: ReadonlySet<string> = new Set(['com.example', 'net.example', 'org.example'])

/** A name read as a domain in reverse order: `com.example.weather` → `weather.example.com`. */
interface ReversedDomain {
  /** The part of the name that one registrant holds, such as `com.example` or `io.github.user`. */
  readonly registrable: string
  /** True if the part before the slash is a public suffix, of which there is no single registrant. */
  readonly is_suffix: boolean
}

/** Null if the first segment of the name is no top-level domain. Private suffixes such as `github.io` count. */
function reversedDomain(packageName: string): ReversedDomain | null {
  const [namespace = ''] = packageName.split('/', 1)
  const host = reversed(namespace)
  const { domain, isIcann, isPrivate } = parse(host, { allowPrivateDomains: true, validateHostname: false })
  if (!isIcann && !isPrivate) return null
  return { registrable: reversed(domain ?? host), is_suffix: domain === null }
}

function reversed(dotted: string): string {
  return dotted.split('.').reverse().join('.')
}

/**
 * The registrable namespace whose holder alone may take the name live where names need a proof; null for a name under
 * no registrable domain, and for names reserved for documentation.
 */
function namespaceToProve(packageName: string): string | null {
  const { registrable } = reversedDomain(packageName) ?? { registrable: null }
  return registrable === null || documentation.has(registrable) ? null : registrable
}

/** True for reserved words, and, unless the caller is an admin, for single segments and public suffixes. */
export function isReservedFor(principal: Principal | null, packageName: string): boolean {
  if (reservedWords.has(packageName)) return true
  if (isAdmin(principal)) return false
  return !/[./]/.test(packageName) || (reversedDomain(packageName)?.is_suffix ?? false)
}

/** Every namespace that could cover the name: `a.b/c` → `a`, `a.b`, `a.b/c`. */
export function namespacesOver(packageName: string): string[] {
  const ends = [...packageName.matchAll(/[./]/g)].map((match) => match.index)
  return [...ends.map((end) => packageName.slice(0, end)), packageName]
}

/**
 * Throws Failure `invalid_request` or `conflict` if no caller may take the name, `forbidden` if this caller may not. A
 * namespace claim reserves the namespace for tokens that have the claim. A proved namespace is reserved for the callers who
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
  if (operatorName.test(packageName) && !isAdmin(principal)) {
    throw new Failure('forbidden', `Names under ${operatorPrefix} belong to the operator.`)
  }
  if (isReservedFor(principal, packageName)) throw unavailableName()
  if (isAdmin(principal)) return
  const isProver = hasProved(principal, claims)
  const foreign = claims.find(({ namespace, proved }) => {
    return !(proved && isProver) && !principal.namespaces.some((own) => isUnder(namespace, own))
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

/**
 * Throws Failure `forbidden` if the name of the entry is under a registrable domain, and nothing shows that the caller
 * holds that domain. `claims`: the claims on the namespaces over the name.
 */
export function assertMayGoLive(
  principal: Principal,
  { package_name, verification_level }: StoredEntry,
  claims: readonly Claim[],
): void {
  const namespace = namespaceToProve(package_name)
  if (namespace === null || isAdmin(principal) || coveringNamespace(principal, package_name) !== null) return
  if (verification_level === 'domain_verified' || hasProved(principal, claims)) return
  const domain = reversed(namespace)
  throw new Failure(
    'forbidden',
    `${package_name} is under the domain ${domain}, and nothing shows yet that it is yours.`,
    {
      hint: `Prove the domain: verify answers with what to publish (dragoman verify ${package_name}). Or use a token with the namespace claim ${namespace}, which the operator can make (dragoman token create --namespace ${namespace}). Names such as acme.weather, which are under no domain, need no proof.`,
    },
  )
}

/**
 * Throws Failure `conflict` if an entry has the name, or had it: a deleted entry reserves its name for its owner, or for
 * who proved the domain. Only callers who may know of the entry learn that it exists. `claims`: the claims on the
 * namespaces over the name.
 */
export function assertFree(
  taken: StoredEntry | undefined,
  packageName: string,
  principal: Principal,
  claims: readonly Claim[],
): void {
  if (!taken) return
  if (taken.deleted && owns(principal, taken)) {
    assertNotSuspended(taken)
    return
  }
  const isUnproved = taken.verification_level !== 'domain_verified'
  const mayReuse = taken.owner === null || (isUnproved && hasProved(principal, claims))
  if (taken.deleted && !taken.suspended && mayReuse) return
  if (!isVisible(taken, principal)) throw unavailableName()
  if (mayRead(principal, taken)) throw ownName(packageName)
  throw new Failure('conflict', `The name ${packageName} is taken.`, {
    errors: [{ pointer: '/package_name', detail: 'Choose another name.' }],
  })
}

/**
 * Throws Failure `conflict` if the name is confusable with that of another owner's agent, which is named only if the
 * caller may know of it.
 */
export function assertDistinct(
  principal: Principal,
  packageName: string,
  lookalikes: readonly StoredEntry[],
): void {
  if (isAdmin(principal)) return
  const foreign = lookalikes.filter((entry) => !owns(principal, entry))
  const visible = foreign.find((entry) => isVisible(entry, principal))
  if (foreign.length === 0) return
  if (!visible) throw unavailableName()
  throw new Failure('conflict', `The name ${packageName} is confusable with that of another agent.`, {
    errors: [{ pointer: '/package_name', detail: 'It looks like a name in use. Choose another one.' }],
    nearest: [visible.package_name],
  })
}

function ownName(packageName: string): Failure {
  return new Failure('conflict', `${packageName} is published already, and you may change it.`, {
    errors: [{ pointer: '/package_name', detail: 'It is published already.' }],
    hint: `Change ${packageName} with update. Each change of an ACTIVE agent is a new version.`,
  })
}

/** True if the caller holds one of the claims by a proof of its domain. */
export function hasProved(principal: Principal, claims: readonly Claim[]): boolean {
  return claims.some(({ proved, holder }) => proved && isSamePrincipal(holder, principal))
}

/** The same for every reason, so that it does not tell whether a hidden entry has the name. */
function unavailableName(): Failure {
  return new Failure('conflict', 'This name cannot be taken.', {
    errors: [{ pointer: '/package_name', detail: 'Choose another name.' }],
    hint: 'Not allowed are a single segment, a public suffix such as com or io.github, a word that a path uses, a name that another agent has or had, and a name that looks like such a name.',
  })
}

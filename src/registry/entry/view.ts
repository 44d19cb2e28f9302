import type { EntryDetail } from '../../../schemas/card.ts'
import type { Entry } from '../../../schemas/entry.ts'
import { listedFields, pickFields } from '../../../schemas/entry-fields.ts'
import type { Liveness } from '../../../schemas/liveness.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { manifestUrl, type Site } from '../../../schemas/site.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import { cardOf, endpointsOf } from '../cards/render-card.ts'
import type { LivenessCache } from '../liveness/liveness-cache.ts'
import { iconOf, readmeOf } from '../publisher/addresses.ts'
import { callableOf } from './callable.ts'
import { mayRead } from './permissions.ts'
import { protocolOf, verifiedDomainOf } from './protocol.ts'

/** Renders stored entries as callers see them. */
export interface Views {
  entry(stored: StoredEntry, principal: Principal | null): Entry
  detail(stored: StoredEntry, principal: Principal | null): EntryDetail
}

/**
 * Public views are cached: the same frozen object is returned until the entry or its liveness changes. `readsFiles`: the
 * gateway reads the READMEs and icons that they name.
 */
export function createViews(
  site: () => Site,
  livenessCache: Pick<LivenessCache, 'of'>,
  readsFiles = true,
): Views {
  const publicEntry = once(livenessCache, (stored: StoredEntry, liveness) =>
    Object.freeze(render(stored, liveness, site())),
  )
  const publicDetail = once(livenessCache, (stored: StoredEntry) =>
    Object.freeze(withoutReasons(detailed(stored, publicEntry(stored)))),
  )

  function detailed(stored: StoredEntry, view: Entry): EntryDetail {
    return {
      ...view,
      capabilities: stored.capabilities,
      card: Object.freeze(cardOf(stored, site())),
      readme_url: readsFiles ? (readmeOf(stored)?.url ?? null) : null,
      icon_url: readsFiles ? iconOf(stored) : null,
      verification: reportOf(stored.proof),
      manifest: stored.manifest,
      reading: stored.reading,
      signature_report: stored.signature,
    }
  }

  /**
   * Removes the reasons of failed checks. The public sees the checks and their times; only the owner sees the reasons.
   */
  function withoutReasons(detail: EntryDetail): EntryDetail {
    const { verification, manifest, reading } = detail
    return {
      ...detail,
      verification: verification && { ...verification, detail: null },
      manifest: manifest && { ...manifest, detail: null, findings: [] },
      reading: reading && { ...reading, detail: null, findings: [] },
    }
  }

  /** The view of owners and admins, which contains the owner of the entry; undefined for all others. */
  function ownerView(stored: StoredEntry, principal: Principal | null): Entry | undefined {
    if (stored.hosted || !mayRead(principal, stored)) return undefined
    return { ...publicEntry(stored), owner: stored.owner, suspended: stored.suspended }
  }

  return {
    entry: (stored, principal) => ownerView(stored, principal) ?? publicEntry(stored),
    detail(stored, principal) {
      const mine = ownerView(stored, principal)
      return mine ? detailed(stored, mine) : publicDetail(stored)
    },
  }
}

/** Caches by entry and liveness object. */
function once<Value>(
  livenessCache: Pick<LivenessCache, 'of'>,
  make: (stored: StoredEntry, liveness: Liveness) => Value,
): (stored: StoredEntry) => Value {
  const made = new WeakMap<StoredEntry, { readonly liveness: Liveness; readonly value: Value }>()
  return (stored) => {
    const liveness = livenessCache.of(stored)
    const cached = made.get(stored)
    if (cached?.liveness === liveness) return cached.value
    const value = make(stored, liveness)
    made.set(stored, { liveness, value })
    return value
  }
}

function render(stored: StoredEntry, liveness: Liveness, site: Site): Entry {
  return {
    id: stored.id,
    package_name: stored.package_name,
    name: stored.name,
    description: stored.description,
    verification_level: stored.verification_level,
    verified_domain: verifiedDomainOf(stored),
    protocol: protocolOf(stored),
    manifest_url: stored.manifest_url ?? manifestUrl(site, stored.package_name),
    ...pickFields(listedFields, stored),
    state: stored.state,
    version: stored.version,
    owner: stored.owner && { namespace: stored.owner.namespace },
    endpoints: endpointsOf(stored, site),
    packages: stored.packages,
    source_url: stored.source_url,
    origin: stored.origin,
    content_flags: stored.content_flags,
    signature: stored.signature?.status ?? 'none',
    card_sha256: stored.card_sha256,
    changed_since_verified: hasChanged(stored),
    suspended: null,
    deprecated: stored.deprecated,
    ...callableOf(stored, liveness),
    liveness,
    created_at: stored.created_at,
    updated_at: stored.updated_at,
    revision: stored.revision,
  }
}

/** True if the card has changed since it was verified. */
function hasChanged({ proof, card_sha256, verification_level }: StoredEntry): boolean {
  if (verification_level !== 'domain_verified' || !proof?.card_sha256) return false
  return card_sha256 !== proof.card_sha256
}

/** The proof without the fields that only the next check needs. */
function reportOf(proof: StoredEntry['proof']): EntryDetail['verification'] {
  if (!proof) return null
  const { method, domain, proved_at, checked_at, failures, failing_since, detail } = proof
  return { method, domain, proved_at, checked_at, failures, failing_since, detail }
}

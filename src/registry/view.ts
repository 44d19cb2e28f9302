import type { EntryDetail } from '../../schemas/card.ts'
import type { Entry } from '../../schemas/entry.ts'
import type { Principal } from '../../schemas/scope.ts'
import type { StoredEntry } from '../store/store.ts'
import { cardOf, endpointsOf } from './card.ts'
import { mayRead } from './permissions.ts'
import { manifestUrl, type Site } from './site.ts'

/** Renders what the truth holds as callers see it. */
export interface Views {
  entry(stored: StoredEntry, principal: Principal | null): Entry
  detail(stored: StoredEntry, principal: Principal | null): EntryDetail
}

/** The public view of an entry is made once and the same frozen object is given out until the entry changes. */
export function createViews(site: () => Site): Views {
  const made = new WeakMap<StoredEntry, Entry>()

  function publicEntry(stored: StoredEntry): Entry {
    const known = made.get(stored)
    if (known) return known
    const view = Object.freeze(render(stored, site()))
    made.set(stored, view)
    return view
  }

  function entry(stored: StoredEntry, principal: Principal | null): Entry {
    const view = publicEntry(stored)
    if (!stored.owner || !principal || !mayRead(principal, stored)) return view
    return { ...view, owner: stored.owner }
  }

  return {
    entry,
    detail: (stored, principal) => ({
      ...entry(stored, principal),
      capabilities: stored.capabilities,
      card: cardOf(stored, site()),
    }),
  }
}

function render(stored: StoredEntry, site: Site): Entry {
  return {
    id: stored.id,
    package_name: stored.package_name,
    name: stored.name,
    description: stored.description,
    verification_level: stored.verification_level,
    manifest_url: stored.manifest_url ?? manifestUrl(site, stored.package_name),
    tags: stored.tags,
    category: stored.category,
    target: stored.target,
    state: stored.state,
    version: stored.version,
    owner: stored.owner && { namespace: stored.owner.namespace },
    endpoints: endpointsOf(stored, site),
    packages: stored.packages,
    source_url: stored.source_url,
    created_at: stored.created_at,
    updated_at: stored.updated_at,
    revision: stored.revision,
  }
}

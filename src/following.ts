import { type ChangeFeed, type ChangeFeedOptions, createChangeFeed } from './registry/changes/feed.ts'
import { createReadChanges } from './registry/changes/read.ts'
import type { Vitals } from './registry/liveness/vitals.ts'
import type { Site } from './registry/site.ts'
import { createViews } from './registry/view.ts'
import type { Store } from './store/store.ts'

export interface FollowingPorts extends Pick<ChangeFeedOptions, 'failed' | 'bounds'> {
  readonly store: Store
  readonly site: () => Site
  readonly vitals: Vitals
}

/** Tells what becomes of the registry to those who follow it. */
export function openFollowing({ store, site, vitals, failed, bounds }: FollowingPorts): ChangeFeed {
  const read = createReadChanges({ store, views: createViews(site, vitals), vitals, failed })
  return createChangeFeed({ store, read, failed, bounds })
}

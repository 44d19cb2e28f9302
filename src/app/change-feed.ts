import { randomBytes } from 'node:crypto'
import type { SafeFetch } from '../net/fetch/safe-fetch.ts'
import { type ChangeFeed, type ChangeFeedOptions, createChangeFeed } from '../registry/changes/feed.ts'
import { createReadChanges } from '../registry/changes/read-changes.ts'
import type { Site } from '../registry/entry/site.ts'
import { createViews } from '../registry/entry/view.ts'
import type { LivenessCache } from '../registry/liveness/liveness-cache.ts'
import { createDeliver, type Seals } from '../registry/webhooks/deliver.ts'
import { createDeliverer, type Deliverer } from '../registry/webhooks/deliverer.ts'
import { createWebhooks, type Webhooks } from '../registry/webhooks/webhooks.ts'
import type { Store } from '../store/store.ts'

/** Tells what becomes of the registry to those who follow it. */
export interface Following extends AsyncDisposable {
  readonly changes: ChangeFeed
  readonly webhooks: Webhooks
  /** Posts to webhooks what they wait for. */
  readonly deliverer: Deliverer
}

export interface FollowingPorts extends Pick<ChangeFeedOptions, 'onError'> {
  readonly store: Store
  readonly site: () => Site
  readonly livenessCache: LivenessCache
  readonly clock: () => number
  readonly createId: () => string
  readonly seals: Seals
  readonly outside: Pick<SafeFetch, 'fetch' | 'check'>
  readonly options?: FollowingOptions | undefined
}

/** What tests may set. */
export interface FollowingOptions {
  readonly followers?: ChangeFeedOptions['bounds']
  /** For the answer of a webhook's target, in milliseconds; 10,000 when left out. */
  readonly timeout_ms?: number
  /** From 0 to 1. */
  readonly random?: () => number
}

export function openFollowing({ options = {}, outside, ...ports }: FollowingPorts): Following {
  const { store, site, livenessCache, onError } = ports
  const { followers, timeout_ms = 10_000, random = Math.random } = options
  const read = createReadChanges({ store, views: createViews(site, livenessCache), livenessCache, onError })
  const changes = createChangeFeed({ store, read, onError, bounds: followers })
  const deliver = createDeliver({ ...ports, fetch: outside.fetch, timeout_ms })
  return {
    changes,
    webhooks: createWebhooks({ ...ports, read, randomBytes, check: outside.check }),
    deliverer: createDeliverer({ ...ports, read, deliver, random }),
    [Symbol.asyncDispose]: () => changes[Symbol.asyncDispose](),
  }
}

import { randomBytes } from 'node:crypto'
import { type ChangeFeed, createChangeFeed } from '../registry/changes/feed.ts'
import { createReadChanges } from '../registry/changes/read-changes.ts'
import { createViews } from '../registry/entry/view.ts'
import type { LivenessCache } from '../registry/liveness/liveness-cache.ts'
import { createDeliver, type Seals } from '../registry/webhooks/deliver.ts'
import { createDeliverer, type Deliverer } from '../registry/webhooks/deliverer.ts'
import { createWebhooks, type Webhooks } from '../registry/webhooks/webhooks.ts'
import type { Store } from '../store/store.ts'
import type { Outbound } from './outbound.ts'
import type { Runtime } from './runtime.ts'

/** The services by which clients follow changes of the registry. */
export interface ChangeServices {
  readonly feed: ChangeFeed
  readonly webhooks: Webhooks
  /** Delivers changes to webhooks. */
  readonly deliverer: Deliverer
}

export function openChangeServices(
  runtime: Runtime,
  store: Store,
  outbound: Outbound,
  { livenessCache, seals }: { readonly livenessCache: LivenessCache; readonly seals: Seals },
): ChangeServices {
  const { stack, options, clock, createId, site } = runtime
  const { followers, webhook_timeout_ms = 10_000, random = Math.random } = options.changes ?? {}
  const { fetch, check } = outbound.public
  const onError = runtime.onErrorOf('changes')
  const read = createReadChanges({ store, views: createViews(site, livenessCache), livenessCache, onError })
  const deliver = createDeliver({ fetch, seals, clock, timeout_ms: webhook_timeout_ms })
  return {
    feed: stack.use(createChangeFeed({ store, read, onError, limits: followers })),
    webhooks: createWebhooks({ store, read, seals, clock, createId, randomBytes, check }),
    deliverer: createDeliverer({ store, read, deliver, clock, random, onError }),
  }
}

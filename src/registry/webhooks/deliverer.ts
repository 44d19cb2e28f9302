import { setTimeout as pause } from 'node:timers/promises'
import type { StoredWebhook, WebhookStore } from '../../../schemas/webhook.ts'
import { dayMilliseconds } from '../../common/days.ts'
import { principalKey } from '../../common/principal-key.ts'
import type { Store } from '../../store/store.ts'
import type { FeedChange, ReadChanges } from '../changes/read-changes.ts'
import type { Deliver } from './deliver.ts'
import { afterFailure, moved } from './schedule.ts'

/** Delivers changes to webhooks. Of all processes that share the store, one at a time delivers. */
export interface Deliverer {
  isDue(): Promise<boolean>
  /** Delivers until no webhook is due or the time of a run is over. Returns the number of attempts. */
  run(signal: AbortSignal): Promise<number>
}

interface DelivererOptions {
  readonly store: { readonly webhooks: WebhookStore; readonly read: Pick<Store['read'], 'revision'> }
  readonly read: ReadChanges
  readonly deliver: Deliver
  readonly clock: () => number
  /** A random number from 0 to 1. */
  readonly random: () => number
  readonly onError: (fault: unknown) => void
}

/** Maximum concurrent deliveries: a delivery that hangs does not block the others. */
const maxConcurrent = 16
const pageSize = 100
/** A run starts no delivery after this time, in milliseconds, so that it ends before its lease expires. */
export const runMilliseconds = 15_000
/** Time between two queries for due webhooks while other deliveries hang, in milliseconds. */
const beatMilliseconds = 500
/** A due time further away than this, in milliseconds, was set by a clock that has been set back since. */
const implausible = dayMilliseconds

export function createDeliverer(options: DelivererOptions): Deliverer {
  const { store, read, deliver, clock, random, onError } = options
  const { webhooks } = store

  async function due(limit: number, busy: readonly string[]): Promise<readonly StoredWebhook[]> {
    const now = new Date(clock()).toISOString()
    const latest = new Date(clock() + implausible).toISOString()
    return await webhooks.due({ now, latest, limit, busy, revision: await store.read.revision() })
  }

  /** Runs one step of one webhook; false if there was nothing to do. */
  async function step(webhook: StoredWebhook, signal: AbortSignal): Promise<boolean> {
    const { position, pending } = webhook
    const span = await read(position, pageSize)
    if (!span) {
      // The registry was restored: delivery continues from its current revision.
      await webhooks.move(webhook, moved(webhook, await store.read.revision(), clock()))
      return true
    }
    const up_to = pending !== null && pending > position ? Math.min(pending, span.up_to) : span.up_to
    if (up_to === position) return false
    const changes = span.updates.filter(wantedBy(webhook, up_to)).map(({ change }) => change)
    if (changes.length === 0) return await webhooks.move(webhook, moved(webhook, up_to, clock()))
    const { delivery, asked_s } = await deliver(webhook, changes, up_to, signal)
    const now = clock()
    const progress = delivery.ok
      ? moved(webhook, up_to, now, delivery)
      : afterFailure(webhook, delivery, { up_to, now, random: random(), asked_s })
    return await webhooks.move(webhook, progress)
  }

  return {
    isDue: async () => (await due(1, [])).length > 0,
    async run(signal) {
      const busy = new Map<string, Promise<void>>()
      /** Webhooks that this run does not process again. */
      const done = new Set<string>()
      const ends = clock() + runMilliseconds
      let steps = 0

      async function serve(webhook: StoredWebhook): Promise<void> {
        try {
          if (!(await step(webhook, signal))) done.add(webhook.id)
        } catch (fault) {
          done.add(webhook.id)
          if (!signal.aborted) onError(fault)
        } finally {
          busy.delete(webhook.id)
        }
      }

      try {
        for (;;) {
          const free = signal.aborted || clock() >= ends ? 0 : maxConcurrent - busy.size
          const found = free > 0 ? await due(free, [...busy.keys(), ...done]) : []
          for (const webhook of found) busy.set(webhook.id, serve(webhook))
          steps += found.length
          if (busy.size === 0) return steps
          const rest = new AbortController()
          const beat = pause(beatMilliseconds, undefined, { signal: rest.signal }).catch(() => {})
          await Promise.race([...busy.values(), beat])
          rest.abort()
        }
      } finally {
        // Waits for the deliveries that continue when the store fails: the next run must not repeat them.
        await Promise.all(busy.values())
      }
    },
  }
}

function wantedBy({ kinds, mine, owner }: StoredWebhook, up_to: number): (update: FeedChange) => boolean {
  const isMine = (of: FeedChange['taken_from']) => of !== null && principalKey(of) === owner
  return ({ change, owner: own, taken_from }) =>
    change.revision <= up_to && kinds.includes(change.kind) && (!mine || isMine(own) || isMine(taken_from))
}

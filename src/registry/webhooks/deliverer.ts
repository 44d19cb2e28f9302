import { setTimeout as pause } from 'node:timers/promises'
import type { StoredWebhook, WebhookStore } from '../../../schemas/webhook.ts'
import { principalKey } from '../../common/principal-key.ts'
import type { Store } from '../../store/store.ts'
import type { ReadChanges, TaskUpdate } from '../changes/read-changes.ts'
import type { Deliver } from './deliver.ts'
import { afterFailure, moved } from './schedule.ts'

/** Delivers what webhooks wait for. One process of all that share the store does so at a time. */
export interface Deliverer {
  isDue(): Promise<boolean>
  /** Delivers until nothing is due or the time for a run is over; how many attempts it made. */
  run(signal: AbortSignal): Promise<number>
}

interface DelivererOptions {
  readonly store: { readonly webhooks: WebhookStore; readonly read: Pick<Store['read'], 'revision'> }
  readonly read: ReadChanges
  readonly deliver: Deliver
  readonly clock: () => number
  /** From 0 to 1. */
  readonly random: () => number
  readonly onError: (fault: unknown) => void
}

/** Webhooks that are delivered to at once: one that hangs holds up no other. */
const maxConcurrent = 16
const pageSize = 100
/** A run begins nothing after this, so that it ends well before the lease does that it is made under. */
export const runMilliseconds = 15_000
/** Between two looks at what has become due while others hang. */
const beatMilliseconds = 500
/** An attempt that is due later than this was put off by a clock that has been set back since. */
const implausible = 24 * 3_600_000

export function createDeliverer(options: DelivererOptions): Deliverer {
  const { store, read, deliver, clock, random, onError } = options
  const { webhooks } = store

  async function due(limit: number, busy: readonly string[]): Promise<readonly StoredWebhook[]> {
    const now = new Date(clock()).toISOString()
    const latest = new Date(clock() + implausible).toISOString()
    return await webhooks.due({ now, latest, limit, busy, revision: await store.read.revision() })
  }

  /** One step of one webhook: false where there was nothing to do. */
  async function step(webhook: StoredWebhook, signal: AbortSignal): Promise<boolean> {
    const { position, pending } = webhook
    const span = await read(position, pageSize)
    if (!span) {
      // The registry was restored to an earlier day: what comes now is told from there on.
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
      /** Those for whom this run does no more. */
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
        // Where the store cannot be asked, the next run begins nothing that this one still does.
        await Promise.all(busy.values())
      }
    },
  }
}

function wantedBy({ kinds, mine, owner }: StoredWebhook, up_to: number): (update: TaskUpdate) => boolean {
  return ({ change, owner: own }) =>
    change.revision <= up_to &&
    kinds.includes(change.kind) &&
    (!mine || (own !== null && principalKey(own) === owner))
}

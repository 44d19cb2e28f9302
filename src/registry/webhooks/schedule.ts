import type { Delivery, StoredWebhook, WebhookProgress } from '../../../schemas/webhook.ts'
import { dayMilliseconds } from '../../common/days.ts'

const firstWait = 5_000
const maxWait = 6 * 3_600_000
const growth = 3
/** Jitter as a share of a wait. */
const jitter = 0.2
const maxFailing = 5 * dayMilliseconds
const maxDeliveries = 20
const gone = 410

/** Progress after all changes up to a revision are delivered or not subscribed to. */
export function moved(
  webhook: StoredWebhook,
  position: number,
  now: number,
  delivery?: Delivery,
): WebhookProgress {
  const { failures, failing_since, disabled_at } = webhook
  return {
    position,
    pending: null,
    next_at: time(now),
    disabled_at,
    deliveries: delivery ? logged(webhook, delivery) : webhook.deliveries,
    ...(delivery ? { failures: 0, failing_since: null } : { failures, failing_since }),
  }
}

/**
 * Progress after a failure: retried after 5 s, 15 s, 45 s and so on up to 6 hours, with jitter, or after the target's
 * Retry-After if that is longer. After five days, or if the target answers 410, the webhook is disabled.
 */
export function afterFailure(
  webhook: StoredWebhook,
  delivery: Delivery,
  attempt: {
    readonly up_to: number
    readonly now: number
    readonly random: number
    readonly asked_s: number
  },
): WebhookProgress {
  const { up_to, now, random, asked_s } = attempt
  const failing_since = webhook.failing_since ?? time(now)
  const isOver = delivery.status === gone || now - Date.parse(failing_since) >= maxFailing
  const varied = retryDelay(webhook.failures, random)
  const requested = Math.min(maxWait, asked_s * 1000)
  return {
    position: webhook.position,
    pending: up_to,
    next_at: isOver ? null : time(now + Math.max(varied, requested)),
    failures: webhook.failures + 1,
    failing_since,
    disabled_at: isOver ? time(now) : null,
    deliveries: logged(webhook, delivery),
  }
}

/** Milliseconds before the next attempt, with jitter. */
export function retryDelay(failures: number, random: number): number {
  return Math.min(maxWait, firstWait * growth ** failures) * (1 + jitter * (2 * random - 1))
}

function logged({ deliveries }: StoredWebhook, delivery: Delivery): Delivery[] {
  return [delivery, ...deliveries].slice(0, maxDeliveries)
}

function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

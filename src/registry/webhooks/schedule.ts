import type { Delivery, StoredWebhook, WebhookProgress } from '../../../schemas/webhook.ts'

const firstWait = 5_000
const maxWait = 6 * 3_600_000
const growth = 3
/** Share of a wait that chance adds or takes. */
const jitter = 0.2
const maxFailing = 5 * 24 * 3_600_000
const maxDeliveries = 20
const gone = 410

/** How far a webhook has come when everything up to a revision is delivered, or is not for it. */
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
 * When it is tried again: after 5 s, 15 s, 45 s and so on up to 6 hours, each a little more or less, or what the target
 * asks for where that is longer. After five days, or where the target says that it is gone, not at all.
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
  const wait = Math.min(maxWait, firstWait * growth ** webhook.failures)
  const varied = wait * (1 + jitter * (2 * random - 1))
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

function logged({ deliveries }: StoredWebhook, delivery: Delivery): Delivery[] {
  return [delivery, ...deliveries].slice(0, maxDeliveries)
}

function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

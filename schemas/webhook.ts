import { z } from 'zod'
import { ChangeKind } from './change.ts'

const time = z.iso.datetime()

const fields = {
  url: z
    .url({ protocol: /^https?$/ })
    .max(2048)
    .describe('The address to which the changes are posted.'),
  kinds: z
    .array(ChangeKind)
    .min(1)
    .max(ChangeKind.options.length)
    .describe('Kinds of changes that are posted.'),
  mine: z.boolean().describe('Post only changes of agents that you own, or that were taken over from you.'),
}

/** The subscription of a webhook. */
export const WebhookInput = z.strictObject({
  url: fields.url,
  kinds: fields.kinds.default([...ChangeKind.options]),
  mine: fields.mine.default(false),
  since: z
    .int()
    .min(0)
    .optional()
    .describe('The revision that you have; 0 for all changes; when absent, changes from now on.'),
})
export type WebhookInput = z.output<typeof WebhookInput>

/** The fields to change; absent fields stay unchanged. */
export const WebhookEdit = z.strictObject({
  url: fields.url.optional(),
  kinds: fields.kinds.optional(),
  mine: fields.mine.optional(),
  since: z
    .int()
    .min(0)
    .optional()
    .describe('Deliver every change after this revision again; 0 for all changes.'),
  enabled: z.boolean().optional().describe('True also retries at once, even after the webhook was disabled.'),
})
export type WebhookEdit = z.output<typeof WebhookEdit>

/**
 * The reason why a delivery failed: the target must not be called, timed out, cannot be reached, sent an invalid
 * answer, redirected or answered other than 2xx; or the secret cannot be decrypted, since the gateway's key has
 * changed.
 */
export const DeliveryFailure = z
  .enum(['blocked_address', 'timeout', 'unreachable', 'invalid', 'redirect', 'status', 'secret'])
  .meta({ id: 'DeliveryFailure' })
export type DeliveryFailure = z.infer<typeof DeliveryFailure>

/** One attempt to deliver. */
export const Delivery = z
  .object({
    id: z.string().describe('The webhook-id of the delivery: the same at each attempt.'),
    at: time,
    ok: z.boolean(),
    status: z.int().nullable().describe('HTTP status of the answer, if there was one.'),
    failure: DeliveryFailure.nullable(),
    detail: z.string().nullable(),
    ms: z.int(),
  })
  .meta({ id: 'Delivery' })
export type Delivery = z.infer<typeof Delivery>

/** A webhook in the view of its owner. */
export const Webhook = z
  .object({
    id: z.uuid(),
    url: z.string(),
    kinds: fields.kinds,
    mine: z.boolean(),
    enabled: z.boolean(),
    created_at: time,
    delivered_revision: z
      .int()
      .describe('Every change up to this revision has been delivered or was not subscribed to.'),
    failing_since: time.nullable(),
    failures: z.int().describe('Failed attempts in a row.'),
    next_attempt_at: time.nullable().describe('Null if no change is pending, or the webhook is not enabled.'),
    disabled_at: time
      .nullable()
      .describe(
        'Time at which the webhook was disabled, after five days of failures; enable it again by PUT.',
      ),
    deliveries: z.array(Delivery).describe('The last attempts, the newest first.'),
  })
  .meta({ id: 'Webhook' })
export type Webhook = z.infer<typeof Webhook>

export const NewWebhook = Webhook.extend({
  secret: z
    .string()
    .describe('The secret that signs deliveries (Standard Webhooks). It is never returned again.'),
}).meta({ id: 'NewWebhook' })
export type NewWebhook = z.infer<typeof NewWebhook>

/** Delivery progress of a webhook. Times are RFC 3339. */
export interface WebhookProgress {
  /** Revision up to which every change was delivered. */
  readonly position: number
  /** Revision up to which the failed delivery reaches; the next attempt repeats that delivery. */
  readonly pending: number | null
  /** Time of the next attempt; null if the webhook is not enabled. */
  readonly next_at: string | null
  readonly failures: number
  readonly failing_since: string | null
  readonly disabled_at: string | null
  /** The attempts, the newest first. */
  readonly deliveries: readonly Delivery[]
}

/** A webhook as stored. */
export interface StoredWebhook extends WebhookProgress {
  readonly id: string
  /** Principal key. */
  readonly owner: string
  readonly url: string
  /** The sealed secret. */
  readonly sealed: string
  readonly kinds: readonly ChangeKind[]
  readonly mine: boolean
  readonly created_at: string
  /** Version of the owner's settings. Older progress does not overwrite newer settings. */
  readonly version: number
}

/** The settings by the owner, and the position from which the owner wants deliveries again. */
export type WebhookSettings = Partial<Omit<StoredWebhook, 'id' | 'owner' | 'version'>>

export interface WebhookStore {
  /** False, without adding the webhook, if the owner already has `max`. */
  add(webhook: StoredWebhook, max: number): Promise<boolean>
  get(id: string): Promise<StoredWebhook | undefined>
  /** The owner's webhooks, the newest first. */
  list(owner: string): Promise<readonly StoredWebhook[]>
  /** Writes the settings only; false if the webhook no longer exists or its settings are newer than that version. */
  set(id: string, version: number, settings: WebhookSettings): Promise<boolean>
  /**
   * Writes the progress; false if the settings or the progress have changed since, or the webhook no longer exists.
   */
  move(from: Pick<StoredWebhook, 'id' | 'version' | 'position'>, progress: WebhookProgress): Promise<boolean>
  /** False if the webhook does not exist. */
  remove(id: string): Promise<boolean>
  /**
   * Webhooks behind `revision` whose attempt is due by `now`, or due implausibly late; the one that is due longest
   * comes first, without those in `busy`.
   */
  due(query: WebhooksDue): Promise<readonly StoredWebhook[]>
}

interface WebhooksDue {
  readonly now: string
  readonly latest: string
  readonly revision: number
  readonly limit: number
  readonly busy: readonly string[]
}

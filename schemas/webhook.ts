import { z } from 'zod'
import { ChangeKind } from './change.ts'

const time = z.iso.datetime()

const fields = {
  url: z
    .url({ protocol: /^https?$/ })
    .max(2048)
    .describe('Where the changes are posted to.'),
  kinds: z
    .array(ChangeKind)
    .min(1)
    .max(ChangeKind.options.length)
    .describe('Kinds of changes that are posted.'),
  mine: z.boolean().describe('Only changes of agents that you own.'),
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
    .describe('Revision that you have; 0 for everything; when absent, changes from now on.'),
})
export type WebhookInput = z.output<typeof WebhookInput>

/** The fields to change; the others stay. */
export const WebhookEdit = z.strictObject({
  url: fields.url.optional(),
  kinds: fields.kinds.optional(),
  mine: fields.mine.optional(),
  enabled: z.boolean().optional().describe('True also retries at once, even after the webhook was disabled.'),
})
export type WebhookEdit = z.output<typeof WebhookEdit>

/**
 * Why a delivery failed: the target may not be called, timed out, cannot be reached, sent an invalid answer,
 * redirected or answered other than 2xx; or the secret cannot be decrypted, since the gateway's key has changed.
 */
export const DeliveryFailure = z.enum([
  'blocked_address',
  'timeout',
  'unreachable',
  'invalid',
  'redirect',
  'status',
  'secret',
])
export type DeliveryFailure = z.infer<typeof DeliveryFailure>

/** One attempt to deliver. */
export const Delivery = z.object({
  id: z.string().describe('The webhook-id that was sent: the same at each attempt.'),
  at: time,
  ok: z.boolean(),
  status: z.int().nullable().describe('HTTP status of the answer, where there was one.'),
  failure: DeliveryFailure.nullable(),
  detail: z.string().nullable(),
  ms: z.int(),
})
export type Delivery = z.infer<typeof Delivery>

/** A webhook as its owner sees it. */
export const Webhook = z.object({
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
  next_attempt_at: time
    .nullable()
    .describe('Null where no change is pending, or the webhook is not enabled.'),
  disabled_at: time
    .nullable()
    .describe('When it was disabled, after five days of failures; enable it again by PUT.'),
  deliveries: z.array(Delivery).describe('The last attempts, the newest first.'),
})
export type Webhook = z.infer<typeof Webhook>

export const NewWebhook = Webhook.extend({
  secret: z
    .string()
    .describe('What deliveries are signed with (Standard Webhooks). It is never shown again.'),
})
export type NewWebhook = z.infer<typeof NewWebhook>

/** Delivery progress of a webhook. Times are RFC 3339. */
export interface WebhookProgress {
  /** Revision up to which every change was delivered. */
  readonly position: number
  /** Revision up to which the failed delivery reaches; the next attempt is the same delivery. */
  readonly pending: number | null
  /** When the next attempt is due; null where it is not enabled. */
  readonly next_at: string | null
  readonly failures: number
  readonly failing_since: string | null
  readonly disabled_at: string | null
  /** The newest first. */
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
  /** Version of the owner's settings: older progress is not written over newer settings. */
  readonly version: number
}

/** What the owner sets, apart from delivery progress. */
export type WebhookSettings = Partial<
  Omit<StoredWebhook, 'id' | 'owner' | 'version' | 'position' | 'pending'>
>

export interface WebhookStore {
  /** False, and not added, where the owner already has `most`. */
  add(webhook: StoredWebhook, most: number): Promise<boolean>
  get(id: string): Promise<StoredWebhook | undefined>
  /** The newest first. */
  list(owner: string): Promise<readonly StoredWebhook[]>
  /** Writes the settings only; false where the webhook is gone or its settings are newer than that version. */
  set(id: string, version: number, settings: WebhookSettings): Promise<boolean>
  /** Writes the progress; false where the settings or the progress have changed since, or the webhook is gone. */
  move(from: Pick<StoredWebhook, 'id' | 'version' | 'position'>, progress: WebhookProgress): Promise<boolean>
  /** False where there was none. */
  remove(id: string): Promise<boolean>
  /**
   * Webhooks behind `revision` whose attempt is due by `now`, or due implausibly late; the longest due first, without
   * those in `busy`.
   */
  due(query: WebhooksDue): Promise<readonly StoredWebhook[]>
}

export interface WebhooksDue {
  readonly now: string
  readonly latest: string
  readonly revision: number
  readonly limit: number
  readonly busy: readonly string[]
}

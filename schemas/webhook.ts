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

/** What somebody asks for who wants to be told of changes. */
export const WebhookInput = z.strictObject({
  url: fields.url,
  kinds: fields.kinds.default([...ChangeKind.options]),
  mine: fields.mine.default(false),
  since: z
    .int()
    .min(0)
    .optional()
    .describe(
      'Revision that you have; 0 for everything from the beginning, what comes from now on if left out.',
    ),
})
export type WebhookInput = z.output<typeof WebhookInput>

/** What is to be otherwise; the rest stays. */
export const WebhookEdit = z.strictObject({
  url: fields.url.optional(),
  kinds: fields.kinds.optional(),
  mine: fields.mine.optional(),
  enabled: z.boolean().optional().describe('True also tries again at once, wherever it stood.'),
})
export type WebhookEdit = z.output<typeof WebhookEdit>

/**
 * Why a delivery failed: its target may not be called, was silent, is not there or broke off, answered nonsense, sent
 * it elsewhere or answered other than 2xx; or its secret cannot be opened, as the gateway's key is another.
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
  status: z.int().nullable().describe('Of the answer, where there was one.'),
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
  delivered_revision: z.int().describe('Everything up to it has been delivered, or was not asked for.'),
  failing_since: time.nullable(),
  failures: z.int().describe('Attempts that failed in a row.'),
  next_attempt_at: time.nullable().describe('Null where nothing is waited for, or it is not enabled.'),
  disabled_at: time
    .nullable()
    .describe('When it was given up, after five days of failing; enable it again by PUT.'),
  deliveries: z.array(Delivery).describe('The last attempts, the newest first.'),
})
export type Webhook = z.infer<typeof Webhook>

export const NewWebhook = Webhook.extend({
  secret: z
    .string()
    .describe('What deliveries are signed with (Standard Webhooks). It is never shown again.'),
})
export type NewWebhook = z.infer<typeof NewWebhook>

/** How far a webhook has come. Times are RFC 3339. */
export interface WebhookProgress {
  /** Revision up to which everything was delivered. */
  readonly position: number
  /** Up to where the delivery reaches that has failed; the next attempt is the same. */
  readonly pending: number | null
  /** When the next attempt is due; null where it is not enabled. */
  readonly next_at: string | null
  readonly failures: number
  readonly failing_since: string | null
  readonly disabled_at: string | null
  /** The newest first. */
  readonly deliveries: readonly Delivery[]
}

/** A webhook as the truth holds it. */
export interface StoredWebhook extends WebhookProgress {
  readonly id: string
  /** [issuer, subject] as JSON. */
  readonly owner: string
  readonly url: string
  /** Its secret. */
  readonly sealed: string
  readonly kinds: readonly ChangeKind[]
  readonly mine: boolean
  readonly created_at: string
  /** Of what its owner set: progress of before is not written over it. */
  readonly version: number
}

/** What its owner sets; how far it has come is not theirs to say. */
export type WebhookSettings = Partial<
  Omit<StoredWebhook, 'id' | 'owner' | 'version' | 'position' | 'pending'>
>

export interface WebhookStore {
  /** False, and not added, where its owner has `most`. */
  add(webhook: StoredWebhook, most: number): Promise<boolean>
  get(id: string): Promise<StoredWebhook | undefined>
  /** The newest first. */
  list(owner: string): Promise<readonly StoredWebhook[]>
  /** Sets that alone; false where it is no longer, or was set by another since that version. */
  set(id: string, version: number, settings: WebhookSettings): Promise<boolean>
  /** Writes how far it has come; false where its owner has set it otherwise, another has moved it, or it is no longer. */
  move(from: Pick<StoredWebhook, 'id' | 'version' | 'position'>, progress: WebhookProgress): Promise<boolean>
  /** False where there was none. */
  remove(id: string): Promise<boolean>
  /**
   * Those whose attempt is due by `now`, or implausibly late, and who are not at `revision`; the longest due first,
   * without those of `busy`.
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

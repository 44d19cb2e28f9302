import type { RegistryChange } from '../../../schemas/change.ts'
import { type Code, Failure } from '../../../schemas/failure.ts'
import type { Delivery, DeliveryFailure, StoredWebhook } from '../../../schemas/webhook.ts'
import { retryAfter } from '../../common/retry-after.ts'
import type { Fetch } from '../../net/fetch/fetch.ts'
import { signed } from './signature.ts'

/** Seals secrets; `context` binds a secret to its use. */
export interface Seals {
  seal(secret: string, context: string): string
  open(sealed: string, context: string): string | undefined
}

interface Attempt {
  readonly delivery: Delivery
  /** The target's Retry-After, in seconds; 0 if the target sends none. */
  readonly asked_s: number
}

interface DeliverOptions {
  readonly fetch: Fetch
  readonly seals: Seals
  readonly clock: () => number
  /** Time for the target's answer, in milliseconds. */
  readonly timeout_ms: number
}

/** Makes one attempt to deliver one or more changes. Throws only the signal's reason. */
export type Deliver = (
  webhook: StoredWebhook,
  changes: readonly RegistryChange[],
  up_to: number,
  signal: AbortSignal,
) => Promise<Attempt>

const maxBytes = 1024 * 1024
const maxDetail = 300

export function createDeliver({ fetch, seals, clock, timeout_ms }: DeliverOptions): Deliver {
  return async (webhook, changes, up_to, signal) => {
    const begun = clock()
    // A repeated delivery has the same id; a delivery with more changes has another id.
    const id = `msg_${webhook.id}_${webhook.position}_${up_to}`
    const end = (
      status: number | null,
      failure: DeliveryFailure | null,
      detail: string | null,
    ): Delivery => ({
      id,
      at: new Date(begun).toISOString(),
      ok: failure === null,
      status,
      failure,
      detail: detail?.slice(0, maxDetail) ?? null,
      ms: Math.max(0, Math.round(clock() - begun)),
    })
    const secret = seals.open(webhook.sealed, secretContext(webhook))
    if (secret === undefined) return { delivery: end(null, 'secret', unopened), asked_s: 0 }
    const timestamp = changes.at(-1)?.at
    const body = JSON.stringify({ type: 'registry.changes', timestamp, data: { changes, next_since: up_to } })
    const headers = {
      'content-type': 'application/json',
      ...signed(secret, id, Math.floor(begun / 1000), body),
    }
    try {
      const { status, headers: responseHeaders } = await fetch({
        url: webhook.url,
        method: 'POST',
        headers,
        body,
        signal,
        refuse_redirects: true,
        max_bytes: maxBytes,
        timeout_ms,
      })
      if (status >= 200 && status < 300) return { delivery: end(status, null, null), asked_s: 0 }
      const asked_s = retryAfter(responseHeaders['retry-after'], clock()) ?? 0
      return { delivery: end(status, 'status', `It answered ${status}.`), asked_s }
    } catch (thrown) {
      if (signal.aborted) throw thrown
      const failure = Failure.from(thrown)
      if (failure.code === 'internal') throw thrown
      return { delivery: end(null, classOf(failure), failure.message), asked_s: 0 }
    }
  }
}

const unopened =
  'The secret cannot be decrypted: the key of the gateway has changed. Create the webhook again.'

/** The context of a webhook's secret. */
export function secretContext({ owner, id }: Pick<StoredWebhook, 'owner' | 'id'>): string {
  return JSON.stringify(['webhook', owner, id])
}

const classes: Partial<Record<Code, DeliveryFailure>> = {
  blocked_address: 'blocked_address',
  upstream_timeout: 'timeout',
  upstream_failed: 'unreachable',
}

function classOf({ code, details }: Failure): DeliveryFailure {
  return details.upstream?.code === 'redirect' ? 'redirect' : (classes[code] ?? 'invalid')
}

import { Failure } from '../../../schemas/failure.ts'
import type { Principal } from '../../../schemas/scope.ts'
import type {
  NewWebhook,
  StoredWebhook,
  Webhook,
  WebhookEdit,
  WebhookInput,
  WebhookSettings,
  WebhookStore,
} from '../../../schemas/webhook.ts'
import { principalKey } from '../../common/principal-key.ts'
import type { Store } from '../../store/store.ts'
import type { ReadChanges } from '../changes/read-changes.ts'
import { type Seals, secretContext } from './deliver.ts'
import { secretOf } from './signature.ts'

/** Webhooks of owners. A caller finds only the caller's own webhooks. */
export interface Webhooks {
  /** Throws Failure `blocked_address`, `invalid_request` and `conflict`. */
  create(input: WebhookInput, caller: Principal): Promise<NewWebhook>
  list(caller: Principal): Promise<Webhook[]>
  get(id: string, caller: Principal): Promise<Webhook>
  update(id: string, edit: WebhookEdit, caller: Principal): Promise<Webhook>
  remove(id: string, caller: Principal): Promise<void>
}

interface WebhooksOptions {
  readonly store: { readonly webhooks: WebhookStore; readonly read: Pick<Store['read'], 'revision'> }
  readonly read: ReadChanges
  readonly seals: Seals
  readonly clock: () => number
  /** A new UUIDv7. */
  readonly createId: () => string
  /** Returns that many random bytes. */
  readonly randomBytes: (count: number) => Uint8Array
  /** Throws Failure for an address that the gateway never sends to. */
  readonly check: (url: string) => unknown
}

/** Of one owner. */
export const maxWebhooks = 10
const secretBytes = 32

export function createWebhooks(options: WebhooksOptions): Webhooks {
  const { store, read, seals, clock, createId, randomBytes, check } = options
  const { webhooks } = store
  const now = () => new Date(clock()).toISOString()

  async function own(id: string, caller: Principal): Promise<StoredWebhook> {
    const webhook = await webhooks.get(id)
    if (webhook?.owner === principalKey(caller)) return webhook
    throw new Failure('not_found', 'You have no such webhook.', { hint: 'list_webhooks lists yours.' })
  }

  async function positionOf(since: number | undefined): Promise<number> {
    if (since === undefined) return await store.read.revision()
    if (await read(since, 1)) return since
    const revision = await store.read.revision()
    throw new Failure('invalid_request', `The registry is at revision ${revision}, before ${since}.`, {
      errors: [{ pointer: '/since', detail: `This is at most ${revision}.` }],
    })
  }

  return {
    async create({ url, kinds, mine, since }, caller) {
      check(url)
      const owner = principalKey(caller)
      const id = createId()
      const secret = secretOf(randomBytes(secretBytes))
      const webhook: StoredWebhook = {
        id,
        owner,
        url,
        sealed: seals.seal(secret, secretContext({ owner, id })),
        kinds: [...new Set(kinds)],
        mine,
        created_at: now(),
        version: 1,
        position: await positionOf(since),
        pending: null,
        next_at: now(),
        failures: 0,
        failing_since: null,
        disabled_at: null,
        deliveries: [],
      }
      if (await webhooks.add(webhook, maxWebhooks)) return { ...shown(webhook), secret }
      throw new Failure('conflict', `You have ${maxWebhooks} webhooks.`, { hint: 'Delete one first.' })
    },
    list: async (caller) => (await webhooks.list(principalKey(caller))).map(shown),
    get: async (id, caller) => shown(await own(id, caller)),
    async update(id, { enabled, kinds, since, ...edit }, caller) {
      if (edit.url !== undefined) check(edit.url)
      const webhook = await own(id, caller)
      const settings: WebhookSettings = {
        url: edit.url ?? webhook.url,
        mine: edit.mine ?? webhook.mine,
        kinds: kinds ? [...new Set(kinds)] : webhook.kinds,
        ...(since !== undefined && { position: await positionOf(since), pending: null, next_at: now() }),
        ...(enabled === true && { next_at: now(), failures: 0, failing_since: null, disabled_at: null }),
        ...(enabled === false && { next_at: null }),
      }
      if (await webhooks.set(id, webhook.version, settings)) return shown({ ...webhook, ...settings })
      throw new Failure('conflict', 'The webhook was changed or deleted since it was read.', {
        hint: 'Try again.',
      })
    },
    async remove(id, caller) {
      await own(id, caller)
      await webhooks.remove(id)
    },
  }
}

function shown(webhook: StoredWebhook): Webhook {
  const { id, url, kinds, mine, created_at, position, next_at, failures, failing_since } = webhook
  return {
    id,
    url,
    kinds: [...kinds],
    mine,
    enabled: next_at !== null,
    created_at,
    delivered_revision: position,
    failing_since,
    failures,
    next_attempt_at: failures > 0 ? next_at : null,
    disabled_at: webhook.disabled_at,
    deliveries: [...webhook.deliveries],
  }
}

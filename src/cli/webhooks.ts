import { Failure } from '../../schemas/failure.ts'
import type { NewWebhook, Webhook } from '../../schemas/webhook.ts'
import { readNumber } from './input.ts'
import { bold, print, printTable, say } from './output.ts'
import { askRegistry } from './send.ts'

interface Subscription {
  readonly kind?: string[]
  readonly mine?: boolean
  readonly all?: boolean
  readonly since?: string
  readonly url?: string
  readonly enable?: boolean
  readonly disable?: boolean
}

/** Creates a webhook and prints its secret, which is shown only once. */
export async function createWebhook(url: string, options: Subscription, json: boolean): Promise<void> {
  const { since } = options
  const created = await askRegistry<NewWebhook>('create_webhook', {
    url,
    ...fieldsOf(options),
    ...(since !== undefined && { since: readNumber('--since', since, 0, Number.MAX_SAFE_INTEGER) }),
  })
  if (json) return print(created)
  print(`${created.id} ${created.secret}`)
  say('The secret signs the deliveries. It is not shown again.')
}

export async function listWebhooks(json: boolean): Promise<void> {
  const found = await askRegistry<{ webhooks: Webhook[] }>('list_webhooks')
  if (json) return print(found)
  await printTable(
    [
      { title: 'ID', style: bold },
      { title: 'STATE' },
      { title: 'KINDS', dropped: 1 },
      { title: 'DELIVERED', dropped: 2 },
      { title: 'URL', elastic: true, dropped: 3 },
    ],
    found.webhooks.map((webhook) => [
      webhook.id,
      stateOf(webhook),
      webhook.kinds.join(','),
      `r${webhook.delivered_revision}`,
      webhook.url,
    ]),
  )
  if (found.webhooks.length === 0) say('You have no webhook. To make one: dragoman webhooks create URL')
}

export async function getWebhook(webhook: string, json: boolean): Promise<void> {
  show(await askRegistry('get_webhook', { webhook }), json)
}

/** Changes the given fields of a webhook. */
export async function updateWebhook(webhook: string, options: Subscription, json: boolean): Promise<void> {
  const { url, enable = false, disable = false } = options
  if (enable && disable) throw new Failure('invalid_request', 'Give one of --enable and --disable.')
  const edit = {
    ...(url !== undefined && { url }),
    ...fieldsOf(options),
    ...(enable !== disable && { enabled: enable }),
  }
  if (Object.keys(edit).length === 0)
    throw new Failure(
      'invalid_request',
      'Give an option that says what to change, such as --url or --disable.',
    )
  show(await askRegistry('update_webhook', { webhook, ...edit }), json)
}

export async function deleteWebhook(webhook: string, json: boolean): Promise<void> {
  await askRegistry('delete_webhook', { webhook })
  print(json ? { deleted: webhook } : `${webhook} is deleted`)
}

function fieldsOf({ kind, mine = false, all = false }: Subscription): { kinds?: string[]; mine?: boolean } {
  if (mine && all) throw new Failure('invalid_request', 'Give one of --mine and --all.')
  return { ...(kind !== undefined && { kinds: kind }), ...(mine !== all && { mine }) }
}

function stateOf({ enabled, disabled_at, failing_since }: Webhook): string {
  if (!enabled) return disabled_at === null ? 'off' : 'disabled'
  return failing_since === null ? 'on' : 'failing'
}

function show(webhook: Webhook, json: boolean): void {
  if (json) {
    print(webhook)
    return
  }
  const { id, url, kinds, mine, delivered_revision, deliveries } = webhook
  print(`${id} ${stateOf(webhook)}`)
  print(`  ${url}`)
  print(`  ${kinds.join(', ')}${mine ? ' of your own agents' : ''}; delivered up to r${delivered_revision}`)
  for (const { at, ok, status, failure, detail } of deliveries)
    print(`  ${at} ${ok ? 'ok' : (failure ?? '')} ${status ?? ''} ${detail ?? ''}`.trimEnd())
}

import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { input, output } from '../../schemas/shape.ts'
import { NewWebhook, Webhook, WebhookEdit, WebhookInput } from '../../schemas/webhook.ts'
import { requirePrincipal } from './caller.ts'
import type { WebhooksPort } from './port.ts'

const common = { access: { scope: 'agents:write' }, advertised: false } as const

const Named = z.strictObject({ webhook: z.string().min(1).max(100).describe('Id of the webhook.') })
type Named = z.infer<typeof Named>
const Edit = WebhookEdit.extend(Named.shape)
type Edit = z.output<typeof Edit>
const List = z.object({ webhooks: z.array(Webhook) }).meta({ id: 'WebhookList' })
type List = z.infer<typeof List>

export function createWebhook(webhooks: WebhooksPort): Action<WebhookInput, NewWebhook> {
  return defineAction({
    ...common,
    name: 'create_webhook',
    title: 'Create a webhook',
    description:
      'Posts changes of the registry to a URL as they happen, signed, in order, each at least once.',
    input: input(WebhookInput),
    output: output(NewWebhook),
    effect: 'write',
    secret: true,
    run: (request, { principal }) => webhooks.create(request, requirePrincipal(principal)),
  })
}

export function listWebhooks(webhooks: WebhooksPort): Action<Record<string, never>, List> {
  return defineAction({
    ...common,
    name: 'list_webhooks',
    title: 'List webhooks',
    description: 'Your webhooks, the newest first, with the results of their last deliveries.',
    input: input(z.strictObject({})),
    output: output(List),
    effect: 'read',
    run: async (_, { principal }) => ({ webhooks: await webhooks.list(requirePrincipal(principal)) }),
  })
}

export function getWebhook(webhooks: WebhooksPort): Action<Named, Webhook> {
  return defineAction({
    ...common,
    name: 'get_webhook',
    title: 'Read a webhook',
    description: 'One of your webhooks, with the results of its last deliveries and why some failed.',
    input: input(Named),
    output: output(Webhook),
    effect: 'read',
    run: ({ webhook }, { principal }) => webhooks.get(webhook, requirePrincipal(principal)),
  })
}

export function updateWebhook(webhooks: WebhooksPort): Action<Edit, Webhook> {
  return defineAction({
    ...common,
    name: 'update_webhook',
    title: 'Update a webhook',
    description:
      'Changes the given fields and leaves the rest; enables a disabled webhook, which continues where it stopped.',
    input: input(Edit),
    output: output(Webhook),
    effect: 'write',
    run: ({ webhook, ...edit }, { principal }) => webhooks.update(webhook, edit, requirePrincipal(principal)),
  })
}

export function deleteWebhook(webhooks: WebhooksPort): Action<Named, Record<string, never>> {
  return defineAction({
    ...common,
    name: 'delete_webhook',
    title: 'Delete a webhook',
    description: 'Deletes a webhook; its target gets no further changes.',
    input: input(Named),
    output: output(z.strictObject({})),
    effect: 'write',
    async run({ webhook }, { principal }) {
      await webhooks.remove(webhook, requirePrincipal(principal))
      return {}
    },
  })
}

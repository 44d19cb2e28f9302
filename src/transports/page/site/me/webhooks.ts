import { ChangeKind } from '../../../../../schemas/change.ts'
import type { Delivery, NewWebhook, Webhook } from '../../../../../schemas/webhook.ts'
import type { Mount } from '../../../http/app.ts'
import { type Html, html } from '../../html.ts'
import { box, button, field, onceFields, sureButton, type Typed, time } from '../fields.ts'
import { secretOnce } from '../parts.ts'
import type { PageFrame } from '../site.ts'
import type { Visit } from '../view.ts'
import { words } from '../words.ts'
import { memberMounts, memberView } from './frame.ts'

const text = words.me
const path = '/me/webhooks'

/** Webhooks, with their deliveries. */
export function webhooksMounts(site: PageFrame): Mount[] {
  return memberMounts(site, {
    path,
    show: (visit, typed) => show(visit, typed),
    async act(visit, form) {
      const webhook = form.get('webhook') ?? ''
      const name = form.get('do') ?? ''
      if (name === 'delete') {
        await visit.ask('delete_webhook', { webhook })
        return { location: `${path}?done=delete_webhook` }
      }
      if (name === 'enable' || name === 'disable') {
        await visit.ask('update_webhook', { webhook, enabled: name === 'enable' })
        return { location: `${path}?done=${name}` }
      }
      if (name === 'repeat') {
        await visit.ask('update_webhook', { webhook, since: Number(form.get('since')) })
        return { location: `${path}?done=repeat` }
      }
      const made = await visit.ask<NewWebhook>('create_webhook', {
        url: form.get('url')?.trim() ?? '',
        kinds: form.getAll('kinds'),
        mine: form.has('mine'),
      })
      return show(visit, { values: new URLSearchParams() }, made)
    },
  })
}

async function show(visit: Visit, typed: Typed, made?: NewWebhook) {
  const { webhooks } = await visit.ask<{ webhooks: readonly Webhook[] }>('list_webhooks', {})
  const chosen = typed.failure ? typed.values.getAll('kinds') : ChangeKind.options
  const content = html`<p class="lead">${text.webhooks_lead}</p>
${made && secretOnce(text.webhook_once, made.secret)}
${webhooks.length > 0 && html`<ul class="rows">${webhooks.map((webhook) => row(visit, webhook))}</ul>`}
<h2 class="title">${text.new_webhook}</h2>
<form method="post" action="${path}">${onceFields(visit)}<div class="fields">
${field({ name: 'url', label: text.webhook_url, type: 'url', required: true }, typed)}
<fieldset><legend>${text.kinds}</legend>${ChangeKind.options.map((kind) => box('kinds', kind, kind.replaceAll('_', ' '), chosen.includes(kind)))}</fieldset>
${box('mine', 'true', text.mine, typed.values.has('mine'))}
</div><p><button class="button main">${text.new_webhook}</button></p></form>`
  return memberView(visit, path, typed, content)
}

function row(visit: Visit, webhook: Webhook): Html {
  const { id, url, enabled, failing_since, delivered_revision, deliveries } = webhook
  const fields = { do: 'delete', webhook: id }
  const act = (name: string, label: string) =>
    button(visit, { action: path, label, of: url, fields: { do: name, webhook: id } })
  const state = !enabled ? text.off : failing_since === null ? text.on : text.failing
  return html`<li class="tall"><div><strong class="mono">${url}</strong> <span class="chip">${state}</span><p class="hint">${text.delivered} ${delivered_revision}</p>
<details><summary>${text.deliveries(deliveries.length)}</summary><ul class="rows">${deliveries.map((delivery) => deliveryRow(delivery))}</ul>
<form method="post" action="${path}">${onceFields(visit, { do: 'repeat', webhook: id })}<div class="fields">${field({ name: 'since', label: text.since, hint: text.since_hint, type: 'number', value: String(delivered_revision) }, { values: new URLSearchParams() })}</div><p><button class="button small">${text.repeat}</button></p></form></details></div>
<div class="chips">${act(enabled ? 'disable' : 'enable', enabled ? text.disable : text.enable)}${sureButton(visit, { action: path, label: text.delete, sure: text.remove_now, of: url, fields })}</div></li>`
}

function deliveryRow({ at, ok, status, failure, detail, ms }: Delivery): Html {
  return html`<li><div>${time(at)} <span class="level ${ok ? 'info' : 'error'}">${ok ? text.delivered_ok : text.failed}</span> ${status} ${failure !== null && html`<code>${failure}</code> `}${detail} <span class="count">${ms} ms</span></div></li>`
}

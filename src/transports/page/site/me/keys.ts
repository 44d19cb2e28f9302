import { Failure } from '../../../../../schemas/failure.ts'
import type { ApiKey, NewApiKey } from '../../../../../schemas/identity.ts'
import { scopes } from '../../../../../schemas/scope.ts'
import type { Mount } from '../../../http/app.ts'
import { type Html, html } from '../../html.ts'
import { box, field, onceFields, sureButton, type Typed, time } from '../fields.ts'
import { secretOnce } from '../parts.ts'
import type { PageFrame } from '../site.ts'
import type { Visit } from '../view.ts'
import { words } from '../words.ts'
import { filled, memberMounts, memberView } from './frame.ts'

const text = words.me
const day = 86_400
const maxDays = 365

/** API keys: for programs that act in the name of a person. */
export function keysMounts(site: PageFrame): Mount[] {
  return memberMounts(site, {
    path: '/me/keys',
    show: (visit, typed) => show(visit, typed),
    async act(visit, form) {
      if (form.get('do') === 'delete') {
        await visit.ask('delete_key', { key: form.get('key') ?? '' })
        return { location: '/me/keys?done=delete_key' }
      }
      if (!form.has('scopes')) throw refused('/scopes', text.scopes_hint)
      const days = Number(form.get('days') || '90')
      if (!(days >= 1 && days <= maxDays)) throw refused('/days', text.days_hint(maxDays))
      const made = await visit.ask<NewApiKey>('create_key', {
        ...filled(form, ['label']),
        scopes: form.getAll('scopes'),
        ttl_s: Math.round(days * day),
      })
      return show(visit, { values: new URLSearchParams() }, made)
    },
  })
}

function refused(pointer: string, detail: string): Failure {
  return new Failure('invalid_request', words.wrong, { errors: [{ pointer, detail }] })
}

async function show(visit: Visit, typed: Typed, made?: NewApiKey) {
  const { keys } = await visit.ask<{ keys: readonly ApiKey[] }>('list_keys', {})
  const { principal } = visit.visitor
  const offered = scopes.filter((scope) => scope !== 'admin' && principal?.scopes.has(scope))
  const chosen = typed.failure ? typed.values.getAll('scopes') : offered
  const content = html`<p class="lead">${text.keys_lead}</p>
${made && secretOnce(text.key_once, made.key)}
${keys.length > 0 && html`<ul class="rows">${keys.map((key) => row(visit, key))}</ul>`}
<h2 class="title">${text.new_key}</h2>
<form method="post" action="/me/keys">${onceFields(visit)}<div class="fields">
${field({ name: 'label', label: text.label, hint: text.label_hint }, typed)}
<fieldset><legend>${text.scopes}</legend>${offered.map((scope) => box('scopes', scope, text.scope[scope], chosen.includes(scope)))}</fieldset>
${field({ name: 'days', label: text.days, hint: text.days_hint(maxDays), type: 'number', value: '90' }, typed)}
</div><p><button class="button main">${text.new_key}</button></p></form>`
  return memberView(visit, '/me/keys', typed, content)
}

function row(visit: Visit, { id, label, scopes: rights, expires_at, revoked }: ApiKey): Html {
  const state = revoked
    ? html`<span class="bad">${text.revoked} ${time(revoked.at)}${revoked.reason && html` (${revoked.reason})`}</span>`
    : html`${text.until} ${time(expires_at)}`
  return html`<li><div>${label !== null && html`<strong dir="auto">${label}</strong> `}<span class="mono">${id}</span><p class="hint">${rights.join(', ')} · ${state}</p></div>${sureButton(visit, { action: '/me/keys', label: text.delete, sure: text.remove_now, of: label ?? id, fields: { do: 'delete', key: id } })}</li>`
}

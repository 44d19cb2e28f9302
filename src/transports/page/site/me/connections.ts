import type { Credential, SignInAddress } from '../../../../../schemas/credential.ts'
import type { Mount } from '../../../http/app.ts'
import { type Html, html } from '../../html.ts'
import { field, onceFields, sureButton, type Typed, time } from '../fields.ts'
import { pageOf } from '../parts.ts'
import type { PageFrame } from '../site.ts'
import { queryOf, type Visit } from '../view.ts'
import { words } from '../words.ts'
import { filled, memberMounts, memberView } from './frame.ts'

const text = words.me
const path = '/me/connections'

/** What a person gave the gateway for other agents: stored credentials, and sign-ins. */
export function connectionsMounts(site: PageFrame): Mount[] {
  return memberMounts(site, {
    path,
    show,
    async act(visit, form) {
      const agent = form.get('agent')?.trim() ?? ''
      const name = form.get('do')
      if (name === 'forget') {
        await visit.ask('delete_credential', { agent })
        return { location: `${path}?done=forget` }
      }
      if (name === 'connect') {
        const { sign_in_url } = await visit.ask<SignInAddress>('connect_agent', { agent })
        return { location: sign_in_url }
      }
      await visit.ask('set_credential', {
        agent,
        value: form.get('value') ?? '',
        ...filled(form, ['header', 'variable']),
      })
      return { location: `${path}?done=credential` }
    },
  })
}

async function show(visit: Visit, typed: Typed) {
  const { credentials } = await visit.ask<{ credentials: readonly Credential[] }>('list_credentials', {})
  const requested = queryOf(visit.request).get('agent') ?? ''
  const content = html`<p class="lead">${text.connections_lead}</p>
${credentials.length > 0 && html`<ul class="rows">${credentials.map((credential) => row(visit, credential))}</ul>`}
<h2 class="title">${text.connect_agent}</h2><p class="hint">${text.connect_hint}</p>
<form method="post" action="${path}">${onceFields(visit, { do: 'connect' })}<div class="fields">${field({ name: 'agent', label: text.package_name, value: requested, required: true }, typed)}</div><p><button class="button main">${text.connect_agent}</button></p></form>
<h2 class="title">${text.store}</h2><p class="hint">${text.store_hint}</p>
<form method="post" action="${path}">${onceFields(visit, { do: 'store' })}<div class="fields">
${agentField(requested, typed)}
${field({ name: 'header', label: text.header, hint: text.header_hint }, typed)}
${field({ name: 'variable', label: text.variable, hint: text.variable_hint }, typed)}
${field({ name: 'value', label: text.value, type: 'password', required: true, autocomplete: 'new-password' }, withoutSecret(typed))}
</div><p><button class="button">${text.store}</button></p></form>`
  return memberView(visit, path, typed, content)
}

/** The page has two fields for an agent, so the second one has another id. */
function agentField(requested: string, { values }: Typed): Html {
  return html`<div><label for="store-agent">${text.package_name}</label> <span class="required">${words.required}</span><input id="store-agent" name="agent" value="${values.get('agent') ?? requested}" required></div>`
}

/** A secret is never sent back. */
function withoutSecret({ values, ...rest }: Typed): Typed {
  const shown = new URLSearchParams(values)
  shown.delete('value')
  return { values: shown, ...rest }
}

function row(visit: Visit, { agent, kind, header, variable, sign_in, origin, created_at }: Credential): Html {
  const what = sign_in ? `${text.signed_in_at} ${sign_in.issuer}` : (variable ?? header)
  return html`<li><div><a class="mono" dir="ltr" href="${pageOf(agent)}">${agent}</a><p class="hint">${text.kind[kind]} ${what} · ${text.sent_to} ${origin} · ${time(created_at)}</p></div>${sureButton(visit, { action: path, label: text.forget, sure: text.forget_now, of: agent, fields: { do: 'forget', agent } })}</li>`
}

import type { Failure } from '../../../../schemas/failure.ts'
import { html } from '../html.ts'
import type { View, Visit } from './view.ts'
import { words } from './words.ts'

/** The page of an error: what is wrong, what to do, and its code. */
export function failureView({ code, message, details }: Failure): View {
  const main = html`<div class="plain"><h1>${words.wrong}</h1><p>${message}</p>
${details.hint !== undefined && html`<p>${details.hint}</p>`}
<p class="hint"><a href="/docs/errors#${code}"><code>${code}</code></a></p>
<p><a class="button" href="/">${words.home}</a></p></div>`
  return { title: words.wrong, description: message, main }
}

/** Fields with a secret, which is kept and not shown. */
const secrets = new Set(['value'])

/** Shows a form again that was shown to another session, with all that was typed. */
export function resendView({ request, visitor, token }: Visit, form: URLSearchParams): View {
  const fields = [...form].filter(([name]) => name !== 'token')
  const main = html`<div class="plain"><h1>${words.resend}</h1>
${
  visitor.person
    ? html`<p>${words.resend_as} <strong>${visitor.person.name}</strong>.</p>`
    : html`<p>${words.resend_signed_out}</p><p><a class="button" href="/sign-in" target="_blank">${words.sign_in_again}</a></p>`
}
<form method="post" action="${request.url ?? ''}"><input type="hidden" name="token" value="${token() || 'none'}">
${fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<p><button class="button main">${words.send}</button></p></form>
<dl class="facts">${fields.map(([name, value]) => html`<div><dt>${name}</dt><dd>${secrets.has(name) ? '•••' : value.slice(0, 200)}</dd></div>`)}</dl></div>`
  return { title: words.resend, main, status: 403 }
}

import type { EntryDetail } from '../../../../../schemas/card.ts'
import { html } from '../../html.ts'
import { pageOf, shortened } from '../parts.ts'
import type { View, Visit } from '../view.ts'
import { agentWords as labels, words } from '../words.ts'

/** The form by which people report an agent; those who have not signed in are asked to. */
export function reportPage({ package_name, ...entry }: EntryDetail, { visitor, token }: Visit): View {
  const name = shortened(entry.name)
  const here = pageOf(package_name)
  const reasons = Object.entries(labels.reasons)
  const form = html`<form method="post" action="${here}/report"><input type="hidden" name="token" value="${token()}">
<div class="fields"><fieldset class="choices"><legend>${labels.report_reason}</legend>${reasons.map(([id, text]) => html`<label><input type="radio" name="reason" value="${id}" required>${text}</label>`)}</fieldset>
<div><label for="detail">${labels.report_detail}</label><textarea id="detail" name="detail" rows="5" maxlength="2000"></textarea></div></div>
<p><button class="button main">${labels.report_send}</button></p></form>`
  const main = html`<div class="plain"><h1>${labels.report_title}</h1><p><a href="${here}">${name}</a> <span class="name mono" dir="ltr">${package_name}</span></p>
<p>${visitor.person ? labels.report_lead : labels.report_sign_in}</p>
${visitor.person ? form : html`<p><a class="button main" href="/sign-in?then=${encodeURIComponent(`${here}/report`)}">${words.sign_in}</a></p>`}</div>`
  return { title: `${labels.report_title}: ${name}`, main }
}

/** Thanks for a report. */
export function reportedPage(packageName: string): View {
  const main = html`<div class="plain"><h1>${labels.report_title}</h1><p role="status">${labels.reported}</p><p><a class="button" href="${pageOf(packageName)}">${labels.back}</a></p></div>`
  return { title: labels.report_title, main }
}

import type { EntryDetail } from '../../../../schemas/card.ts'
import { html } from '../html.ts'
import { pageOf } from './parts.ts'
import type { View, Visit } from './view.ts'
import { agentWords as said, words } from './words.ts'

/** The form by which people report an agent; those who have not signed in are asked to. */
export function reportPage({ package_name, name }: EntryDetail, { visitor, token }: Visit): View {
  const here = pageOf(package_name)
  const reasons = Object.entries(said.reasons)
  const form = html`<form method="post" action="${here}/report" class="fields"><input type="hidden" name="token" value="${token()}">
<fieldset><legend>${said.report_reason}</legend>${reasons.map(([id, text]) => html`<label><input type="radio" name="reason" value="${id}" required>${text}</label>`)}</fieldset>
<div><label for="detail">${said.report_detail}</label><textarea id="detail" name="detail" rows="5" maxlength="2000"></textarea></div>
<p><button class="button main">${said.report_send}</button></p></form>`
  const main = html`<div class="plain"><h1>${said.report_title}</h1><p><a href="${here}">${name}</a> <span class="name mono" dir="ltr">${package_name}</span></p>
<p>${visitor.person ? said.report_lead : said.report_sign_in}</p>
${visitor.person ? form : html`<p><a class="button main" href="/sign-in">${words.sign_in}</a></p>`}</div>`
  return { title: `${said.report_title}: ${name}`, main }
}

/** Thanks for a report. */
export function reportedPage(packageName: string): View {
  const main = html`<div class="plain"><h1>${said.report_title}</h1><p role="status">${said.reported}</p><p><a class="button" href="${pageOf(packageName)}">${said.back}</a></p></div>`
  return { title: said.report_title, main }
}

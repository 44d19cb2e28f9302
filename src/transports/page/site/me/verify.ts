import type { EntryDetail } from '../../../../../schemas/card.ts'
import type { VerificationOutcome } from '../../../../../schemas/trust.ts'
import type { Mount } from '../../../http/app.ts'
import { type Html, html } from '../../html.ts'
import { field, onceFields, type Typed, time } from '../fields.ts'
import { copyable, readFirst } from '../parts.ts'
import type { PageFrame } from '../site.ts'
import { queryOf, type Visit } from '../view.ts'
import { verificationWords, words } from '../words.ts'
import { managePath } from './agents.ts'
import { filled, memberMounts, memberView } from './frame.ts'

const text = words.me
const path = '/me/verify'

/** The way to a proved domain: the record to publish, and the check. Agents without a proved owner are claimed so. */
export function verifyMounts(site: PageFrame): Mount[] {
  return memberMounts(site, {
    path,
    show: (visit, typed) => show(visit, typed),
    async act(visit, form) {
      const agent = form.get('agent')?.trim() ?? ''
      const { isOwn } = await read(visit, agent)
      const request = { agent, ...filled(form, ['domain']) }
      const outcome = await visit.ask<VerificationOutcome>(isOwn ? 'verify' : 'claim', request)
      if (outcome.verified) return { location: `${managePath(outcome.package_name)}?done=verified` }
      return show(visit, { values: form }, outcome)
    },
  })
}

async function read({ ask, visitor }: Visit, agent: string) {
  const entry = await ask<EntryDetail>('get_agent', { agent })
  const { owner } = entry
  const isOwn =
    owner !== null &&
    owner.issuer === visitor.principal?.issuer &&
    owner.subject === visitor.principal?.subject
  return { entry, isOwn }
}

async function show(visit: Visit, typed: Typed, outcome?: VerificationOutcome) {
  const requested = queryOf(visit.request).get('agent') ?? ''
  const agent = typed.values.get('agent') ?? requested
  const target = agent === '' || typed.failure ? undefined : await read(visit, agent)
  const content = html`
<p class="lead">${target && !target.isOwn ? text.claim_lead : text.verify_lead}</p>
${target && html`<p><span class="chip">${verificationWords[target.entry.verification_level]}</span> ${target.entry.verification && html`<span class="hint">${target.entry.verification.domain} · ${target.entry.verification.method} · ${time(target.entry.verification.checked_at)}</span>`}</p>`}
${outcome && records(outcome)}
<form method="post" action="${path}">${onceFields(visit)}<div class="fields">
${field({ name: 'agent', label: text.package_name, value: agent, required: true }, typed)}
${field({ name: 'domain', label: text.domain, hint: text.domain_hint, value: outcome?.domain ?? '' }, typed)}
</div><p><button class="button main">${outcome ? text.check_now : text.show_record}</button></p></form>`
  return memberView(visit, '/me', typed, content, text.verify)
}

/** What to publish, and what the last check found. */
function records({ reason, challenges, attempts }: VerificationOutcome): Html {
  return html`${reason !== null && html`<p class="note"${readFirst}>${reason}</p>`}
${
  challenges &&
  html`<h2 class="title">${text.publish_one}</h2>
<section class="card"><h2>${text.dns}</h2><dl class="facts"><div><dt>${text.record}</dt><dd class="mono">${challenges.dns.record.name} TXT</dd></div></dl>${copyable('proof-dns', challenges.dns.record.value)}</section>
<section class="card"><h2>${text.file}</h2><dl class="facts"><div><dt>${text.address}</dt><dd class="mono">${challenges.http.url}</dd></div></dl>${copyable('proof-file', challenges.http.line)}</section>`
}
${attempts.length > 0 && html`<h2 class="title">${text.attempts}</h2><ul class="rows">${attempts.map(({ method, ok, detail }) => html`<li><div><span class="level ${ok ? 'info' : 'warning'}">${method}</span> ${detail}</div></li>`)}</ul>`}`
}

import type { EntryDetail } from '../../../../../schemas/card.ts'
import { codes, Failure } from '../../../../../schemas/failure.ts'
import type { InstallConfig } from '../../../../../schemas/install.ts'
import type { LivenessHistory } from '../../../../../schemas/liveness.ts'
import type { VersionDiff, VersionPage } from '../../../../../schemas/version.ts'
import type { Mount } from '../../../http/app.ts'
import type { ReadRequest } from '../../../http/input.ts'
import type { TransportContext } from '../../../shared/transport-context.ts'
import { html } from '../../html.ts'
import { field, onceFields, problem, type Typed } from '../fields.ts'
import { pageOf, shortened } from '../parts.ts'
import type { PageFrame } from '../site.ts'
import { queryOf, type View, type Visit } from '../view.ts'
import { agentWords as labels, words } from '../words.ts'
import { agentPage } from './agent.ts'
import { diffPage, rangePath, readRange, versionsPage } from './versions.ts'

/** Versions on the page of an agent. */
const recent = 5

/** The pages about one agent. */
export function agentMounts(context: Pick<TransportContext, 'site'>, { page, form }: PageFrame): Mount[] {
  return [
    page('/agent/:agent', async ({ request, ask, token }) => {
      const agent = agentIn(request)
      const entry = await ask<EntryDetail>('get_agent', { agent })
      const [install, history, versions] = await Promise.all([
        ask<InstallConfig>('install_config', { agent }).catch(unlessNotInstallable),
        ask<LivenessHistory>('get_liveness_history', { agent }),
        ask<VersionPage>('list_versions', { agent, limit: recent, changes: true }),
      ])
      const chosen = queryOf(request).get('capability') ?? undefined
      const base = context.site().base_url
      return agentPage({ entry, install, history, versions, base, chosen, token: token() })
    }),
    page('/agent/:agent/versions', async ({ request, ask }) => {
      const agent = agentIn(request)
      const query = queryOf(request)
      const [from, to, cursor] = ['from', 'to', 'cursor'].map((name) => query.get(name))
      if (from && to) return { location: `${pageOf(agent)}/versions/${rangePath(from, to)}` }
      const [entry, versions] = await Promise.all([
        ask<EntryDetail>('get_agent', { agent }),
        ask<VersionPage>('list_versions', { agent, changes: true, ...(cursor && { cursor }) }),
      ])
      return versionsPage(entry, versions, Boolean(cursor))
    }),
    page('/agent/:agent/versions/:range', async ({ request, ask }) => {
      const agent = agentIn(request)
      const range = readRange(String(request.params.range))
      if (!range)
        throw new Failure('not_found', 'A comparison is named by two versions, as in 1.0.0...1.1.0.')
      const [from, to] = range
      const entry = await ask<EntryDetail>('get_agent', { agent })
      return diffPage(entry, await ask<VersionDiff>('diff_versions', { agent, from, to }))
    }),
    page('/agent/:agent/report', async (visit) => {
      if (queryOf(visit.request).has('sent')) return reportedPage(agentIn(visit.request))
      return await reportPage(visit, { values: new URLSearchParams() })
    }),
    form('/agent/:agent/report', async (visit, fields) => {
      const agent = agentIn(visit.request)
      // Browsers send CRLF for each line break.
      const detail = fields.get('detail')?.replaceAll('\r\n', '\n').trim()
      try {
        await visit.ask('report', { agent, reason: fields.get('reason') ?? '', ...(detail && { detail }) })
      } catch (thrown) {
        if (!(thrown instanceof Failure) || thrown.code === 'internal') throw thrown
        return await reportPage(visit, { values: fields, failure: thrown })
      }
      return { location: `${pageOf(agent)}/report?sent` }
    }),
  ]
}

function agentIn({ params }: ReadRequest): string {
  return String(params.agent)
}

/** What has no configuration is shown without one. */
function unlessNotInstallable(thrown: unknown): undefined {
  if (thrown instanceof Failure && thrown.code === 'not_installable') return undefined
  throw thrown
}

/** The form by which people report an agent; those who have not signed in are asked to. */
async function reportPage(visit: Visit, typed: Typed): Promise<View> {
  const { package_name, ...entry } = await visit.ask<EntryDetail>('get_agent', {
    agent: agentIn(visit.request),
  })
  const { values, failure } = typed
  const name = shortened(entry.name)
  const here = pageOf(package_name)
  const reasons = Object.entries(labels.reasons)
  const form = html`<form method="post" action="${here}/report">${onceFields(visit)}
<div class="fields"><fieldset class="choices" id="f-reason"><legend>${labels.report_reason}</legend>${reasons.map(([id, text]) => html`<label><input type="radio" name="reason" value="${id}" required${values.get('reason') === id && html` checked`}>${text}</label>`)}</fieldset>
${field({ name: 'detail', label: labels.report_detail, hint: labels.report_detail_hint, rows: 5 }, typed)}</div>
<p><button class="button main">${labels.report_send}</button></p></form>`
  const main = html`<div class="plain"><h1>${labels.report_title}</h1><p><a href="${here}">${name}</a> <span class="name mono" dir="ltr">${package_name}</span></p>
${problem(typed)}<p>${visit.visitor.person ? labels.report_lead : labels.report_sign_in}</p>
${visit.visitor.person ? form : html`<p><a class="button main" href="/sign-in?then=${encodeURIComponent(`${here}/report`)}">${words.sign_in}</a></p>`}</div>`
  return {
    title: `${failure ? words.wrong : labels.report_title}: ${name}`,
    main,
    ...(failure && { status: codes[failure.code].http }),
  }
}

/** Thanks for a report. */
function reportedPage(packageName: string): View {
  const main = html`<div class="plain"><h1>${labels.report_title}</h1><p role="status">${labels.reported}</p><p><a class="button" href="${pageOf(packageName)}">${labels.back}</a></p></div>`
  return { title: labels.report_title, main }
}

import type { RegistryEvent, RegistryEventPage } from '../../../../../schemas/audit.ts'
import type { JsonObject } from '../../../../../schemas/json.ts'
import { type Mirror, MirrorCounts } from '../../../../../schemas/mirror.ts'
import type { SuspensionPage } from '../../../../../schemas/suspension.ts'
import type { Mount } from '../../../http/app.ts'
import { type Html, html } from '../../html.ts'
import { button, field, onceFields, sureButton, type Typed, time } from '../fields.ts'
import { countOf } from '../formats.ts'
import { pageOf } from '../parts.ts'
import type { PageFrame } from '../site.ts'
import { queryOf, type Visit } from '../view.ts'
import { words } from '../words.ts'
import { filled, listed, memberMounts, memberView } from './frame.ts'

const text = words.me
const path = '/me/registry'
/** Reports and suspensions that are shown. */
const maxRows = 20

/** What the buttons of the page do, by their names. */
const acts: Readonly<
  Record<string, { readonly action: string; readonly input: (form: URLSearchParams) => JsonObject }>
> = {
  mirror: {
    action: 'add_mirror',
    input: (form) => ({ source: form.get('source')?.trim() ?? '', filter: listed(form.get('filter')) }),
  },
  run_mirror: { action: 'run_mirror', input: (form) => filled(form, ['name']) },
  remove_mirror: { action: 'remove_mirror', input: (form) => filled(form, ['name']) },
  suspend: { action: 'suspend', input: (form) => filled(form, ['agent', 'reason']) },
  lift: { action: 'suspend', input: (form) => ({ ...filled(form, ['agent']), suspended: false }) },
}

/** What an operator does with the whole registry: mirrors, reports of readers, suspended agents. */
export function registryMounts(site: PageFrame): Mount[] {
  return memberMounts(site, {
    path,
    show,
    async act(visit, form) {
      const name = form.get('do') ?? ''
      // A name that every object has is no button.
      const row = Object.hasOwn(acts, name) ? acts[name] : undefined
      if (!row) return { location: path }
      await visit.operate(row.action, row.input(form))
      return { location: `${path}?done=${name}` }
    },
  })
}

async function show(visit: Visit, typed: Typed) {
  if (!visit.visitor.operator) {
    const content = html`<p class="lead">${text.registry_operator_only}</p><pre tabindex="0">dragoman login
dragoman mirror add official
dragoman audit --action report
dragoman suspend PACKAGE --reason TEXT</pre>`
    return memberView(visit, path, typed, content)
  }
  const [{ mirrors }, { events }, { agents }] = await Promise.all([
    visit.operate<{ readonly mirrors: readonly Mirror[] }>('list_mirrors', {}),
    visit.operate<RegistryEventPage>('list_events', { action: 'report', limit: maxRows }),
    visit.operate<SuspensionPage>('list_suspensions', { limit: maxRows }),
  ])
  const content = html`<p class="lead">${text.registry_lead}</p>
<h2 class="title">${words.status.mirrors}</h2>
${mirrors.length === 0 ? html`<p>${words.status.no_mirrors}</p>` : html`<ul class="rows">${mirrors.map((mirror) => mirrorRow(visit, mirror))}</ul>`}
<form method="post" action="${path}">${onceFields(visit, { do: 'mirror' })}<div class="fields">
${field({ name: 'source', label: text.mirror_source, hint: text.mirror_source_hint, value: mirrors.length === 0 ? 'official' : '', required: true }, typed)}
${field({ name: 'filter', label: text.mirror_filter, hint: text.mirror_filter_hint }, typed)}
</div><p><button class="button main">${text.add_mirror}</button></p></form>
<h2 class="title">${text.reports}</h2>
${events.length === 0 ? html`<p>${text.no_reports}</p>` : html`<ul class="rows">${events.map(reportRow)}</ul>`}
<h2 class="title">${text.suspensions}</h2>
${agents.length > 0 && html`<ul class="rows">${agents.map((agent) => suspendedRow(visit, agent))}</ul>`}
${suspendForm(visit, typed)}`
  return memberView(visit, path, typed, content)
}

function mirrorRow(visit: Visit, mirror: Mirror): Html {
  const { name, url, status, counts, finished_at, next_at, error, rejections } = mirror
  const common = { action: path, of: name }
  const sums = MirrorCounts.keyof().options.map(
    (kind) => `${countOf(counts[kind])} ${text.mirror_counts[kind]}`,
  )
  const last = finished_at === null ? words.status.never : time(finished_at)
  return html`<li class="tall"><div><strong dir="ltr">${name}</strong> <span class="chip">${words.status.mirror_states[status]}</span><p class="hint"><span class="mono" dir="ltr">${url}</span></p>
<p class="hint">${sums.join(', ')} · ${text.last_run} ${last} · ${text.next_run} ${time(next_at)}</p>
${error && html`<p class="note bad"><code>${error.code}</code> ${error.message}</p>`}
${rejections.length > 0 && html`<details><summary>${text.rejections(rejections.length)}</summary><ul class="rows">${rejections.map(({ key, reason }) => html`<li><div><span class="mono" dir="ltr">${key}</span><p class="hint">${reason}</p></div></li>`)}</ul></details>`}</div>
<div class="chips">${button(visit, { ...common, label: text.run_now, fields: { do: 'run_mirror', name } })}${sureButton(visit, { ...common, label: text.remove_mirror, sure: text.remove_mirror_now, fields: { do: 'remove_mirror', name } })}</div></li>`
}

function reportRow({ at, package_name, actor, reason }: RegistryEvent): Html {
  const event = html`${time(at)}${actor && html` <code>${actor.subject}</code>`}<p dir="auto">${reason ?? ''}</p>`
  // What was purged since has no name any more.
  if (package_name === null) return html`<li><div>${event}</div></li>`
  const suspending = `${path}?agent=${encodeURIComponent(package_name)}#f-agent`
  return html`<li><div><a class="mono" dir="ltr" href="${pageOf(package_name)}">${package_name}</a> ${event}</div><a class="button small" href="${suspending}" aria-label="${text.suspend}: ${package_name}">${text.suspend}</a></li>`
}

function suspendedRow(visit: Visit, agent: SuspensionPage['agents'][number]): Html {
  const { package_name, owner, suspended, deleted } = agent
  const lift = {
    action: path,
    label: text.lift,
    of: package_name,
    fields: { do: 'lift', agent: package_name },
  }
  return html`<li><div><span class="mono" dir="ltr">${package_name}</span> ${time(suspended.at)}${owner && html` <code>${owner.subject}</code>`}${deleted && html` <span class="chip">${text.is_deleted}</span>`}<p dir="auto">${suspended.reason}</p></div>${button(visit, lift)}</li>`
}

function suspendForm(visit: Visit, typed: Typed): Html {
  const agent = queryOf(visit.request).get('agent') ?? ''
  return html`<form method="post" action="${path}">${onceFields(visit, { do: 'suspend' })}<div class="fields">
${field({ name: 'agent', label: text.package_name, value: agent, required: true }, typed)}
${field({ name: 'reason', label: text.suspend_reason, hint: text.suspend_reason_hint, required: true }, typed)}
</div><p><button class="button">${text.suspend}</button></p></form>`
}

import { isDeepStrictEqual } from 'node:util'
import type { AuditEvent } from '../../../../../schemas/audit.ts'
import type { CallHistory } from '../../../../../schemas/calls.ts'
import type { EntryDetail } from '../../../../../schemas/card.ts'
import type { Endpoint } from '../../../../../schemas/entry-parts.ts'
import { Failure } from '../../../../../schemas/failure.ts'
import type { JsonObject } from '../../../../../schemas/json.ts'
import type { TransferOffer, TransferPage } from '../../../../../schemas/transfer.ts'
import type { Finding } from '../../../../../schemas/trust.ts'
import type { Mount } from '../../../http/app.ts'
import { type Html, html } from '../../html.ts'
import { button, field, onceFields, type Typed, time } from '../fields.ts'
import { hintText } from '../hint.ts'
import { pageOf, shortened, stateOf, table } from '../parts.ts'
import type { PageFrame } from '../site.ts'
import type { Visit } from '../view.ts'
import { verificationWords, words } from '../words.ts'
import { isOwn, managePath } from './agents.ts'
import { filled, listed, memberMounts, memberView } from './frame.ts'

const text = words.me

/** What the buttons of the page do, by their names. */
const acts: Readonly<
  Record<
    string,
    { readonly action: string; readonly input?: (form: URLSearchParams, entry: EntryDetail) => JsonObject }
  >
> = {
  live: { action: 'go_live' },
  stage: { action: 'unpublish' },
  check: { action: 'check' },
  deprecate: {
    action: 'deprecate',
    input: (form) => ({ deprecated: true, ...filled(form, ['message', 'successor']) }),
  },
  restore: { action: 'deprecate', input: () => ({ deprecated: false }) },
  update: { action: 'update', input: changesOf },
  transfer: { action: 'transfer', input: (form) => filled(form, ['subject', 'issuer']) },
  withdraw: { action: 'transfer', input: () => ({ subject: null }) },
  delete: { action: 'delete' },
}

/** Events of the log that are shown. */
const maxEvents = 20
/** Offers among which the one of an agent is looked for. */
const maxOffers = 100

/** Actions that fail if the agent has changed since its page was shown. */
const revised = new Set(['live', 'stage', 'deprecate', 'restore', 'update', 'transfer', 'withdraw', 'delete'])

/** The page on which an owner changes one agent. */
export function manageMounts(site: PageFrame): Mount[] {
  return memberMounts(site, {
    path: '/me/agents/:agent',
    async show(visit, typed) {
      const agent = String(visit.request.params.agent)
      const entry = await visit.ask<EntryDetail>('get_agent', { agent })
      if (!isOwn(entry)) throw new Failure('forbidden', text.not_yours(agent))
      const [{ offers }, { events }, history] = await Promise.all([
        visit.ask<TransferPage>('list_transfers', { made: true, limit: maxOffers }),
        visit.ask<{ readonly events: readonly AuditEvent[] }>('audit', { agent, limit: maxEvents }),
        visit.ask<CallHistory>('get_call_history', { agent }),
      ])
      const offer = offers.find(({ id }) => id === entry.id)
      const content = contentOf({ visit, entry, typed, offer, events, history })
      return memberView(visit, '/me', typed, content, shortened(entry.name))
    },
    async act(visit, form) {
      const agent = String(visit.request.params.agent)
      const name = form.get('do') ?? ''
      // A name that every object has is no button.
      const row = Object.hasOwn(acts, name) ? acts[name] : undefined
      if (!row) return { location: managePath(agent) }
      const revision = Number(form.get('revision'))
      const input = row.input?.(form, await visit.ask<EntryDetail>('get_agent', { agent }))
      await visit.ask(row.action, {
        agent,
        ...input,
        ...(revised.has(name) && revision > 0 && { expected_revision: revision }),
      })
      return { location: name === 'delete' ? '/me?done=delete' : `${managePath(agent)}?done=${name}` }
    },
  })
}

/** The fields that differ from the entry: it still takes the others from its card or its server. */
function changesOf(form: URLSearchParams, entry: EntryDetail): JsonObject {
  // Browsers send CRLF for each line break.
  const typed = (name: string) => form.get(name)?.trim().replaceAll('\r\n', '\n') ?? ''
  const fields = {
    name: typed('name'),
    description: typed('description'),
    version: typed('version') || null,
    tags: listed(form.get('tags')),
    category: typed('category') || null,
    license: typed('license') || null,
  }
  const changed = Object.entries(fields).filter(([name, value]) => {
    const present = entry[name as keyof typeof fields]
    return form.has(name) && !isDeepStrictEqual(value, typeof present === 'string' ? present.trim() : present)
  })
  return { ...Object.fromEntries(changed), ...changedAddress(form, entry) }
}

/** The address, if it was changed: one that was not may have more members than the form shows. */
function changedAddress(form: URLSearchParams, entry: EntryDetail): JsonObject {
  const present = onlyAddress(entry)
  const endpoint = endpointIn(form)
  const isSame = endpoint.url === present?.url && endpoint.protocol === present.protocol
  return form.has('endpoint') && !isSame ? { endpoints: [endpoint] } : {}
}

/** The address that the form shows: of several, and of those that a document states, it would lose something. */
function onlyAddress({ manifest, endpoints }: EntryDetail): Endpoint | undefined {
  return manifest === null && endpoints.length === 1 ? endpoints[0] : undefined
}

/** The address at which an agent is called, as `addressFields` asks for it. */
export function endpointIn(form: URLSearchParams): { readonly protocol: string; readonly url: string } {
  return { protocol: form.get('protocol') ?? 'mcp', url: form.get('endpoint')?.trim() ?? '' }
}

/** The fields for the only address at which an agent is called. */
export function addressFields(typed: Typed, present?: Endpoint): Html {
  const url = { value: present?.url ?? '', pointer: '/endpoints/0/url' }
  const protocol = { value: present?.protocol ?? 'mcp', pointer: '/endpoints/0/protocol' }
  return html`${field({ name: 'endpoint', label: text.endpoint, hint: text.endpoint_hint, type: 'url', required: true, ...url }, typed)}
${field({ name: 'protocol', label: text.protocol, choices: text.protocols, ...protocol }, typed)}`
}

interface Content {
  readonly visit: Visit
  readonly entry: EntryDetail
  readonly typed: Typed
  readonly offer: TransferOffer | undefined
  readonly events: readonly AuditEvent[]
  readonly history: CallHistory
}

function contentOf({ visit, entry, typed, offer, events, history }: Content): Html {
  const { package_name, state, verification_level, deprecated, suspended, revision } = entry
  const isStage = state === 'STAGE'
  const act = (name: string, label: string, isMain = false) =>
    button(visit, {
      action: managePath(package_name),
      label,
      isMain,
      fields: { do: name, revision: String(revision) },
    })
  return html`
<p><span class="name mono" dir="ltr">${package_name}</span> ${entry.version !== null && html`<span class="count">${entry.version}</span>`}</p>
<div class="chips"><span class="chip">${isStage ? text.stage : text.active}</span><span class="chip">${stateOf(entry)}</span><span class="chip">${verificationWords[verification_level]}</span>${deprecated && html`<span class="chip">${text.deprecated}</span>`}</div>
${suspended && html`<p class="note bad">${text.suspended} ${suspended.reason}</p>`}
<p class="hint">${hintText(entry.callable_reason, pageOf(package_name))}</p>
<div class="chips">${act(isStage ? 'live' : 'stage', isStage ? text.go_live : text.unpublish, isStage)}${act('check', text.check)}<a class="button small" href="/me/verify?agent=${encodeURIComponent(package_name)}">${text.verify}</a><a class="button small" href="${pageOf(package_name)}">${isStage ? text.preview : text.public_page}</a></div>
${findings([...(entry.manifest?.findings ?? []), ...(entry.reading?.findings ?? []), ...(entry.warnings ?? [])])}
${!isStage && html`<h2 class="title">${text.calls}</h2>${callsOf(history)}`}
${editForm(visit, entry, typed)}
<h2 class="title">${text.deprecate}</h2>
${
  deprecated
    ? html`<p>${deprecated.message ?? ''}</p>${act('restore', text.restore)}`
    : html`<form method="post" action="${managePath(package_name)}">${onceFields(visit, { do: 'deprecate', revision: String(revision) })}<div class="fields">
${field({ name: 'message', label: text.deprecation_message }, typed)}${field({ name: 'successor', label: text.successor, hint: text.successor_hint }, typed)}</div><p><button class="button">${text.deprecate}</button></p></form>`
}
<h2 class="title">${text.transfer}</h2>
${offer ? html`<p>${text.offered_to} <code>${offer.to.subject}</code></p>${act('withdraw', text.withdraw)}` : transferForm(visit, entry, typed)}
<h2 class="title">${text.log}</h2><p class="hint">${text.log_hint}</p>${logOf(events)}
<h2 class="title">${text.remove}</h2><p class="hint">${text.remove_hint}</p>
<details><summary>${text.remove}</summary>${act('delete', text.remove_now)}</details>`
}

/** How often an agent was called, the last day first. */
function callsOf({ total, days }: CallHistory): Html {
  const rows = days.toReversed().map(({ date, calls, refused, failed }) => {
    return html`<tr><th scope="row">${date}</th><td>${calls}</td><td>${refused}</td><td>${failed}</td></tr>`
  })
  if (rows.length === 0) return html`<p>${text.not_called}</p>`
  return html`<p>${text.calls_of(total)}</p><p class="hint">${text.calls_hint}</p>
<details><summary>${text.by_days}</summary>${table(text.call_columns, rows)}</details>`
}

/** What happened to an agent; open where a reader reported it. */
function logOf(events: readonly AuditEvent[]): Html {
  const isOpen = events.some(({ action }) => action === 'report')
  return html`<details${isOpen && html` open`}><summary>${text.last_events(events.length)}</summary><ul class="rows">${events.map(
    (event) =>
      html`<li><div>${time(event.at)} <strong>${event.action.replaceAll('_', ' ')}</strong> ${byOf(event)}${event.reason !== null && html`<p dir="auto">${event.reason}</p>`}<p class="hint">${Object.keys((event.before && event.after) ?? {}).join(', ')}</p></div></li>`,
  )}</ul></details>`
}

function byOf({ action, actor }: AuditEvent): Html {
  return actor
    ? html`<code>${actor.subject}</code>`
    : html`${action === 'report' ? text.reader : text.registry}`
}

function transferForm(visit: Visit, { package_name, revision }: EntryDetail, typed: Typed): Html {
  const issuer = visit.visitor.principal?.issuer ?? ''
  const isRefused = typed.failure !== undefined && typed.values.get('do') === 'transfer'
  return html`<p class="hint">${text.transfer_hint}</p><details${isRefused && html` open`}><summary>${text.transfer}</summary><form method="post" action="${managePath(package_name)}">${onceFields(visit, { do: 'transfer', revision: String(revision) })}<div class="fields">
${field({ name: 'subject', label: text.receiver, hint: text.receiver_hint, required: true }, typed)}${field({ name: 'issuer', label: text.issuer, value: issuer }, typed)}</div><p><button class="button">${text.offer}</button></p></form></details>`
}

function editForm(visit: Visit, entry: EntryDetail, typed: Typed): Html {
  const { package_name, revision, name, description, version, category, tags, license } = entry
  const address = onlyAddress(entry)
  return html`<h2 class="title">${text.edit}</h2>
<form method="post" action="${managePath(package_name)}">${onceFields(visit, { do: 'update', revision: String(revision) })}<div class="fields">
${field({ name: 'name', label: text.name, value: name, required: true }, typed)}
${field({ name: 'description', label: text.description, value: description, rows: 3, required: true }, typed)}
${address && addressFields(typed, address)}
${field({ name: 'version', label: words.version, value: version ?? '', hint: text.version_hint }, typed)}
${field({ name: 'tags', label: text.tags, value: tags.join(', '), hint: text.tags_hint }, typed)}
${field({ name: 'category', label: text.category, value: category ?? '' }, typed)}
${field({ name: 'license', label: words.license, value: license ?? '' }, typed)}
</div><p><button class="button main">${text.save}</button></p></form>`
}

/** What the registry found out about an agent, the worst first. */
export function findings(all: readonly Finding[]): Html | false {
  if (all.length === 0) return false
  return html`<h2 class="title">${text.findings}</h2><ul class="rows">${all.map(
    ({ severity, field: place, message, suggestion }) =>
      html`<li><div><span class="level ${severity}">${text.severity[severity]}</span> ${message} ${place !== '' && html`<code>${place}</code>`}${suggestion !== null && html`<p class="hint">${suggestion}</p>`}</div></li>`,
  )}</ul>`
}

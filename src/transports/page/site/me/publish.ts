import type { EntryDetail } from '../../../../../schemas/card.ts'
import { Failure } from '../../../../../schemas/failure.ts'
import { isRecord, type JsonObject } from '../../../../../schemas/json.ts'
import type { Validation } from '../../../../../schemas/validation.ts'
import type { Mount } from '../../../http/app.ts'
import { type Html, html } from '../../html.ts'
import { field, onceFields, type Typed } from '../fields.ts'
import { readFirst } from '../parts.ts'
import type { PageFrame } from '../site.ts'
import { queryOf, type Visit } from '../view.ts'
import { words } from '../words.ts'
import { managePath } from './agents.ts'
import { filled, listed, memberMounts, memberView, parsed } from './frame.ts'
import { addressFields, endpointIn, findings } from './manage.ts'

const text = words.me

/** The three ways to state an agent. */
const ways = ['url', 'card', 'form'] as const
type Way = (typeof ways)[number]

/** The page that lists a new agent: from an address, a card or a form, with what is to be corrected. */
export function publishMounts(site: PageFrame): Mount[] {
  return memberMounts(site, {
    path: '/publish',
    show: async (visit, typed) => show(visit, typed),
    async act(visit, form) {
      const typed = { values: form }
      const way = wayOf(form)
      if (form.get('do') === 'check') return show(visit, typed, await validate(visit, way, form))
      const stated = way === 'card' ? await validate(visit, way, form) : undefined
      if (stated?.publication === null) return show(visit, typed, stated)
      const publication =
        stated?.publication ?? (way === 'url' ? filled(form, ['manifest_url']) : statedIn(form))
      try {
        const { package_name } = await visit.ask<EntryDetail>('publish', {
          ...(publication as JsonObject),
          ...filled(form, ['package_name']),
        })
        return { location: `${managePath(package_name)}?done=publish` }
      } catch (fault) {
        throw await ofOwnName(visit, fault, form.get('package_name')?.trim())
      }
    },
  })
}

/** A refusal of a name that is the visitor's already says where its agent is changed. */
async function ofOwnName(visit: Visit, fault: unknown, agent: string | undefined): Promise<unknown> {
  if (!(fault instanceof Failure) || fault.code !== 'conflict' || !agent) return fault
  const entry = await visit.ask<EntryDetail>('get_agent', { agent }).catch(() => undefined)
  // Only those who may change an agent see the subject of its owner.
  if (entry?.owner?.subject === undefined) return fault
  return new Failure('conflict', fault.message, { ...fault.details, hint: text.own_name }, fault)
}

function show(visit: Visit, typed: Typed, validation?: Validation) {
  const requested = queryOf(visit.request)
  const way = wayOf(typed.values.has('way') ? typed.values : requested)
  const content = html`<p class="lead">${text.publish_lead}</p>
<nav class="chips" aria-label="${text.publish}">${ways.map((each) => html`<a class="chip" href="/publish?way=${each}"${each === way && html` aria-current="true"`}>${text.ways[each]}</a>`)}</nav>
<form method="post" action="/publish">${onceFields(visit, { way })}<div class="fields">${fieldsOf(way, typed)}</div>
<p class="chips"><button class="button" name="do" value="check">${text.check_first}</button><button class="button main" name="do" value="publish">${text.create}</button></p></form>
<div id="findings">${validation && report(validation, typed)}</div>`
  return { ...memberView(visit, '/publish', typed, content), script: 'publish' as const }
}

function wayOf(values: URLSearchParams): Way {
  return ways.find((way) => way === values.get('way')) ?? 'url'
}

function fieldsOf(way: Way, typed: Typed): Html {
  const hint = `${text.package_name_hint} ${text.package_name_given}`
  const name = field({ name: 'package_name', label: text.package_name, hint }, typed)
  if (way === 'url') {
    return html`${field({ name: 'manifest_url', label: text.manifest_url, hint: text.manifest_url_hint, type: 'url', required: true }, typed)}${name}`
  }
  if (way === 'card') {
    return html`${field({ name: 'card', label: text.card, hint: text.card_hint, rows: 14, required: true }, typed)}${name}`
  }
  return html`${field({ name: 'package_name', label: text.package_name, hint: text.package_name_hint, required: true }, typed)}
${field({ name: 'name', label: text.name, required: true }, typed)}
${field({ name: 'description', label: text.description, hint: text.description_hint, rows: 3, required: true }, typed)}
${addressFields(typed)}
${field({ name: 'tags', label: text.tags, hint: text.tags_hint }, typed)}
${field({ name: 'category', label: text.category }, typed)}`
}

/** What is wrong, and how the agent would be listed; a name that is typed counts before that of the card. */
function report({ valid, findings: all, preview }: Validation, { values }: Typed): Html {
  const name = values.get('package_name')?.trim() || preview?.package_name
  const open = all.filter(({ code, field }) => !name || code !== 'missing_field' || field !== '/package_name')
  return html`<p class="note"${readFirst}>${valid ? text.valid : text.invalid}</p>
${preview && html`<dl class="facts"><div><dt>${text.package_name}</dt><dd dir="ltr">${name ?? ''}</dd></div><div><dt>${text.name}</dt><dd>${preview.name}</dd></div><div><dt>${words.capabilities(preview.capabilities.length)}</dt><dd>${preview.capabilities.slice(0, 20).join(', ')}</dd></div></dl>`}
${findings(open)}`
}

function validate({ ask }: Visit, way: Way, form: URLSearchParams): Promise<Validation> {
  return ask<Validation>('validate', requestOf(way, form))
}

/** Throws Failure `invalid_request` for a card that is no JSON object. */
function requestOf(way: Way, form: URLSearchParams): JsonObject {
  if (way === 'url') return { publication: filled(form, ['manifest_url', 'package_name']) }
  if (way === 'form') return { publication: statedIn(form) }
  const card = parsed(form, 'card')
  if (isRecord(card)) return { card: card as JsonObject }
  throw new Failure('invalid_request', text.no_json, {
    errors: [{ pointer: '/card', detail: text.no_object }],
  })
}

function statedIn(form: URLSearchParams): JsonObject {
  const texts = filled(form, ['package_name', 'name', 'description', 'category'])
  const tags = listed(form.get('tags'))
  return { ...texts, endpoints: [endpointIn(form)], ...(tags.length > 0 && { tags }) }
}

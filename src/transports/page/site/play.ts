import type { EntryDetail } from '../../../../schemas/card.ts'
import type { Json, JsonObject } from '../../../../schemas/json.ts'
import { testTag } from '../../../../schemas/names.ts'
import type { Step } from '../../../../schemas/playground.ts'
import type { AgentPage } from '../../../../schemas/search.ts'
import type { Mount } from '../../http/app.ts'
import { type Html, html } from '../html.ts'
import { isOpenToTry } from './agent/agent.ts'
import { callForm } from './agent/form.ts'
import { colouredJson, copyable, pageOf, searchField, shortened, signOf, stateOf } from './parts.ts'
import type { PageFrame } from './site.ts'
import { queryOf, type View, type Visit } from './view.ts'
import { words } from './words.ts'

const text = words.play

/** Agents that a search shows. */
const maxFound = 8
/** Steps that are drawn: the last ones. */
const maxSteps = 40
/** Characters of an input or an answer that are drawn. */
const maxText = 6_000

/** The console: find an agent, call it in a session of the playground, see each step, take the steps along as code. */
export function playMounts({ page, form }: PageFrame): Mount[] {
  return [
    page('/play', consoleView),
    form('/play/steps', async ({ call }, fields) => {
      const session = fields.get('session') ?? ''
      const ask = (action: string, params: JsonObject) =>
        call({ to: 'svc.playground', action, params: { session, ...params } })
      const { steps } = await allSteps(ask)
      const exported = await Promise.all(formats.map((format) => ask('export_session', { format })))
      return stepsView(session, steps, exported as unknown as Exported[])
    }),
  ]
}

type AskSession = (action: string, params: JsonObject) => Promise<Json>

interface History {
  readonly steps: Step[]
  readonly more: boolean
}

async function allSteps(ask: AskSession): Promise<History> {
  const steps: Step[] = []
  for (;;) {
    const after = steps.at(-1)?.number ?? 0
    const page = (await ask('get_session', { after })) as unknown as History
    steps.push(...page.steps)
    if (!page.more || page.steps.length === 0) return { steps, more: false }
  }
}

const formats = ['curl', 'typescript', 'mcp'] as const

interface Exported {
  readonly format: (typeof formats)[number]
  readonly text: string
}

async function consoleView({ request, visitor, ask, token }: Visit): Promise<View> {
  const search = queryOf(request)
  const query = search.get('q') ?? ''
  const agent = search.get('agent')
  const [found, entry] = await Promise.all([
    ask<AgentPage>('search_agents', searchOf(query)),
    agent === null ? undefined : ask<EntryDetail>('get_agent', { agent }),
  ])
  const main = html`<div class="console">
<div>
<h1>${text.title}</h1>
<p class="lead">${text.lead}</p>
<p class="hint">${visitor.person ? text.signed_in : text.anonymous}</p>
<noscript><p class="note">${text.no_scripts}</p></noscript>
<h2 class="title">${text.find}</h2>
<div data-discover>${searchField(query, [], { path: '/play', label: text.ask })}</div>
<ul class="finds">${found.agents.map((hit) => findOf(hit, query, entry?.package_name))}</ul>
${found.agents.length === 0 && html`<p>${words.nothing}</p>`}
${entry && chosen(entry, search)}
</div>
<form class="steps" method="post" action="/play/steps">
${visitor.person !== null && html`<input type="hidden" name="token" value="${token()}">`}<input type="hidden" name="session">
${stepList('', [], [])}
</form>
</div>`
  return { title: text.title, description: text.lead, main, place: 'play', script: 'play' }
}

/** Without a query: what a session may call. */
function searchOf(query: string): JsonObject {
  if (query.trim() !== '') return { query: query.slice(0, 1000), limit: maxFound, federation: 'none' }
  return { filters: { callable: ['hosted'], labels: [testTag] }, limit: maxFound, federation: 'none' }
}

type Found = AgentPage['agents'][number]

/** An agent that a session may call is chosen here; the page of another one says how it is used. */
function findOf(hit: Found, query: string, current: string | undefined): Html {
  const { package_name, name, description } = hit
  const here = `/play?${new URLSearchParams({ ...(query !== '' && { q: query }), agent: package_name })}`
  const isOpen = isOpenToTry(hit)
  const isCurrent = package_name === current && html` aria-current="true"`
  return html`<li><a href="${isOpen ? `${here}#call` : pageOf(package_name)}"${isCurrent}><strong dir="auto">${shortened(name)}</strong>${stateOf(hit)}<span dir="auto">${isOpen ? description : text.elsewhere}</span></a></li>`
}

function chosen(entry: EntryDetail, search: URLSearchParams): Html {
  const { name, package_name, capabilities } = entry
  const choice = search.get('capability')
  const capability = capabilities.find((candidate) => candidate.name === choice) ?? capabilities[0]
  const links = capabilities.map((candidate) => {
    const address = new URLSearchParams(search)
    address.set('capability', candidate.name)
    const isCurrent = candidate === capability && html` aria-current="true"`
    return html`<a class="chip" href="/play?${String(address)}#call"${isCurrent}><code>${candidate.name}</code></a>`
  })
  return html`<h2 class="title" id="call">${text.call_of(shortened(name))}</h2>
${capabilities.length > 1 && html`<nav class="chips" aria-label="${text.capabilities}">${links}</nav>`}
${capability && html`<p class="text" dir="auto">${capability.description}</p>`}
${capability && isOpenToTry(entry) ? callForm(package_name, capability, 0) : html`<p><a class="button" href="${pageOf(package_name)}">${text.elsewhere}</a></p>`}`
}

function stepsView(session: string, steps: readonly Step[], exported: readonly Exported[]): View {
  return { title: text.steps, main: stepList(session, steps, exported) }
}

/** What a script replaces after each call. */
function stepList(session: string, steps: readonly Step[], exported: readonly Exported[]): Html {
  const shown = steps.slice(-maxSteps)
  return html`<div id="steps">
<h2>${text.steps}</h2>
${steps.length === 0 ? html`<p class="hint">${text.no_steps}</p>` : html`<ol>${shown.map((step) => stepOf(step, step === steps.at(-1)))}</ol>`}
${
  steps.length > 0 &&
  html`<h2>${text.take}</h2>
${exported.map(({ format, text: code }) => html`<details name="export"><summary>${text.formats[format]}</summary>${copyable(`export-${format}`, code)}<p class="hint"><a href="/api/playground/session/${encodeURIComponent(session)}/export?format=${format}" download>${text.file}</a></p></details>`)}
<p><button class="button small" type="button" data-forget>${text.forget}</button></p>`
}</div>`
}

function stepOf({ number, envelope, duration_ms, failure, cut, ...step }: Step, isLast: boolean): Html {
  const state = failure ? signOf('bad', failure.code) : signOf('ok', `${duration_ms} ms`)
  const answer = failure ?? cut?.text ?? step.output
  return html`<li><details${isLast && html` open`}><summary><code>${number} ${envelope.action}</code> ${state}</summary>
<p class="mono" dir="ltr">${envelope.to}</p>
<h3>${text.input}</h3><pre tabindex="0">${jsonText(envelope.params)}</pre>
<h3>${text.answer}</h3><pre tabindex="0">${jsonText(answer)}</pre></details></li>`
}

function jsonText(value: unknown): Html {
  const whole = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '')
  return colouredJson(whole.length > maxText ? `${whole.slice(0, maxText)} …` : whole)
}

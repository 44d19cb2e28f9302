import type { Entry } from '../../../../schemas/entry.ts'
import { fewAgents } from '../../../../schemas/search.ts'
import { withoutHidden } from '../../../../schemas/text.ts'
import { type Html, html } from '../html.ts'
import { callableWords, livenessWords, words } from './words.ts'

const magnifier = html`<svg viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="2" aria-hidden="true"><circle cx="8.5" cy="8.5" r="6"/><path d="m13 13 5 5"/></svg>`

/** The search field. `filters` are the filters in force, which a new search keeps. */
export function searchField(
  query: string,
  filters: readonly (readonly [string, string])[],
  { path = '/search', label = words.ask as string, suggests = false } = {},
): Html {
  // The script fills the list with names while one types.
  const list = suggests && html`<datalist id="names"></datalist>`
  return html`<form class="field" role="search" action="${path}" data-away="${words.faults.away}">
${magnifier}<input type="search" name="q" value="${query}" placeholder="${label}" aria-label="${label}" autocomplete="off" maxlength="1000" aria-keyshortcuts="Control+K Meta+K"${suggests && html` list="names"`}>${list}
${filters.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}<kbd aria-hidden="true">${words.search_keys}</kbd><button class="button main">${words.search}</button>
</form>`
}

const signs = {
  ok: html`<circle cx="5" cy="5" r="4" fill="currentColor"/>`,
  warn: html`<circle cx="5" cy="5" r="4" fill="none" stroke="currentColor" stroke-width="2"/>`,
  bad: html`<rect x="1" y="1" width="8" height="8" fill="none" stroke="currentColor" stroke-width="2"/>`,
  none: html`<circle cx="5" cy="5" r="3.5" fill="none" stroke="currentColor" stroke-width="1.5"/>`,
} as const

type Sign = keyof typeof signs

/** The sign of each liveness but `unknown`. */
export const signOfLiveness = {
  alive: 'ok',
  degraded: 'warn',
  dead: 'bad',
  stale: 'bad',
  unreachable: 'bad',
} as const

type Shown = Pick<Entry, 'callable' | 'liveness' | 'packages'>

/** A sign of its own form for each state, and the state in words. */
export function stateOf({ callable, liveness, packages }: Shown): Html {
  const { status, p50_ms } = liveness
  const isLookedAt = status !== 'unknown' && callable !== 'package'
  const kind: Sign = isLookedAt
    ? signOfLiveness[status]
    : callable === 'hosted' || callable === 'open'
      ? 'ok'
      : 'none'
  const registries = [...new Set(packages.map(({ registry_type }) => registry_type))].join(', ')
  const more =
    callable === 'package' ? registries : isLookedAt && p50_ms !== null ? `${Math.round(p50_ms)} ms` : ''
  const text = isLookedAt ? livenessWords[status] : callableWords[callable]
  return signOf(kind, more === '' ? text : `${text} · ${more}`)
}

/** A state in words, with a sign of a form of its own. */
export function signOf(kind: Sign, text: string): Html {
  return html`<span class="state ${kind}"><svg viewBox="0 0 10 10" aria-hidden="true">${signs[kind]}</svg>${text}</span>`
}

/** JSON with its texts in colour. */
export function jsonOf(value: unknown): Html {
  return colouredJson(JSON.stringify(value, null, 2))
}

/** A text of JSON, or of what is like it, with its strings in colour. */
export function colouredJson(text: string): Html {
  // A text that was cut may end within a string: a match that failed there would begin again at each quote.
  const parts = text.split(/("(?:[^"\\]|\\[\s\S])*(?:":?|\\?$))/)
  return html`${parts.map((part, index) => {
    const isText = index % 2 === 1 && !part.endsWith(':')
    return isText ? html`<span class="string">${part}</span>` : part
  })}`
}

/** A text with a button that copies it. */
export function copyable(id: string, text: Html | string): Html {
  return html`<div class="copy"><pre id="${id}" tabindex="0"><code>${text}</code></pre>${copyButton(id)}</div>`
}

/** Copies the text of the element with this id. `what` names the text where several stand side by side. */
export function copyButton(id: string, what?: string): Html {
  const label = what !== undefined && html` aria-label="${words.copy_of(what)}"`
  return html`<button class="button small" type="button" data-copy="${id}" data-done="${words.copied}"${label}>${words.copy}</button>`
}

/** A table that scrolls sideways where the page is too narrow for it. */
export function table(columns: readonly string[], rows: readonly Html[]): Html {
  return html`<div class="scroll" tabindex="0"><table><thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>`
}

/** Attributes of what a form has led to: its page is read and scrolled to from there. */
export const readFirst = html` tabindex="-1" autofocus`

/** A secret that is shown this one time. */
export function secretOnce(label: string, secret: string): Html {
  return html`<section class="card"${readFirst}><h2>${label}</h2>${copyable('secret', secret)}</section>`
}

/** A text whose parts between backquotes are code. */
export function withCode(text: string): Html {
  return html`${text.split(/`([^`]+)`/).map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : part))}`
}

const units = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['week', 7 * 86_400],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** A time as long ago as it is, and exactly where one points at it. */
export function timeOf(iso: string): Html {
  const seconds = (Date.parse(iso) - Date.now()) / 1000
  const [unit, length] = units.find(([, size]) => Math.abs(seconds) >= size) ?? ['minute', 60]
  const text = Math.abs(seconds) < 60 ? words.just_now : relative.format(Math.round(seconds / length), unit)
  return html`<time datetime="${iso}" title="${iso.slice(0, 16).replace('T', ' ')} UTC">${text}</time>`
}

const maxShort = 200

/** A text of a publisher in a place for a short one, without what it hides. */
export function shortened(text: string): string {
  const shown = withoutHidden(text)
  return shown.length > maxShort ? `${shown.slice(0, maxShort)}…` : shown
}

/** A link to a page of somebody else; text where it is no web address. */
export function outside(address: string): Html {
  const url = URL.parse(address)
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return html`${address}`
  return html`<a href="${url.href}" rel="nofollow noopener ugc">${url.host}</a>`
}

/** The address of an agent's page. */
export function pageOf(packageName: string): string {
  return `/agent/${encodeURIComponent(packageName)}`
}

/** Searches to try, of which the first visitor of a new registry finds something too; without the one just made. */
export function tryOut(listed = Number.POSITIVE_INFINITY, made = ''): Html {
  const examples = listed < fewAgents ? words.own_examples : words.examples
  const others = examples.filter((example) => example !== made)
  return html`<p class="tries">${words.tries} ${others.map((example) => html`<a class="chip" href="/search?q=${encodeURIComponent(example)}">${example}</a> `)}</p>`
}

/** How the operator of a registry that is new has it list more; nothing for any other. */
export function howToFill(listed = Number.POSITIVE_INFINITY): Html | false {
  if (listed >= fewAgents) return false
  return html`<p class="hint">${withCode(words.few(listed))} <a href="/docs/mirror">${words.mirrors}</a></p>`
}

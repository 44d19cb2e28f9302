import { fittingConfidence } from '../../../../schemas/brief.ts'
import type { SearchHit } from '../../../../schemas/card.ts'
import type { FacetName } from '../../../../schemas/entry-fields.ts'
import type { AgentPage } from '../../../../schemas/search.ts'
import { type Html, html } from '../html.ts'
import { countOf, licenseOf, titleOf } from './formats.ts'
import { howToFill, pageOf, searchField, shortened, stateOf, tryOut } from './parts.ts'
import type { View } from './view.ts'
import { callableWords, verificationWords, words } from './words.ts'

/** The filters beside the results: their titles, how many values they show, and what the values are called. */
const railFilters: readonly {
  readonly name: string
  readonly facet: FacetName
  readonly title: string
  readonly most: number
  /** The filter takes several values. */
  readonly isList: boolean
  readonly values?: Readonly<Record<string, string>>
  /** What a value is called that `values` lacks; the value itself when absent. */
  readonly textOf?: (value: string) => string
}[] = [
  { name: 'callable', facet: 'callable', title: 'Use', most: 7, isList: true, values: callableWords },
  {
    name: 'live',
    facet: 'live',
    title: 'State',
    most: 2,
    isList: false,
    values: { true: 'Answers now', false: 'Does not answer' },
  },
  {
    name: 'verification',
    facet: 'verifications',
    title: 'Publisher',
    most: 3,
    isList: true,
    values: verificationWords,
  },
  { name: 'protocol', facet: 'protocols', title: 'Protocol', most: 4, isList: true, textOf: titleOf },
  { name: 'package_type', facet: 'package_types', title: 'Package', most: 5, isList: true },
  { name: 'category', facet: 'categories', title: 'Category', most: 14, isList: false, textOf: titleOf },
  { name: 'tags', facet: 'tags', title: 'Tag', most: 8, isList: true },
  { name: 'license', facet: 'licenses', title: 'Licence', most: 6, isList: false, textOf: licenseOf },
]

/** Confidence from which an agent is said to fit: three of four such agents do. */
const surelyFits = 0.75

type RailFilter = (typeof railFilters)[number]

/** Agents that are shown where none fits with the filters. */
export const maxNearby = 3

/** What a registry has where nothing fits a search. */
interface Beside {
  /** Agents that are listed. */
  readonly listed: number
  /** What fits without the filters of the search. */
  readonly nearby: AgentPage | undefined
}

/** The page of a search. `search` holds the parameters of its address; `beside` is present where nothing fits. */
export function results(found: AgentPage, search: URLSearchParams, beside?: Beside): View {
  const query = search.get('q') ?? ''
  const inForce = [...search].filter(([name]) => name !== 'q' && name !== 'cursor' && name !== 'exact')
  const main = html`
<h1 class="skip">${words.results}</h1>
${searchField(query, inForce)}
<div id="results" class="found">
<nav class="rail" aria-label="${words.filters}">${rail(found, search)}</nav>
<div>
<div class="bar"><span id="count"><strong>${countOf(found.total)}</strong> ${words.agents(found.total)}</span><nav class="orders" aria-label="${words.order}">${orders(search)}</nav></div>
${corrections(found, search)}
${found.notice !== undefined && found.agents.length > 0 && html`<p class="note">${found.notice}</p>`}
${found.degraded !== undefined && html`<p class="note">${found.degraded}</p>`}
${found.agents.length === 0 ? empty(search, beside) : html`<div class="hits">${hits(found)}</div>`}
${pages(found, search)}
</div>
</div>`
  return { title: query === '' ? words.browse : query, main, place: 'browse' }
}

/** The orders to choose from. Without words no agent fits better than another, and the newest come first. */
function orders(search: URLSearchParams): Html[] {
  const usual = search.has('q') ? 'relevance' : 'newest'
  const sort = search.get('sort') ?? usual
  const present = sort === 'relevance' ? usual : sort
  return Object.entries(words.orders)
    .filter(([name]) => name !== 'relevance' || search.has('q'))
    .map(([name, label]) => {
      const address = addressOf(search, 'sort', name === usual ? null : name)
      return html`<a href="${address}"${name === present && html` aria-current="true"`}>${label}</a>`
    })
}

/** What the search changed in the words, with the search for the words as they are written. */
function corrections({ corrected = [] }: AgentPage, search: URLSearchParams): Html | false {
  if (corrected.length === 0) return false
  const changes = corrected.map(
    ({ from, to }, at) => html`${at > 0 && ', '}<strong>${to}</strong> ${words.instead_of} <q>${from}</q>`,
  )
  const exact = addressOf(search, 'exact', 'true')
  return html`<p class="note">${words.shown_for} ${changes}. <a href="${exact}">${words.exact}</a></p>`
}

/** Hits of one search mostly match the same terms. */
function hits({ agents }: AgentPage): Html[] {
  const marks = new Map<string, RegExp | undefined>()
  return agents.map((agent) => {
    const { terms = [] } = agent.match ?? {}
    const key = terms.join(' ')
    if (!marks.has(key)) marks.set(key, markOf(terms))
    return hit(agent, marks.get(key))
  })
}

function hit(agent: SearchHit, mark: RegExp | undefined): Html {
  const { package_name, name, description, match, confidence } = agent
  return html`<article class="hit">
<div><h2><a href="${pageOf(package_name)}" dir="auto">${shortened(name)}</a></h2><span class="mono" dir="ltr">${package_name}</span></div>
${stateOf(agent)}
${description !== '' && html`<p class="text" dir="auto">${marked(description, mark)}</p>`}
${match && html`<p class="why">${why(match, confidence)}</p>`}
</article>`
}

const fits = {
  well: html`<span>${words.fits.well}</span>\n`,
  maybe: html`<span>${words.fits.maybe}</span>\n`,
  poorly: html`<span>${words.fits.poorly}</span>\n`,
} as const

/** How well an agent fits, by the probability that it does. */
function fitOf(confidence: number): Html {
  if (confidence < fittingConfidence) return fits.poorly
  return confidence < surelyFits ? fits.maybe : fits.well
}

function why({ capability, similarity, terms }: NonNullable<SearchHit['match']>, confidence?: number): Html {
  const share = Math.round(Math.max(0, similarity ?? 0) * 100)
  return html`${confidence !== undefined && fitOf(confidence)}${capability !== null && html`<span>${words.can}<code>${capability}</code></span>`}
${similarity !== null && html`<span>${words.meaning}<svg viewBox="0 0 48 6" aria-hidden="true"><rect class="track" width="48" height="6" rx="3"/><rect class="level" width="${(share * 48) / 100}" height="6" rx="3"/></svg>${share} %</span>`}
<span>${terms.length > 0 ? `${words.matched} ${terms.join(', ')}` : words.no_word}</span>`
}

/** The words that begin like one of the terms; undefined without terms. */
function markOf(terms: readonly string[]): RegExp | undefined {
  if (terms.length === 0) return undefined
  const stems = terms.map((term) => RegExp.escape(term)).join('|')
  return new RegExp(`(?<![\\p{L}\\p{N}])((?:${stems})[\\p{L}\\p{N}]*)`, 'giu')
}

function marked(text: string, mark: RegExp | undefined): Html {
  if (!mark) return html`${text}`
  const parts = text.split(mark)
  return html`${parts.map((part, index) => (index % 2 === 1 ? html`<mark>${part}</mark>` : part))}`
}

function rail({ facets, total }: AgentPage, search: URLSearchParams): Html[] {
  if (!facets) return []
  return railFilters.map((filter) => {
    const { name, facet, title, most } = filter
    const current = search.get(name)
    const chosen = current === null ? [] : current.split(',')
    const all = Object.entries(facets[facet])
    const rest = chosen.length > 0 ? all.slice(most).filter(([value]) => chosen.includes(value)) : []
    const counts = [...all.slice(0, most), ...rest]
    // A value that all agents have narrows nothing.
    const isIdle = counts.length === 1 && counts[0]?.[1] === total
    if (counts.length === 0 || (isIdle && current === null)) return html``
    const without = addressOf(search, name, null)
    const isAny = current === null && html` aria-current="true"`
    const any = html`<li><a href="${without}"${isAny}>${words.any}</a></li>`
    return html`<h2>${title}</h2>
<ul>${any}${counts.map(([value, count]) => choice(filter, value, count, chosen, without))}</ul>`
  })
}

/** A value of a filter: its link chooses it, beside those that are chosen if the filter takes several, or lifts it. */
function choice(
  { name, isList, values, textOf }: RailFilter,
  value: string,
  count: number,
  chosen: readonly string[],
  without: string,
): Html {
  const isCurrent = chosen.includes(value)
  const others = isList && chosen.length > 0 ? chosen.filter((each) => each !== value) : []
  const next = isCurrent ? others : [...others, value]
  const sign = without.includes('?') ? '&' : '?'
  const address =
    next.length === 0 ? without : `${without}${sign}${name}=${next.map(encodeURIComponent).join(',')}`
  const current = isCurrent && html` aria-current="true"`
  return html`<li><a href="${address}"${current}>${values?.[value] ?? textOf?.(value) ?? value} <span class="count">${countOf(count)}</span></a></li>`
}

function addressOf(search: URLSearchParams, name: string, value: string | null): string {
  const next = new URLSearchParams(search)
  next.delete('cursor')
  next.delete(name)
  if (value !== null) next.set(name, value)
  return next.size === 0 ? '/search' : `/search?${next}`
}

/** What to do where nothing fits: lift a filter, or all of them, or say it in other words. */
function empty(search: URLSearchParams, { listed, nearby }: Partial<Beside> = {}): Html {
  const query = search.get('q') ?? ''
  const isFiltered = [...search.keys()].some((name) => !['q', 'cursor', 'exact', 'sort'].includes(name))
  const path = isFiltered ? `/search?q=${encodeURIComponent(query)}` : '/search'
  const inForce = railFilters.filter(({ name }) => search.has(name))
  const lifts =
    inForce.length > 1 &&
    html`<div class="chips">${inForce.map(({ name, title }) => html`<a class="chip" href="${addressOf(search, name, null)}">${words.lift(title)}</a>`)}</div>`
  const tries = !isFiltered && tryOut(listed, query)
  return html`<div class="empty"><h2>${words.nothing}</h2><p>${words.other}</p>${lifts}${tries}<a class="button" href="${path}">${isFiltered ? words.fewer : words.all}</a>${howToFill(listed)}</div>
${nearby !== undefined && nearby.total > 0 && html`<p class="bar">${words.without(nearby.total)}</p><div class="hits">${hits(nearby)}</div>`}`
}

function pages({ next_cursor }: AgentPage, search: URLSearchParams): Html | false {
  const isLater = search.has('cursor')
  if (next_cursor === null && !isLater) return false
  return html`<p class="pages">${isLater && html`<a class="button" href="${addressOf(search, 'cursor', null)}">${words.first}</a> `}${next_cursor !== null && html`<a class="button" rel="next" href="${addressOf(search, 'cursor', next_cursor)}">${words.next}</a>`}</p>`
}

import type { Callable } from '../../../../schemas/callable.ts'
import type { Found } from '../../../../schemas/card.ts'
import type { SearchOutput } from '../../../../schemas/search.ts'
import { type Html, html } from '../html.ts'
import { pageOf, searchField, stateOf } from './parts.ts'
import type { View } from './view.ts'
import { callableWords, countOf, railFilters, titleOf, words } from './words.ts'

/** Values of one filter that are shown at first. */
const maxValues = 14

type FilterName = (typeof railFilters)[number]['name']

/** The page of a search. `search` holds the parameters of its address. */
export function results(found: SearchOutput, search: URLSearchParams): View {
  const query = search.get('q') ?? ''
  const inForce = [...search].filter(([name]) => name !== 'q' && name !== 'cursor')
  const main = html`
<h1 class="skip">${words.results}</h1>
${searchField(query, inForce)}
<div id="results" class="found">
<nav class="rail" aria-label="${words.filters}">${rail(found, search)}</nav>
<div>
<div class="bar"><span role="status"><strong>${countOf(found.total)}</strong> ${words.agents(found.total)}</span><span>${search.get('sort') === 'newest' ? words.newest_first : query === '' ? '' : words.best_first}</span></div>
${found.notice !== undefined && found.agents.length > 0 && html`<p class="note">${found.notice}</p>`}
${found.agents.length === 0 ? empty(query, inForce.length > 0) : html`<div class="hits">${hits(found)}</div>`}
${pages(found, search)}
</div>
</div>`
  return { title: query === '' ? words.browse : query, main, place: 'browse' }
}

/** Hits of one search mostly match the same terms. */
function hits({ agents }: SearchOutput): Html[] {
  const marks = new Map<string, RegExp | undefined>()
  return agents.map((agent) => {
    const { terms = [] } = agent.match ?? {}
    const key = terms.join(' ')
    if (!marks.has(key)) marks.set(key, markOf(terms))
    return hit(agent, marks.get(key))
  })
}

function hit(agent: Found, mark: RegExp | undefined): Html {
  const { package_name, name, description, match } = agent
  return html`<article class="hit">
<div><h2><a href="${pageOf(package_name)}">${name}</a></h2><span class="mono" dir="ltr">${package_name}</span></div>
${stateOf(agent)}
<p class="text">${marked(description, mark)}</p>
${match && html`<p class="why">${why(match)}</p>`}
</article>`
}

function why({ capability, similarity, terms }: NonNullable<Found['match']>): Html {
  const share = Math.round(Math.max(0, similarity ?? 0) * 100)
  return html`${capability !== null && html`<span>${words.can}<code>${capability}</code></span>`}
${similarity !== null && html`<span>${words.meaning}<svg viewBox="0 0 48 6" aria-hidden="true"><rect class="track" width="48" height="6" rx="3"/><rect class="level" width="${(share * 48) / 100}" height="6" rx="3"/></svg>${share} %</span>`}
<span>${terms.length > 0 ? `${words.matched} ${terms.join(', ')}` : words.no_word}</span>`
}

/** The words that begin like one of the terms; undefined without terms. */
function markOf(terms: readonly string[]): RegExp | undefined {
  if (terms.length === 0) return undefined
  const stems = terms.map((term) => RegExp.escape(term)).join('|')
  return new RegExp(`(?<![\\p{L}\\p{N}])((?:${stems})[\\p{L}\\p{N}]*)`, 'giu')
}

function marked(text: string, mark: RegExp | undefined): Html | Html[] {
  if (!mark) return html`${text}`
  return text.split(mark).map((part, index) => (index % 2 === 1 ? html`<mark>${part}</mark>` : html`${part}`))
}

function rail({ facets }: SearchOutput, search: URLSearchParams): Html[] {
  if (!facets) return []
  return railFilters.map(({ name, facet, title }) => {
    const counts = Object.entries(facets[facet]).slice(0, maxValues)
    const current = search.get(name)
    if (counts.length === 0 || (counts.length === 1 && current === null)) return html``
    const without = addressOf(search, name, null)
    const isAny = current === null && html` aria-current="true"`
    const any = html`<li><a href="${without}"${isAny}>${words.any}</a></li>`
    const chosen = (current ?? '').split(',')
    const choices = counts.map(([value, count]) =>
      choice(name, value, count, chosen.includes(value), without),
    )
    return html`<h2>${title}</h2>
<ul>${any}${choices}</ul>`
  })
}

/** A value of a filter; the link of the value in force lifts the filter. */
function choice(name: FilterName, value: string, count: number, isCurrent: boolean, without: string): Html {
  const text = name === 'callable' ? callableWords[value as Callable] : titleOf(value)
  const sign = without.includes('?') ? '&' : '?'
  const address = isCurrent ? without : `${without}${sign}${name}=${encodeURIComponent(value)}`
  const current = isCurrent && html` aria-current="true"`
  return html`<li><a href="${address}"${current}>${text} <span class="count">${countOf(count)}</span></a></li>`
}

function addressOf(search: URLSearchParams, name: string, value: string | null): string {
  const next = new URLSearchParams(search)
  next.delete('cursor')
  next.delete(name)
  if (value !== null) next.set(name, value)
  return next.size === 0 ? '/search' : `/search?${next}`
}

function empty(query: string, isFiltered: boolean): Html {
  const path = isFiltered ? `/search?q=${encodeURIComponent(query)}` : '/search'
  return html`<div class="empty"><h2>${words.nothing}</h2><p>${words.other}</p><a class="button" href="${path}">${isFiltered ? words.fewer : words.all}</a></div>`
}

function pages({ next_cursor }: SearchOutput, search: URLSearchParams): Html | false {
  const isLater = search.has('cursor')
  if (next_cursor === null && !isLater) return false
  return html`<p class="pages">${isLater && html`<a class="button" href="${addressOf(search, 'cursor', null)}">${words.first}</a> `}${next_cursor !== null && html`<a class="button" rel="next" href="${addressOf(search, 'cursor', next_cursor)}">${words.next}</a>`}</p>`
}

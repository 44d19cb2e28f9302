import { type Html, html } from '../../html.ts'
import { countOf } from '../formats.ts'
import { searchField } from '../parts.ts'
import type { View } from '../view.ts'
import { words } from '../words.ts'
import type { Doc } from './library.ts'
import type { DocHit } from './search.ts'

/** An address and its text. */
export type Link = readonly [string, string]

interface Guide {
  readonly path: string
  readonly title: string
  readonly description: string
  /** The pages above this one, below the index. */
  readonly above: readonly Link[]
  /** The sections of the page. */
  readonly links: readonly Link[]
  readonly body: Html
}

/** A text to read, with its sections beside it where there is room. */
export function guideView({ path, title, description, above, links, body }: Guide): View {
  const toc =
    links.length > 1 &&
    html`<nav class="toc" aria-label="${words.docs.on_page}"><h2>${words.docs.on_page}</h2><ul>${links.map(([path, text]) => html`<li><a href="${path}">${text}</a></li>`)}</ul></nav>`
  const crumbs =
    path !== '/docs' &&
    html`<nav class="crumbs" aria-label="${words.docs.title}"><a href="/docs">${words.docs.title}</a>${above.map(([path, text]) => html` / <a href="${path}">${text}</a>`)}</nav>`
  const main = html`${docsField('')}
<div class="guide">
<article class="prose">
${crumbs}
${body}
</article>
${toc}
</div>`
  return { title, description, main, place: 'docs' }
}

/** One guide. */
export function docView({ name, path, title, body, headings, sections }: Doc): View {
  const [folder, rest] = name.split('/', 2)
  return guideView({
    path,
    title: name === 'README' ? words.docs.title : title,
    description: (sections[0]?.text ?? words.docs.lead).trim().slice(0, 200),
    above:
      rest === undefined ? [] : [[`/docs/${folder}`, words.docs.folders[folder as 'decisions'] ?? folder]],
    links: headings.filter(({ level }) => level === 2).map(({ id, text }) => [`#${id}`, text]),
    body,
  })
}

/** The guides of a folder. */
export function folderView(folder: string, docs: readonly Doc[]): View {
  const title = words.docs.folders[folder as 'decisions'] ?? folder
  const items = docs.map((doc) => html`<li><a href="${doc.path}">${doc.title}</a></li>`)
  const body = html`<h1>${title}</h1>\n<ul>${items}</ul>`
  const path = `/docs/${folder}`
  return guideView({ path, title, description: words.docs.lead, above: [], links: [], body })
}

/** What a search of the guides found. */
export function foundView(query: string, hits: readonly DocHit[]): View {
  const list = hits.map(
    ({ title, heading, path, excerpt }) => html`<article class="hit">
<h2><a href="${path}">${heading}</a></h2>${heading !== title && html`<span class="mono">${title}</span>`}
<p class="text">${excerpt.map((part, at) => (at % 2 === 1 ? html`<mark>${part}</mark>` : part))}</p>
</article>`,
  )
  const none = html`<div class="empty"><h2>${words.docs.none}</h2><a class="button" href="/docs">${words.docs.all}</a></div>`
  const main = html`<h1 class="skip">${words.docs.title}</h1>
${docsField(query)}
<div id="results" class="matches">
<div class="bar"><span id="count"><strong>${countOf(hits.length)}</strong> ${words.docs.found(hits.length)}</span></div>
${hits.length === 0 ? none : html`<div class="hits">${list}</div>`}
</div>`
  return { title: query, description: words.docs.lead, main, place: 'docs' }
}

function docsField(query: string): Html {
  return searchField(query, [], { path: '/docs', label: words.docs.ask })
}

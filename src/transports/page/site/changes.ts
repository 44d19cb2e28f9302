import type { ChangePage, RegistryChange } from '../../../../schemas/change.ts'
import { withoutHidden } from '../../../../schemas/text.ts'
import { type Html, html } from '../html.ts'
import { pageOf, shortened, timeOf } from './parts.ts'
import type { View, Visit } from './view.ts'
import { changeWords as labels, livenessWords, words } from './words.ts'

/** Revisions of one page, which the action allows. */
const perPage = 100
/** Texts of a publisher in one line. */
const maxText = 200

/** Some changes, the newest first, and the revisions that they are of. */
export interface RecentChanges {
  readonly changes: readonly RegistryChange[]
  /** The last revision before them; 0 if they begin with the first. */
  readonly since: number
  readonly revision: number
}

/** The changes up to a revision; the newest ones when absent. */
export async function readChanges(ask: Visit['ask'], upTo?: number): Promise<RecentChanges> {
  const { revision } = await ask<ChangePage>('watch_changes', { limit: 1 })
  const last = Math.min(upTo ?? revision, revision)
  const since = Math.max(0, last - perPage)
  const limit = Math.max(1, last - since)
  const { changes } = await ask<ChangePage>('watch_changes', { since, limit })
  return { changes: changes.toReversed(), since, revision }
}

/** What was listed, changed and removed. */
export function changesPage({ changes, since, revision }: RecentChanges, isLater: boolean): View {
  const main = html`<div class="plain"><h1>${labels.title}</h1><p class="lead">${labels.lead}</p><p class="hint"><a href="/changes.atom">${labels.feed}</a> · r${revision}</p>
${changes.length === 0 ? html`<p>${labels.none}</p>` : html`<ol class="log" reversed>${changes.map(changeOf)}</ol>`}
<p class="pages">${isLater && html`<a class="button" href="/changes">${labels.newest}</a> `}${since > 0 && html`<a class="button" rel="next" href="/changes?up_to=${since}">${labels.older}</a>`}</p></div>`
  return { title: labels.title, description: labels.lead, main }
}

function changeOf(change: RegistryChange): Html {
  const { package_name, at, kind } = change
  const isHere = kind === 'listed' || kind === 'liveness'
  const name = html`<bdi>${nameOf(change)}</bdi>`
  const text = kind === 'listed' && change.agent.description.slice(0, maxText)
  return html`<li>${isHere ? html`<a href="${pageOf(package_name)}"><strong>${name}</strong></a>` : html`<strong>${name}</strong>`} <span class="count">${whatOf(change)}, ${timeOf(at)}</span>${text && html`<p class="hint" dir="auto">${withoutHidden(text)}</p>`}</li>`
}

function nameOf(change: RegistryChange): string {
  return change.kind === 'listed' ? shortened(change.agent.name) : change.package_name
}

function whatOf(change: RegistryChange): string {
  if (change.kind === 'liveness') return livenessWords[change.liveness.status].toLowerCase()
  return labels[change.kind]
}

/** The same changes as a feed (RFC 4287). */
export function atomOf({ changes }: RecentChanges, base: string): string {
  const updated = changes[0]?.at ?? '1970-01-01T00:00:00.000Z'
  const entries = changes.map((change) => {
    const { revision, at, package_name, kind } = change
    const summary = kind === 'listed' ? change.agent.description.slice(0, maxText) : package_name
    return html`<entry><id>${base}/changes#r${revision}</id><title>${nameOf(change)}: ${whatOf(change)}</title><updated>${at}</updated><link href="${base}${pageOf(package_name)}"/><summary>${withoutHidden(summary)}</summary></entry>
`
  })
  return `<?xml version="1.0" encoding="utf-8"?>
${
  html`<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"><id>${base}/changes</id><title>${words.product}: ${labels.title}</title><updated>${updated}</updated><author><name>${words.product}</name></author><link rel="self" href="${base}/changes.atom"/><link href="${base}/changes"/>
${entries}</feed>
`.html
}`
}

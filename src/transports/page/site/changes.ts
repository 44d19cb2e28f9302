import type { ChangePage, RegistryChange } from '../../../../schemas/change.ts'
import { Failure } from '../../../../schemas/failure.ts'
import { withoutHidden } from '../../../../schemas/text.ts'
import type { VersionPage } from '../../../../schemas/version.ts'
import { type Html, html } from '../html.ts'
import { changedBy, type ListedVersion, versionList, nameOf as versionNameOf } from './agent/versions.ts'
import { pageOf, shortened, timeOf } from './parts.ts'
import type { View, Visit } from './view.ts'
import { agentWords, changeWords as labels, livenessWords, words } from './words.ts'

/** Revisions of one page, which the action allows. */
const perPage = 100
/** Texts of a publisher in one line. */
const maxText = 200

/** Some changes, the newest first, and the revisions that they are of. */
interface RecentChanges {
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

/** What became of one agent: its last changes in the feed, and its last versions. */
interface AgentChanges {
  readonly agent: string
  readonly changes: readonly RegistryChange[]
  readonly versions: readonly ListedVersion[]
}

const maxVersions = 20

/** Throws Failure `not_found` for an agent that is not and was not listed. */
export async function readAgentChanges(ask: Visit['ask'], agent: string): Promise<AgentChanges> {
  const { changes } = await ask<ChangePage>('watch_changes', { agent })
  const params = { agent, limit: maxVersions, changes: true }
  const versions = await ask<VersionPage>('list_versions', params).catch((thrown) => {
    // An agent that is listed no more has changes, and no versions.
    if (changes.length === 0 || !(thrown instanceof Failure)) throw thrown
    return { versions: [] }
  })
  return { agent, changes: changes.toReversed(), ...versions }
}

/** The changes of one agent. */
export function agentChangesPage({ agent, changes, versions }: AgentChanges): View {
  const feed = `/changes.atom?agent=${encodeURIComponent(agent)}`
  const main = html`<div class="plain"><nav class="crumbs" aria-label="${agentWords.back}"><a href="${pageOf(agent)}"><span dir="ltr">${agent}</span></a></nav><h1>${labels.title}</h1><p class="hint"><a href="${feed}">${labels.feed}</a></p>
<ol class="log" reversed>${changes.map(changeOf)}</ol>
${versions.length > 0 && html`<h2 class="title">${agentWords.versions}</h2>${versionList(agent, versions)}`}
<p class="pages"><a class="button" href="/changes">${labels.all}</a></p></div>`
  return { title: `${labels.title}: ${agent}`, description: labels.lead, main }
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
export function atomOf({ changes }: Pick<RecentChanges, 'changes'>, base: string): string {
  return feedOf(base, '/changes', labels.title, changes.map(entryOf))
}

/** The changes and the versions of one agent as a feed, the newest first. */
export function agentAtomOf({ agent, changes, versions }: AgentChanges, base: string): string {
  const published = versions.map((version) => ({
    id: `${pageOf(agent)}/versions#r${version.revision}`,
    title: `${agent} ${versionNameOf(version)}: ${changedBy(version)}`,
    at: version.published_at,
    page: `${pageOf(agent)}/versions`,
    summary: changedBy(version),
  }))
  const all = [...changes.map(entryOf), ...published].sort((left, right) => (left.at < right.at ? 1 : -1))
  return feedOf(base, `/changes?agent=${encodeURIComponent(agent)}`, `${labels.title}: ${agent}`, all)
}

interface FeedEntry {
  readonly id: string
  readonly title: string
  readonly at: string
  readonly page: string
  readonly summary: string
}

function entryOf(change: RegistryChange): FeedEntry {
  const { revision, at, package_name, kind } = change
  return {
    id: `/changes#r${revision}`,
    title: `${nameOf(change)}: ${whatOf(change)}`,
    at,
    page: pageOf(package_name),
    summary: kind === 'listed' ? change.agent.description.slice(0, maxText) : package_name,
  }
}

function feedOf(base: string, path: string, title: string, entries: readonly FeedEntry[]): string {
  const updated = entries[0]?.at ?? '1970-01-01T00:00:00.000Z'
  const written = entries.map(
    ({ id, title: about, at, page, summary }) =>
      html`<entry><id>${base}${id}</id><title>${about}</title><updated>${at}</updated><link href="${base}${page}"/><summary>${withoutHidden(summary)}</summary></entry>
`,
  )
  const self = path.replace('/changes', '/changes.atom')
  return `<?xml version="1.0" encoding="utf-8"?>
${
  html`<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"><id>${base}${path}</id><title>${words.product}: ${title}</title><updated>${updated}</updated><author><name>${words.product}</name></author><link rel="self" href="${base}${self}"/><link href="${base}${path}"/>
${written}</feed>
`.html
}`
}

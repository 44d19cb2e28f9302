import type { EntryDetail } from '../../../../schemas/card.ts'
import type { Capability } from '../../../../schemas/entry-parts.ts'
import type { HostInstall, InstallConfig, InstallTarget } from '../../../../schemas/install.ts'
import { testTag } from '../../../../schemas/names.ts'
import { type Html, html } from '../html.ts'
import { callForm, inputOf } from './form.ts'
import { stateOf } from './parts.ts'
import type { View } from './view.ts'
import { titleOf, verificationWords, words } from './words.ts'

/** Capabilities that are drawn. */
const maxDrawn = 60
/** Tags that are shown. */
const maxTags = 12
/** Hosts that have a button for their link. */
const linked = new Set(['vscode', 'cursor'])

/** The page of one agent. Without `install`, nothing says how a host uses it. */
export function agentPage(entry: EntryDetail, install: InstallConfig | undefined): View {
  const { name, package_name, version, description, category, tags, verification_level } = entry
  const main = html`
<div class="entry">
<div class="intro">
<nav class="crumbs" aria-label="${words.browse}"><a href="/search">${words.browse}</a>${category !== null && html` / <a href="/search?category=${encodeURIComponent(category)}">${titleOf(category)}</a>`}</nav>
<h1>${name}</h1>
<p><span class="name mono" dir="ltr">${package_name}</span> <span class="count">${version ?? ''}</span></p>
<p class="lead">${description}</p>
<div class="chips"><span class="chip">${stateOf(entry)}</span><span class="chip">${verificationWords[verification_level]}</span>${tags.slice(0, maxTags).map((tag) => html`<a class="chip" href="/search?tags=${encodeURIComponent(tag)}">${tag}</a>`)}</div>
<p class="hint">${entry.callable_reason}</p>
</div>
${install !== undefined && html`<div class="use">${useIt(install)}</div>`}
<div class="able-list">${capabilities(entry)}</div>
<div class="known">${facts(entry)}</div>
</div>`
  return { title: name, description: description.slice(0, 200), main }
}

function capabilities(entry: EntryDetail): Html {
  const { capabilities: all } = entry
  return html`<h2 class="title">${words.capabilities(all.length)}</h2>
${all.length === 0 && html`<p class="hint">${words.read_later}</p>`}
${all.slice(0, maxDrawn).map((capability, place) => able(entry, capability, place))}`
}

function able(entry: EntryDetail, capability: Capability, place: number): Html {
  const isOpen = entry.capabilities.length === 1
  const { name, description } = capability
  const body = isOpenToTry(entry) ? callForm(entry.package_name, capability, place) : inputOf(capability)
  return html`<details class="able"${isOpen && html` open`}><summary><code>${name}</code><span>${description}</span></summary>
<div class="body">${body}</div></details>`
}

/** Playground sessions of callers without a token may call these (docs/playground.md). */
export function isOpenToTry({ callable, tags }: Pick<EntryDetail, 'callable' | 'tags'>): boolean {
  return callable === 'hosted' && tags.includes(testTag)
}

/** How each host uses an agent: the links that open hosts, and what to paste or to run. */
export function useIt({ targets }: InstallConfig): Html {
  return html`<section class="card"><h2>${words.use}</h2>
${targets.map((target, index) => targetOf(target, index, targets.length > 1))}</section>`
}

function targetOf({ title, hosts, notes, needs }: InstallTarget, place: number, hasTitle: boolean): Html {
  const usable = hosts.filter(({ reason }) => reason === null)
  const buttons = usable.filter(({ host, link }) => linked.has(host) && link !== null)
  return html`${hasTitle && html`<h3 class="hint">${title}</h3>`}
<div class="pair">${buttons.map(({ link, title: host }) => html`<a class="button" href="${link ?? ''}" rel="nofollow">${host}</a>`)}</div>
${usable.map((host) => hostOf(host, place))}
${needs.length > 0 && html`<p class="hint">${needs.map(({ variable, description }) => `${variable}: ${description}`).join(' ')}</p>`}
${notes.map((note) => html`<p class="hint">${note}</p>`)}`
}

function hostOf({ host, title, command, text, note, files }: HostInstall, place: number): Html {
  const id = `use-${place}-${host}`
  const file = command === null && files[0] ? files[0].path : undefined
  return html`<details name="use-${place}"><summary>${title}</summary>
${file !== undefined && html`<p class="hint"><code>${file}</code></p>`}
<div class="copy"><pre id="${id}" tabindex="0">${command ?? text ?? ''}</pre><button class="button small" type="button" data-copy="${id}" data-done="${words.copied}" hidden>${words.copy}</button></div>
${note !== null && html`<p class="hint">${note}</p>`}</details>`
}

function facts(entry: EntryDetail): Html {
  const {
    verification_level,
    verified_domain,
    signature,
    version,
    license,
    source_url,
    created_at,
    updated_at,
  } = entry
  const rows: readonly (readonly [string, Html | string | null | undefined])[] = [
    [words.liveness, stateOf(entry)],
    [words.trust, verified_domain ?? verificationWords[verification_level]],
    [words.signature, signature],
    [words.version, version],
    [words.license, license],
    [words.source, source_url === null ? null : outside(source_url)],
    [words.listed_at, created_at.slice(0, 10)],
    [words.changed_at, updated_at.slice(0, 10)],
    [words.document, html`<a href="/public/agents/${encodeURIComponent(entry.package_name)}">JSON</a>`],
  ]
  return html`<section class="card"><h2>${words.facts}</h2><dl class="facts">${rows.map(([term, value]) => (value === null || value === undefined ? html`` : html`<div><dt>${term}</dt><dd>${value}</dd></div>`))}</dl></section>`
}

/** A link to a page of the publisher; text where it is no web address. */
function outside(address: string): Html {
  const url = URL.parse(address)
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return html`${address}`
  return html`<a href="${url.href}" rel="nofollow noopener ugc">${url.host}</a>`
}

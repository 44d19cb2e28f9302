import { actionsOf } from '../../../../../schemas/brief.ts'
import { calledEndpoint, isHosted } from '../../../../../schemas/callable.ts'
import type { EntryDetail } from '../../../../../schemas/card.ts'
import type { Capability } from '../../../../../schemas/entry-parts.ts'
import type { HostInstall, InstallConfig, InstallTarget } from '../../../../../schemas/install.ts'
import type { LivenessHistory } from '../../../../../schemas/liveness.ts'
import { testTag } from '../../../../../schemas/names.ts'
import { withoutHidden } from '../../../../../schemas/text.ts'
import type { VersionPage } from '../../../../../schemas/version.ts'
import { type Html, html } from '../../html.ts'
import { titleOf } from '../formats.ts'
import { hintText } from '../hint.ts'
import { isOwn, managePath } from '../me/agents.ts'
import { copyable, copyButton, outside, pageOf, shortened, stateOf } from '../parts.ts'
import type { View } from '../view.ts'
import { agentWords as labels, verificationWords, words } from '../words.ts'
import { tileOf } from './badge.ts'
import { livenessOf, noticesOf, trustOf } from './evidence.ts'
import { callForm, inputOf, plainForm } from './form.ts'
import { samplesOf } from './samples.ts'
import { versionList } from './versions.ts'

/** Capabilities that are drawn. */
const maxDrawn = 60
/** Tags that are shown. */
const maxTags = 12
/** Hosts that have a button for their link. */
const linked = new Set(['vscode', 'cursor'])
/** Hosts that are shown at first. */
const common = new Set(['claude-code', 'claude-desktop', 'codex', 'gemini-cli'])

/** What the page of one agent shows. Without `install`, nothing says how a host uses it. */
interface AgentFacts {
  readonly entry: EntryDetail
  readonly install: InstallConfig | undefined
  readonly history: LivenessHistory
  readonly versions: VersionPage
  /** The address of this gateway. */
  readonly base: string
  /** The capability that the reader chose for the samples of code. */
  readonly chosen: string | undefined
  /** The token of the visitor's forms; empty for a visitor who is not signed in. */
  readonly token: string
}

/** The page of one agent. */
export function agentPage({
  entry: stated,
  install,
  history,
  versions,
  base,
  chosen,
  token,
}: AgentFacts): View {
  // A skill of A2A states no input: it takes a message.
  const entry = {
    ...stated,
    capabilities: [...actionsOf(stated.capabilities, calledEndpoint(stated)?.protocol)],
  }
  const { package_name, version, category, tags, verification_level } = entry
  const [name, description] = [shortened(entry.name), withoutHidden(entry.description)]
  const main = html`
<div class="entry">
<div class="intro">
<nav class="crumbs" aria-label="${words.browse}"><a href="/search">${words.browse}</a>${category !== null && html` / <a href="/search?category=${encodeURIComponent(category)}">${titleOf(category)}</a>`}</nav>
<div class="titled">${iconOf(entry)}<h1 dir="auto">${name}</h1></div>
<p><span class="name mono" dir="ltr">${package_name}</span> <span class="count">${version ?? ''}</span></p>
${description !== '' && html`<p class="lead" dir="auto">${description}</p>`}
<div class="chips"><span class="chip">${stateOf(entry)}</span><span class="chip">${verificationWords[verification_level]}</span>${tags.slice(0, maxTags).map((tag) => html`<a class="chip" href="/search?tags=${encodeURIComponent(tag)}">${tag}</a>`)}</div>
<p class="hint">${hintText(entry.callable_reason)}</p>
${noticesOf(entry)}
${isOwn(entry) && html`<p><a class="button small" href="${managePath(package_name)}">${labels.manage}</a></p>`}
</div>
${install !== undefined && html`<div class="use" id="use">${useIt(install)}</div>`}
<div class="able-list">${capabilities(entry, token)}${asCode(entry, base, chosen)}${readmeOf(entry)}${isProbed(entry, history) && livenessOf(entry, history)}${recent(package_name, versions)}</div>
<div class="known">${trustOf(entry)}${facts(entry)}${badge(package_name, base)}</div>
</div>`
  return {
    title: name,
    ...(description !== '' && { description: description.slice(0, 200) }),
    main,
    place: 'browse',
    script: 'call',
    head: head(entry, base),
  }
}

function capabilities(entry: EntryDetail, token: string): Html {
  const { capabilities: all } = entry
  const left = all.length - maxDrawn
  const signInFirst = token === '' && entry.callable !== 'no' && !isOpenToTry(entry)
  return html`<h2 class="title">${words.capabilities(all.length)}</h2>
${signInFirst && html`<p><a class="button small" href="/sign-in?then=${encodeURIComponent(pageOf(entry.package_name))}">${words.answer.to_call}</a></p>`}
${all.length === 0 && html`<p class="hint">${words.read_later}</p>${token !== '' && entry.callable !== 'no' && plainForm(entry.package_name, token)}`}
${all.slice(0, maxDrawn).map((capability, place) => able(entry, capability, place, token))}
${left > 0 && html`<p class="hint">${labels.more_capabilities(left)}</p>`}`
}

const calls = new Set(['hosted', 'open', 'needs_key', 'needs_sign_in'])

function able(entry: EntryDetail, capability: Capability, place: number, token: string): Html {
  const isOpen = place === 0 && (calls.has(entry.callable) || entry.capabilities.length === 1)
  const { name, description } = capability
  const canCall = isOpenToTry(entry) || (token !== '' && entry.callable !== 'no')
  const body = canCall ? callForm(entry.package_name, capability, place, token) : inputOf(capability)
  const code = `${pageOf(entry.package_name)}?capability=${encodeURIComponent(name)}#code`
  return html`<details class="able"${isOpen && html` open`}><summary><code dir="ltr">${name}</code> <span dir="auto">${withoutHidden(description)}</span></summary>
<div class="body">${body}${calls.has(entry.callable) && entry.capabilities.length > 1 && html`<p class="hint"><a href="${code}">${labels.as_code_of}</a></p>`}</div></details>`
}

/** Playground sessions of callers without a token may call these (docs/playground.md). */
export function isOpenToTry({ callable, tags }: Pick<EntryDetail, 'callable' | 'tags'>): boolean {
  return callable === 'hosted' && tags.includes(testTag)
}

/** The publisher's own picture, or the first letter of the name. */
function iconOf({ icon_url, package_name, name }: EntryDetail): Html {
  if (icon_url === null) return tileOf(package_name, name)
  const picture = `/icon/${encodeURIComponent(package_name)}.png`
  return html`<img class="tile" src="${picture}" alt="" width="48" height="48">`
}

/** The README, which is read when somebody opens it. */
function readmeOf({ readme_url, package_name }: EntryDetail): Html {
  if (readme_url === null) return html``
  const page = `${pageOf(package_name)}/readme`
  return html`<details class="able" data-load="${page}"><summary>${labels.readme} <span>${labels.readme_of}</span></summary><div class="body"><p><a href="${page}" rel="nofollow">${labels.readme_read}</a></p></div></details>`
}

/** One call in each language, in tabs that need no script. */
function asCode(
  { package_name, capabilities: all, callable }: EntryDetail,
  base: string,
  chosen?: string,
): Html {
  const capability = all.find(({ name }) => name === chosen) ?? all[0]
  if (!capability || !calls.has(callable)) return html``
  const samples = samplesOf(base, package_name, capability)
  return html`<section id="code"><h2 class="title">${labels.as_code}</h2><p class="hint"><code dir="ltr">${capability.name}</code></p>
<div class="demo code"><div class="tabs" role="radiogroup" aria-label="${labels.as_code}">${samples.map(({ id, label }, index) => html`<label><input type="radio" name="say" id="say-${id}"${index === 0 && html` checked`}>${label}</label>`)}</div>
${samples.map(({ id, label, text }) => html`<div class="copy say-${id}"><pre id="code-${id}" tabindex="0" role="group" aria-label="${label}">${text}</pre>${copyButton(`code-${id}`)}</div>`)}</div>
<p class="hint">${labels.code_hint} ${labels.mcp_hint} <code>${base}/mcp</code>.</p></section>`
}

/** What is hosted here answers, and what runs elsewhere is not probed. */
function isProbed(entry: EntryDetail, { days }: LivenessHistory): boolean {
  return !isHosted(entry) && (days.length > 0 || entry.liveness.status !== 'unknown')
}

/** How each host uses an agent: the links that open hosts, and what to paste or to run. */
export function useIt({ targets }: InstallConfig): Html {
  return html`<section class="card"><h2>${words.use}</h2>
${targets.map((target, index) => (index === 0 ? targetOf(target, index, targets.length > 1) : html`<details><summary>${shortened(target.title)}</summary>${targetOf(target, index, false)}</details>`))}</section>`
}

function targetOf({ title, hosts, notes, needs }: InstallTarget, place: number, hasTitle: boolean): Html {
  const usable = hosts.filter(({ reason }) => reason === null)
  const more = usable.filter(({ host }) => !common.has(host))
  const buttons = usable.filter(({ host, link }) => linked.has(host) && link !== null)
  return html`${hasTitle && html`<h3 class="hint">${shortened(title)}</h3>`}
<div class="pair">${buttons.map(({ link, title: host }) => html`<a class="button" href="${link ?? ''}" rel="nofollow">${host}</a>`)}</div>
${usable.filter(({ host }) => common.has(host)).map((host) => hostOf(host, place))}
${more.length > 0 && html`<details><summary>${labels.more_hosts}</summary>${more.map((host) => hostOf(host, place))}</details>`}
${needs.length > 0 && html`<p class="hint">${needs.map(({ variable, description }) => `${variable}: ${description}`).join(' ')}</p>`}
${notes.map((note) => html`<p class="hint">${note}</p>`)}`
}

/** A host, with a button that copies what it needs without opening it. */
function hostOf({ host, title, command, text, note, files }: HostInstall, place: number): Html {
  const id = `use-${place}-${host}`
  const file = command === null && files[0] ? files[0].path : undefined
  return html`<div class="copy host"><details name="use-${place}"><summary>${title}</summary>
${file !== undefined && html`<p class="hint"><code>${file}</code></p>`}
<pre id="${id}" tabindex="0">${command ?? text ?? ''}</pre>
${note !== null && html`<p class="hint">${note}</p>`}</details>${copyButton(id, title)}</div>`
}

function recent(packageName: string, { versions, total }: VersionPage): Html {
  if (total === 0) return html``
  return html`<section><h2 class="title">${labels.versions}</h2>${versionList(packageName, versions)}
<p class="hint"><a href="${pageOf(packageName)}/versions">${labels.all_versions} (${total})</a> · <a href="/changes?agent=${encodeURIComponent(packageName)}">${labels.changes}</a></p></section>`
}

function facts(entry: EntryDetail): Html {
  const { version, license, source_url, created_at, updated_at, verified_domain, packages } = entry
  const sources = packages.map(({ registry_type, identifier }) => `${registry_type} ${identifier}`)
  const rows: readonly (readonly [string, Html | string | null | undefined])[] = [
    [words.version, version],
    [words.license, license],
    [labels.publisher, verified_domain === null ? null : outside(`https://${verified_domain}/`)],
    [words.source, source_url === null ? null : outside(source_url)],
    [labels.runs_with, [...new Set(sources)].slice(0, 5).join(', ') || null],
    [words.listed_at, created_at.slice(0, 10)],
    [words.changed_at, updated_at.slice(0, 10)],
    [words.document, html`<a href="/public/agents/${encodeURIComponent(entry.package_name)}">JSON</a>`],
  ]
  const report = `${pageOf(entry.package_name)}/report`
  return html`<section class="card"><h2>${words.facts}</h2><dl class="facts">${rows.map(([term, value]) => (value === null || value === undefined ? html`` : html`<div><dt>${term}</dt><dd>${value}</dd></div>`))}</dl><p class="hint"><a href="${report}" rel="nofollow">${labels.report}</a></p></section>`
}

function badge(packageName: string, base: string): Html {
  const picture = `/badge/${encodeURIComponent(packageName)}.svg`
  const markdown = `[![${packageName}](${base}${picture})](${base}${pageOf(packageName)})`
  return html`<details class="card badge"><summary>${labels.badge}</summary><p class="hint">${labels.badge_of}</p><p><img src="${picture}" alt="${labels.badge}" height="20" loading="lazy"></p>
${copyable('badge', markdown)}</details>`
}

/** What search engines read: the address of the page, and the agent as data. */
function head({ package_name, ...entry }: EntryDetail, base: string): Html {
  const url = `${base}${pageOf(package_name)}`
  const data = {
    '@context': 'https://schema.org',
    '@type': 'SoftwareApplication',
    name: shortened(entry.name),
    description: withoutHidden(entry.description).slice(0, 1000),
    identifier: package_name,
    url,
    applicationCategory: 'DeveloperApplication',
    operatingSystem: 'Any',
    softwareVersion: entry.version ?? undefined,
    license: entry.license ?? undefined,
    datePublished: entry.created_at,
    dateModified: entry.updated_at,
    publisher: entry.verified_domain
      ? { '@type': 'Organization', url: `https://${entry.verified_domain}/` }
      : undefined,
    keywords: entry.tags.slice(0, maxTags).join(', ') || undefined,
  }
  // A data block runs nothing; only `<` could end it.
  const text = JSON.stringify(data).replaceAll('<', '\\u003c')
  const feed = `/changes.atom?agent=${encodeURIComponent(package_name)}`
  return html`<link rel="canonical" href="${url}"><link rel="alternate" href="${feed}" type="application/atom+xml" title="${labels.changes}"><script type="application/ld+json">${{ html: text }}</script>`
}

import type { EntryDetail } from '../../../../../schemas/card.ts'
import type { Difference, VersionDiff, VersionPage } from '../../../../../schemas/version.ts'
import { type Html, html } from '../../html.ts'
import { pageOf, shortened, timeOf } from '../parts.ts'
import type { View } from '../view.ts'
import { agentWords as labels, words } from '../words.ts'

export type ListedVersion = VersionPage['versions'][number]

/** Differences that a page draws, and characters of each side. */
const maxDifferences = 100
const maxSide = 3000
/** Pairs of words that are compared for one difference; longer texts stand side by side as a whole. */
const maxPairs = 200_000

/** All versions of an agent, each with what it changed. */
export function versionsPage(entry: EntryDetail, page: VersionPage, isLater: boolean): View {
  const { package_name } = entry
  const name = shortened(entry.name)
  const here = `${pageOf(package_name)}/versions`
  const next = page.next_cursor
  const main = html`<div class="plain">${crumbsOf(entry)}<h1>${labels.versions}</h1><p class="lead">${labels.versions_of(page.total)}</p>
${versionList(package_name, page.versions)}
${page.versions.length > 1 && compareForm(here, page.versions)}
<p class="pages">${isLater && html`<a class="button" href="${here}">${words.first}</a> `}${next !== null && html`<a class="button" rel="next" href="${here}?cursor=${encodeURIComponent(next)}">${words.next}</a>`}</p></div>`
  return { title: `${labels.versions}: ${name}`, main, place: 'browse' }
}

/** Versions with their dates and the fields that each changed. */
export function versionList(packageName: string, versions: readonly ListedVersion[]): Html {
  return html`<ol class="log" reversed>${versions.map((version, index) => versionOf(packageName, version, versions[index + 1], versions))}</ol>`
}

function versionOf(
  packageName: string,
  version: ListedVersion,
  below: ListedVersion | undefined,
  all: readonly ListedVersion[],
): Html {
  const { published_at, current } = version
  const compare = below && `${pageOf(packageName)}/versions/${rangeOf(below, version, all)}`
  return html`<li><strong class="mono" dir="ltr">${nameOf(version, all)}</strong>${current && html` <span class="chip">${labels.current}</span>`} <span class="count">${timeOf(published_at)}</span>
<p class="hint">${changedBy(version)}${compare !== undefined && html` · <a href="${compare}">${labels.compare}</a>`}</p></li>`
}

/** What a version changed, in words. */
export function changedBy({ changed }: ListedVersion): string {
  if (!changed) return labels.first_version
  const fields = changed.filter((field) => field !== 'version')
  if (fields.length === 0) return labels.changed_nothing
  return `${labels.changed} ${fields.map((field) => field.replaceAll('_', ' ')).join(', ')}`
}

/** Without a script a form cannot build a path, so it sends both versions to the page of versions. */
function compareForm(here: string, versions: readonly ListedVersion[]): Html {
  const choices = (chosen: number) =>
    versions.map(
      (version, index) =>
        html`<option value="${referenceOf(version, versions)}"${index === chosen && html` selected`}>${nameOf(version, versions)}</option>`,
    )
  return html`<form class="compare" action="${here}"><label>${labels.from} <select name="from">${choices(1)}</select></label><label>${labels.to} <select name="to">${choices(0)}</select></label><button class="button">${labels.compare}</button></form>`
}

/** The path of a comparison, behind the page of versions. */
export function rangePath(from: string, to: string): string {
  return encodeURIComponent(`${from}...${to}`)
}

/** The two versions of such a path; undefined for another text. */
export function readRange(path: string): readonly [string, string] | undefined {
  const [, from, to] = /^(.+?)\.{3}(.+)$/s.exec(path) ?? []
  return from === undefined || to === undefined ? undefined : [from, to]
}

function rangeOf(from: ListedVersion, to: ListedVersion, all: readonly ListedVersion[]): string {
  return rangePath(referenceOf(from, all), referenceOf(to, all))
}

export function nameOf({ version, revision }: ListedVersion, all: readonly ListedVersion[] = []): string {
  if (version === null) return `r${revision}`
  return isShared(version, all) ? `${version} (r${revision})` : version
}

/** The version where it names this one alone and reads as no range; else the revision that published it. */
function referenceOf({ version, revision }: ListedVersion, all: readonly ListedVersion[]): string {
  const isPlain = version !== null && /^\d[\w.+-]*$/.test(version) && !version.includes('...')
  return isPlain && !isShared(version, all) ? version : `r${revision}`
}

function isShared(version: string, all: readonly ListedVersion[]): boolean {
  return all.filter((other) => other.version === version).length > 1
}

/** What differs between two versions of an agent, as signs and words beside colours. */
export function diffPage(entry: EntryDetail, { from, to, differences }: VersionDiff): View {
  const shown = differences.slice(0, maxDifferences)
  const here = `${pageOf(entry.package_name)}/versions`
  const main = html`<div class="plain">${crumbsOf(entry)}<h1>${labels.comparison}</h1>
<p class="lead"><code dir="ltr">${from}</code> → <code dir="ltr">${to}</code> <a class="count" href="${here}/${rangePath(to, from)}">${labels.swap}</a></p>
${differences.length === 0 && html`<p>${labels.same}</p>`}
${shown.map(differenceOf)}
${differences.length > shown.length && html`<p class="hint">${labels.more_differences(differences.length - shown.length)}</p>`}
<p class="pages"><a class="button" href="${here}">${labels.all_versions}</a></p></div>`
  return { title: `${from} … ${to}: ${shortened(entry.name)}`, main, place: 'browse' }
}

function differenceOf({ field, before, after }: Difference): Html {
  const [old, changed] = [wordsOf(before), wordsOf(after)]
  const [unchanged, same] = shared(old, changed)
  return html`<section class="difference"><h2 class="mono" dir="ltr">${field.slice(0, 300)}</h2>
${before !== null && html`<p class="del"><span class="sign">−<span class="skip">${labels.before}</span></span> ${runs(old, unchanged).map(([text, isKept]) => (isKept ? text : html`<del>${text}</del>`))}</p>`}
${after !== null && html`<p class="ins"><span class="sign">+<span class="skip">${labels.after}</span></span> ${runs(changed, same).map(([text, isKept]) => (isKept ? text : html`<ins>${text}</ins>`))}</p>`}</section>`
}

/** Words, each with the space before it. */
function wordsOf(value: unknown): string[] {
  const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '')
  const shown = text.length > maxSide ? `${text.slice(0, maxSide)} …` : text
  return shown.match(/\s*\S+|\s+$/g) ?? []
}

/** The places of the words that both have, in order: a longest common subsequence. */
function shared(left: readonly string[], right: readonly string[]): readonly [Set<number>, Set<number>] {
  const [unchanged, same] = [new Set<number>(), new Set<number>()]
  if (left.length * right.length > maxPairs) return [unchanged, same]
  const width = right.length + 1
  const lengths = new Uint16Array((left.length + 1) * width)
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) {
      const [down, across] = [lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0]
      const diagonal = lengths[(i + 1) * width + j + 1] ?? 0
      lengths[i * width + j] = left[i] === right[j] ? diagonal + 1 : Math.max(down, across)
    }
  }
  for (let i = 0, j = 0; i < left.length && j < right.length; ) {
    if (left[i] === right[j]) {
      unchanged.add(i++)
      same.add(j++)
    } else if ((lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0)) i++
    else j++
  }
  return [unchanged, same]
}

/** Words that stand together and are both unchanged, or both not. */
function runs(parts: readonly string[], unchanged: ReadonlySet<number>): (readonly [string, boolean])[] {
  const all: [string, boolean][] = []
  for (const [index, part] of parts.entries()) {
    const last = all.at(-1)
    if (last && last[1] === unchanged.has(index)) last[0] += part
    else all.push([part, unchanged.has(index)])
  }
  return all
}

function crumbsOf({ package_name, name }: EntryDetail): Html {
  return html`<nav class="crumbs" aria-label="${labels.path}"><a href="/search">${words.browse}</a> / <a href="${pageOf(package_name)}">${shortened(name)}</a></nav>`
}

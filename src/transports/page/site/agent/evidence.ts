import { isHosted } from '../../../../../schemas/callable.ts'
import type { EntryDetail } from '../../../../../schemas/card.ts'
import type { LivenessHistory } from '../../../../../schemas/liveness.ts'
import { dayMilliseconds } from '../../../../common/days.ts'
import { type Html, html } from '../../html.ts'
import { outside, pageOf, stateOf, table, timeOf } from '../parts.ts'
import { agentWords as labels, signatureWords, words } from '../words.ts'

/** What is known of who is behind an agent, each with its evidence and its date. */
export function trustOf(entry: EntryDetail): Html {
  const { origin, manifest, content_flags, changed_since_verified, deprecated } = entry
  const facts = [
    ownerOf(entry),
    changed_since_verified && html`<span class="bad">${labels.changed_since}</span>`,
    manifest &&
      html`${manifest.status === 'ok' ? labels.card_read : labels.card_unread}, ${timeOf(manifest.checked_at)}`,
    origin && html`${labels.mirrored} ${originOf(origin)}`,
    content_flags.length > 0 &&
      html`<span class="flagged">${labels.flags} ${content_flags.map((flag) => labels.flag[flag]).join(', ')}</span>`,
    deprecated && html`${labels.deprecated_at}, ${timeOf(deprecated.at)}`,
  ]
  return html`<section class="card"><h2>${words.trust}</h2><ul class="known-list">${facts.map((fact) => (fact ? html`<li>${fact}</li>` : html``))}</ul>${signatureOf(entry)}</section>`
}

function ownerOf(entry: EntryDetail): Html {
  const { verification_level, verification, package_name } = entry
  if (isHosted(entry)) return html`${labels.hosted}`
  if (verification_level === 'unclaimed') {
    const wizard = `/me/verify?agent=${encodeURIComponent(package_name)}`
    return html`${labels.unclaimed} <a href="${wizard}">${labels.claim}</a>`
  }
  if (verification_level === 'unverified' || !verification) return html`${labels.unverified}`
  const { domain, method, proved_at, checked_at, failures } = verification
  const next = failures === 0 ? labels.checked_daily : labels.check_fails
  return html`<strong dir="ltr">${domain}</strong> ${labels.verified_by} ${labels.method[method]}, ${timeOf(proved_at)}; ${next}, ${labels.last} ${timeOf(checked_at)}`
}

function originOf({ url, source, name }: NonNullable<EntryDetail['origin']>): Html {
  return html`${url === '' ? source : outside(url)} (<span dir="ltr">${name}</span>)`
}

function signatureOf({ signature, signature_report, card_sha256 }: EntryDetail): Html {
  if (signature === 'none' && card_sha256 === null) return html``
  const { key_id, unsigned = [] } = signature_report ?? {}
  const rows: readonly (readonly [string, string | null | undefined])[] = [
    [words.signature, signatureWords[signature]],
    [labels.key, key_id],
    [labels.unsigned, unsigned.slice(0, 10).join(' ')],
    ['SHA-256', card_sha256],
  ]
  return html`<details><summary>${labels.card_and_signature}</summary><dl class="facts">${rows.map(([term, value]) => (value ? html`<div><dt>${term}</dt><dd class="mono">${value}</dd></div>` : html``))}</dl></details>`
}

const barWidth = 6
const gap = 2
const height = 36
/** Days with a row of their own in the table. */
const maxRows = 14

type Day = LivenessHistory['days'][number]

/** What the probes of an agent found: a bar for each day, and the last days as a table. */
export function livenessOf(entry: EntryDetail, { from, to, days }: LivenessHistory): Html {
  const { uptime_30d, p50_ms, p95_ms } = entry.liveness
  const figures = [
    // Of one day it says little: after one failed probe and one answer it is 0.
    uptime_30d !== null &&
      days.length > 1 &&
      `${labels.answered} ${percent(uptime_30d)} ${labels.of_30_days}`,
    p50_ms !== null && `${labels.median} ${p50_ms} ms`,
    p95_ms !== null && `${labels.p95} ${p95_ms} ms`,
  ].filter((figure) => figure !== false)
  return html`<section class="lively"><h2 class="title">${labels.answers}</h2>
<p>${stateOf(entry)}${figures.length > 0 && html` <span class="count">${figures.join(' · ')}</span>`}</p>
${days.length === 0 ? html`<p class="hint">${labels.no_history}</p>` : html`${strip(from, to, days)}<p class="ends"><time>${from}</time><time>${to}</time></p>${tableOf(days)}`}</section>`
}

function strip(from: string, to: string, days: readonly Day[]): Html {
  const first = Date.parse(from)
  const count = Math.round((Date.parse(to) - first) / dayMilliseconds) + 1
  const width = count * (barWidth + gap)
  const bars = days.map((day) => bar(day, Math.round((Date.parse(day.date) - first) / dayMilliseconds)))
  return html`<svg class="strip" viewBox="0 0 ${width} ${height}" role="img" aria-label="${labels.strip(days.length)}"><defs><pattern id="some" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="some" width="2.4" height="4"/></pattern></defs><rect class="base" y="${height - 2}" width="${width}" height="2"/>${bars}</svg>`
}

/** Full where each probe was answered, striped where some were, low and hollow where none was. */
function bar({ date, probes, failures, p50_ms }: Day, place: number): Html {
  const share = probes === 0 ? 0 : 1 - failures / probes
  const kind = failures === 0 ? 'all' : share > 0 ? 'part' : 'none'
  const tall = kind === 'none' ? 8 : Math.max(10, Math.round(share * height))
  const title = `${date}: ${labels.probes(probes, failures)}${p50_ms === null ? '' : ` · ${p50_ms} ms`}`
  const fill = kind === 'part' && html` fill="url(#some)"`
  return html`<rect class="${kind}" x="${place * (barWidth + gap) + 1}" y="${height - tall}" width="${barWidth}" height="${tall}"${fill}><title>${title}</title></rect>`
}

function tableOf(days: readonly Day[]): Html {
  const rows = days.slice(-maxRows).toReversed()
  const time = (milliseconds: number | null) => (milliseconds === null ? '–' : `${milliseconds} ms`)
  const columns = [labels.day, labels.probes_short, labels.failures_short, labels.median, labels.p95]
  const drawn = rows.map(
    ({ date, probes, failures, p50_ms, p95_ms }) =>
      html`<tr><th scope="row">${date}</th><td>${probes}</td><td>${failures}</td><td>${time(p50_ms)}</td><td>${time(p95_ms)}</td></tr>`,
  )
  return html`<details><summary>${labels.as_table}</summary>${table(columns, drawn)}</details>`
}

function percent(share: number): string {
  return `${Math.floor(share * 1000) / 10} %`
}

/** What a reader must know before anything else. */
export function noticesOf({ deprecated, suspended, origin, state }: EntryDetail): Html[] {
  const notices: (Html | false)[] = [
    suspended !== null && html`<strong>${labels.suspended}</strong> ${suspended.reason}`,
    state === 'STAGE' && html`${labels.staged}`,
    origin?.removed === true && html`${labels.removed_at_source}`,
    deprecated !== null &&
      html`<strong>${labels.deprecated}</strong> ${deprecated.message ?? ''}${deprecated.successor !== null && html` ${labels.successor} <a href="${pageOf(deprecated.successor)}">${deprecated.successor}</a>`}`,
  ]
  return notices.map((notice) => (notice ? html`<p class="note">${notice}</p>` : html``))
}

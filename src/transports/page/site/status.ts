import type { Callable } from '../../../../schemas/callable.ts'
import type { Status, TrafficHour } from '../../../../schemas/status.ts'
import { type Html, html } from '../html.ts'
import { countOf } from './formats.ts'
import { pageOf, signOf, table } from './parts.ts'
import type { View } from './view.ts'
import { callableWords, words } from './words.ts'

const text = words.status

/** How the gateway does. */
export function statusView(status: Status): View {
  const { hours, mirrors, upstreams } = status
  const kind = { ready: 'ok', degraded: 'warn', starting: 'none' } as const
  const main = html`<div class="status">
<h1>${text.title}</h1>
<p class="lead">${signOf(kind[status.status], text.states[status.status])}</p>
${facts(status)}
<h2 class="title">${text.calls}</h2>
${callChart(hours)}
<h2 class="title">${text.times}</h2>
${timeChart(hours)}
${hourTable(hours)}
<h2 class="title">${text.upstreams}</h2>
${upstreams.length === 0 ? html`<p>${text.no_upstreams}</p>` : upstreamTable(upstreams)}
<h2 class="title">${text.mirrors}</h2>
${mirrors.length === 0 ? html`<p>${text.no_mirrors}</p>` : mirrorTable(mirrors)}
${detail(status)}
<p class="hint">${text.of_node(status.node.id)} <a href="/public/status">JSON</a></p>
</div>`
  return { title: text.title, description: text.lead, main }
}

function facts({ version, node, store, revision, applied_revision, agents }: Status): Html {
  const behind = revision === null ? 0 : revision - applied_revision
  const rows: readonly (readonly [string, Html | string])[] = [
    [words.version, version],
    [text.since, timeOf(node.started_at)],
    [text.store, `${text.stores[store.kind]}, ${store.answers ? text.answers : text.silent}`],
    [text.revision, revision === null ? text.not_known : countOf(revision)],
    [text.index, behind <= 0 ? text.up_to_date : text.behind(behind)],
    ...(agents ? agentRows(agents) : []),
  ]
  return html`<dl class="figures">${rows.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>`
}

function agentRows({ total, callable, live }: NonNullable<Status['agents']>): (readonly [string, Html])[] {
  const kinds = Object.entries(callable).map(
    ([kind, count]) =>
      html`<li><a href="/search?callable=${kind}">${callableWords[kind as Callable]}</a> ${countOf(count)}</li>`,
  )
  return [
    [text.agents, html`<a href="/search">${countOf(total)}</a>`],
    [
      text.alive,
      html`<ul><li><a href="/search?live=true">${text.answering}</a> ${countOf(live.answering)}</li><li><a href="/search?live=false">${text.not_answering}</a> ${countOf(live.silent)}</li><li>${text.unseen} ${countOf(live.unknown)}</li></ul>`,
    ],
    [text.callable, html`<ul>${kinds}</ul>`],
  ]
}

const chart = { width: 720, height: 120, gap: 4 }

/** Calls by hour: good ones below, refused and failed ones above them, each with a form of its own. */
function callChart(hours: readonly TrafficHour[]): Html {
  const most = Math.max(1, ...hours.map(({ calls }) => calls))
  const step = chart.width / hours.length
  const bars = hours.map(({ at, calls, refused, failed }, index) => {
    let bottom = chart.height
    const part = (name: string, count: number) => {
      const height = (count / most) * chart.height
      bottom -= height
      return (
        count > 0 &&
        html`<rect class="${name}" x="${(index * step).toFixed(1)}" y="${bottom.toFixed(1)}" width="${(step - chart.gap).toFixed(1)}" height="${height.toFixed(1)}"/>`
      )
    }
    return html`<g><title>${text.hour(hourOf(at), calls, refused, failed)}</title>${part('level', calls - refused - failed)}${part('refused', refused)}${part('failed', failed)}</g>`
  })
  const sum = (key: 'calls' | 'refused' | 'failed') => hours.reduce((all, hour) => all + hour[key], 0)
  const summary = text.sum(sum('calls'), countOf(sum('refused')), countOf(sum('failed')))
  return figure(
    summary,
    html`<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="failed-ground" width="6" height="6"/><rect class="failed-line" width="3" height="6"/></pattern></defs>${bars}`,
    text.most(countOf(most)),
  )
}

/** The median and the 95th percentile of the time of a call, by hour. */
function timeChart(hours: readonly TrafficHour[]): Html {
  const times = hours.flatMap(({ p95_ms }) => p95_ms ?? [])
  if (times.length === 0) return html`<p>${text.no_calls}</p>`
  const most = Math.max(1, ...times)
  const step = chart.width / hours.length
  const points = (key: 'p50_ms' | 'p95_ms') =>
    hours.map((hour, index) => {
      const value = hour[key]
      if (value === null) return undefined
      return [(index + 0.5) * step, chart.height - (value / most) * (chart.height - 8) - 4] as const
    })
  const draw = (name: string, key: 'p50_ms' | 'p95_ms') => {
    const all = points(key)
    const at = ([x, y]: readonly [number, number]) => `${x.toFixed(1)} ${y.toFixed(1)}`
    const dots = all.map((point) => point && `M${at(point)}h0`).join('')
    const line = all.map((point, index) => point && `${all[index - 1] ? 'L' : 'M'}${at(point)}`).join('')
    return html`<g class="${name}"><path d="${line}"/><path class="dots" d="${dots}"/></g>`
  }
  const last = hours.findLast(({ p50_ms }) => p50_ms !== null)
  const summary = text.last_times(milliseconds(last?.p50_ms ?? null), milliseconds(last?.p95_ms ?? null))
  return figure(
    summary,
    html`${draw('median', 'p50_ms')}${draw('slowest', 'p95_ms')}`,
    text.most(milliseconds(most)),
  )
}

function figure(summary: string, drawing: Html, most: string): Html {
  return html`<figure class="chart"><figcaption>${summary}</figcaption>
<svg viewBox="0 0 ${chart.width} ${chart.height}" preserveAspectRatio="none" role="img" aria-label="${summary}">${drawing}</svg>
<p class="axis"><span>${text.day_ago}</span><span>${most}</span><span>${text.now}</span></p></figure>`
}

function hourTable(hours: readonly TrafficHour[]): Html {
  const rows = hours
    .toReversed()
    .map(
      ({ at, calls, refused, failed, p50_ms, p95_ms }) =>
        html`<tr><th scope="row"><time datetime="${at}">${hourOf(at)}</time></th><td>${calls}</td><td>${refused}</td><td>${failed}</td><td>${milliseconds(p50_ms)}</td><td>${milliseconds(p95_ms)}</td></tr>`,
    )
  return html`<details><summary>${text.as_table}</summary>${table(text.columns, rows)}</details>`
}

function upstreamTable(upstreams: Status['upstreams']): Html {
  const rows = upstreams.map(
    ({ agent, state, calls, failed, p95_ms }) =>
      html`<tr><td><a href="${pageOf(agent)}" dir="ltr">${agent}</a></td><td>${signOf(state === 'failing' ? 'bad' : 'warn', text.troubles[state])}</td><td>${calls}</td><td>${failed}</td><td>${milliseconds(p95_ms)}</td></tr>`,
  )
  return table(text.upstream_columns, rows)
}

function mirrorTable(mirrors: Status['mirrors']): Html {
  const kinds = { waiting: 'ok', running: 'none', failing: 'bad' } as const
  const rows = mirrors.map(
    ({ name, status, finished_at, next_at, counts }) =>
      html`<tr><td dir="ltr">${name}</td><td>${signOf(kinds[status], text.mirror_states[status])}</td><td>${finished_at === null ? text.never : timeOf(finished_at)}</td><td>${timeOf(next_at)}</td><td>${countOf(counts.created + counts.updated)}</td></tr>`,
  )
  return table(text.mirror_columns, rows)
}

function detail({ detail: more }: Status): Html | false {
  if (!more) return false
  const errors = more.mirror_errors.map(
    ({ name, url, code, message }) =>
      html`<tr><td>${name}</td><td dir="ltr">${url}</td><td><code>${code}</code> ${message}</td></tr>`,
  )
  const memory = `${Math.round(more.memory_bytes / 1024 / 1024)} MiB`
  return html`<h2 class="title">${text.for_admins}</h2>
<dl class="figures"><div><dt>${text.host}</dt><dd dir="ltr">${more.host}, ${more.process}</dd></div><div><dt>${text.memory}</dt><dd>${memory}</dd></div><div><dt>${text.reasons}</dt><dd>${more.reasons.length === 0 ? text.none : more.reasons.join(', ')}</dd></div></dl>
${errors.length > 0 && table(text.error_columns, errors)}`
}

function milliseconds(value: number | null): string {
  if (value === null) return '–'
  return value < 10
    ? `${value.toFixed(1)} ms`
    : value < 1000
      ? `${Math.round(value)} ms`
      : `${(value / 1000).toFixed(1)} s`
}

function hourOf(at: string): string {
  return `${at.slice(11, 16)} UTC`
}

function timeOf(at: string): Html {
  return html`<time datetime="${at}">${at.slice(0, 10)} ${at.slice(11, 16)} UTC</time>`
}

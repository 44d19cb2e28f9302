import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** The gateway's counters, rendered at scrape. */
export interface Metrics {
  /** Counts one dispatched call. `code` is `ok` or a failure's code; seconds of wall time. */
  call(to: string, action: string, code: string, seconds: number): void
  /** Counts one call to a listed agent, by its outcome. */
  remote(agent: string, code: string, seconds: number): void
  /** Counts agents of a mirror, by what became of them. */
  mirrored(mirror: string, counts: Readonly<Record<string, number>>): void
  /** Shows the state of mirrors, which is read at scrape. */
  watchMirrors(read: () => Promise<readonly MirrorState[]>): void
  render(): Promise<string>
  readonly content_type: string
}

interface MirrorState {
  readonly name: string
  /** RFC 3339; null before the first run that was finished. */
  readonly finished_at: string | null
  /** Tries that failed since. */
  readonly failures: number
}

const maxRemotes = 1000

/** Finds the child of a histogram by its labels, which the library would check anew for each value. */
function childrenOf(histogram: Histogram): (...labels: readonly string[]) => Histogram.Internal<string> {
  const children = new Map<string, Histogram.Internal<string>>()
  return (...labels) => {
    const key = labels.join(' ')
    const existing = children.get(key)
    if (existing) return existing
    const child = histogram.labels(...labels)
    children.set(key, child)
    return child
  }
}

/** `gauges` are read at scrape: name → [help, value]. */
export function createMetrics(gauges: Record<string, readonly [string, () => number]>): Metrics {
  const registry = new Registry()
  const histogram = new Histogram({
    name: 'dragoman_call_seconds',
    help: 'Wall time of dispatched calls by agent, action and outcome.',
    labelNames: ['to', 'action', 'code'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  })
  const remotes = new Histogram({
    name: 'dragoman_remote_seconds',
    help: 'Wall time of calls to listed agents by agent and outcome; `other` beyond the first thousand agents.',
    labelNames: ['agent', 'code'],
    buckets: [0.005, 0.025, 0.1, 0.25, 1, 2.5, 10, 30],
    registers: [registry],
  })
  const mirrors = new Counter({
    name: 'dragoman_mirror_agents_total',
    help: 'Agents that mirrors have read, by mirror and by what became of them.',
    labelNames: ['mirror', 'outcome'],
    registers: [registry],
  })
  const counted = new Set<string>()
  for (const [name, [help, value]] of Object.entries(gauges)) {
    const collect = function (this: Gauge): void {
      this.set(value())
    }
    registry.registerMetric(new Gauge({ name, help, collect, registers: [] }))
  }
  const ofCall = childrenOf(histogram)
  const ofRemote = childrenOf(remotes)
  return {
    call: (to, action, code, seconds) => ofCall(to, action, code).observe(seconds),
    remote(agent, code, seconds) {
      if (counted.size < maxRemotes) counted.add(agent)
      ofRemote(counted.has(agent) ? agent : 'other', code).observe(seconds)
    },
    mirrored(mirror, counts) {
      for (const [outcome, count] of Object.entries(counts)) mirrors.labels(mirror, outcome).inc(count)
    },
    watchMirrors(read) {
      const watch = (name: string, help: string, value: (state: MirrorState) => number | undefined) => {
        const collect = async function (this: Gauge): Promise<void> {
          const states = await read().catch(() => [])
          this.reset()
          for (const state of states) {
            const present = value(state)
            if (present !== undefined) this.set({ mirror: state.name }, present)
          }
        }
        registry.registerMetric(new Gauge({ name, help, labelNames: ['mirror'], collect, registers: [] }))
      }
      watch(
        'dragoman_mirror_last_success_timestamp_seconds',
        'End of the last run of a mirror that was finished.',
        ({ finished_at }) => (finished_at === null ? undefined : Date.parse(finished_at) / 1000),
      )
      watch(
        'dragoman_mirror_failures',
        'Tries of a mirror that failed one after another.',
        ({ failures }) => failures,
      )
    },
    render: () => registry.metrics(),
    content_type: registry.contentType,
  }
}

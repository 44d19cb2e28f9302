import { LRUCache } from 'lru-cache'
import type { Reader } from '../../store/store.ts'
import type { Prober } from './prober.ts'

/** Probes agents out of schedule after a failed call. */
export interface Reprobe extends AsyncDisposable {
  /** Takes the code with which a call to an agent ended. */
  observe(packageName: string, code: string): void
}

interface ReprobeOptions {
  readonly read: Pick<Reader, 'entry'>
  readonly prober: Pick<Prober, 'check'>
  readonly clock: () => number
  readonly onError: (fault: unknown) => void
}

const trouble = new Set(['upstream_failed', 'upstream_timeout', 'upstream_invalid'])
const maxConcurrent = 8
const maxRemembered = 1000
/** Minimum time between two such probes of one agent, in milliseconds. */
const restMilliseconds = 60_000

export function createReprobe({ read, prober, clock, onError }: ReprobeOptions): Reprobe {
  const stop = new AbortController()
  const lastProbes = new LRUCache<string, number>({ max: maxRemembered })
  const underway = new Set<Promise<void>>()

  async function probe(package_name: string): Promise<void> {
    try {
      const entry = await read.entry({ package_name })
      if (entry) await prober.check(entry, stop.signal)
    } catch (fault) {
      if (!stop.signal.aborted) onError(fault)
    }
  }

  return {
    observe(packageName, code) {
      if (!trouble.has(code) || underway.size >= maxConcurrent || stop.signal.aborted) return
      const since = clock() - (lastProbes.get(packageName) ?? Number.NEGATIVE_INFINITY)
      if (since >= 0 && since < restMilliseconds) return
      lastProbes.set(packageName, clock())
      const work = probe(packageName).finally(() => underway.delete(work))
      underway.add(work)
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await Promise.all(underway)
    },
  }
}

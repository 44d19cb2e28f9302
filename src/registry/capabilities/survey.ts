import { setImmediate as turnOfOthers } from 'node:timers/promises'
import { z } from 'zod'
import { Failure } from '../../../schemas/failure.ts'
import { type Clock, monotonic } from '../../common/clock.ts'
import { dayMilliseconds, dayOf } from '../../common/days.ts'
import type { Fetch } from '../../net/fetch/fetch.ts'
import { isListed } from '../../store/entries/version-content.ts'
import type { Store } from '../../store/store.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import type { CapabilityReader } from './reader.ts'
import { readEndpoint } from './reading.ts'
import { allows } from './robots.ts'

interface SurveyOptions {
  readonly store: Pick<Store, 'read' | 'changes' | 'settings'>
  /** Reads at the pace of the survey. */
  readonly reader: Pick<CapabilityReader, 'ask' | 'note'>
  /** Fetches robots.txt at the pace of the survey. */
  readonly fetch: Fetch
  readonly clock: () => number
  readonly onError: (fault: unknown) => void
  /** Hosts that are asked in one day. */
  readonly max_hosts?: number
}

/** The product token by which robots.txt names the gateway; the first word of its User-Agent. */
const productToken = 'dragoman'
const setting = 'survey'
/** Time after which the server of an entry is read again. */
const restMilliseconds = 30 * dayMilliseconds
const maxHosts = 1_000
/** Servers of one host that are read in one day. */
const maxPerHost = 50
const pageSize = 200
const robotsBytes = 100_000
const robotsTimeout = 10_000

/** What the survey has done: the day, the readings of each host on that day, and the position in the change log. */
const Progress = z.object({
  day: z.int(),
  hosts: z.record(z.string(), z.int()),
  after: z.int(),
})
type Progress = z.infer<typeof Progress>

/**
 * Reads the servers of entries without an owner, which nobody asked to be read. One pass over the change log a day
 * finds them. It runs only where the operator allows it.
 */
export class Survey {
  readonly #options: SurveyOptions
  readonly #time: Clock
  /** Hosts that asked for a pause, each with its end on that clock. */
  readonly #resting = new Map<string, number>()
  /** The robots.txt of origins, read today; null: it could not be read. */
  readonly #robots = new Map<string, string | null>()
  #robotsDay = 0

  constructor(options: SurveyOptions) {
    this.#options = options
    this.#time = monotonic(options.clock)
  }

  /** True if the pass of this day has entries left. */
  async isDue(): Promise<boolean> {
    const progress = await this.#progress()
    return progress.after < (await this.#options.store.read.revision())
  }

  /** Continues the pass of this day until its end or the signal. Returns the number of entries that were asked. */
  async run(signal: AbortSignal): Promise<number> {
    const { store } = this.#options
    let progress = await this.#progress()
    let count = 0
    while (!signal.aborted) {
      const page = await store.changes(progress.after, pageSize)
      const last = page.at(-1)
      if (!last) break
      const ids = new Set(page.filter(({ kind }) => kind === 'put').map((change) => change.entry_id))
      for (const id of ids) {
        if (signal.aborted) return count
        const host = await this.#ask(id, progress, signal).catch((fault) => this.#failed(fault, signal))
        if (host === undefined) continue
        count += 1
        progress = { ...progress, hosts: { ...progress.hosts, [host]: (progress.hosts[host] ?? 0) + 1 } }
        await store.settings.set(setting, JSON.stringify(progress))
      }
      progress = { ...progress, after: last.revision }
      await store.settings.set(setting, JSON.stringify(progress))
      await turnOfOthers()
    }
    return count
  }

  #failed(fault: unknown, signal: AbortSignal): undefined {
    if (!signal.aborted) this.#options.onError(fault)
  }

  /** The stored progress; a new day starts a new pass. */
  async #progress(): Promise<Progress> {
    const today = dayOf(this.#options.clock())
    const stored = await this.#options.store.settings.get(setting)
    const progress = stored === undefined ? undefined : Progress.parse(JSON.parse(stored))
    return progress?.day === today ? progress : { day: today, hosts: {}, after: 0 }
  }

  /** Asks the server of one entry. Returns its host; undefined if it was not asked. */
  async #ask(id: string, { hosts }: Progress, signal: AbortSignal): Promise<string | undefined> {
    const { store, reader, max_hosts = maxHosts } = this.#options
    const entry = await store.read.entry({ id })
    const url = entry && this.#urlOf(entry)
    if (!url) return undefined
    const { host } = url
    const isFull = hosts[host] === undefined && Object.keys(hosts).length >= max_hosts
    if (isFull || (hosts[host] ?? 0) >= maxPerHost || (this.#resting.get(host) ?? 0) > this.#time())
      return undefined
    if (!(await this.#isAllowed(url, signal))) return host
    const reading = await reader.ask(entry, signal)
    if (!reading) return host
    const seconds = reading.answer instanceof Failure ? reading.answer.details.retry_after_s : undefined
    if (seconds === undefined) await reader.note(entry, reading)
    else this.#resting.set(host, this.#time() + seconds * 1000)
    return host
  }

  /** The address of an entry to ask; undefined if it has an owner, no server over HTTP, or was read lately. */
  #urlOf(entry: StoredEntry): URL | undefined {
    const endpoint = readEndpoint(entry)
    if (entry.owner || !endpoint || !isListed(entry) || !/^https?:/i.test(endpoint.url)) return undefined
    const since = this.#options.clock() - Date.parse(entry.reading?.checked_at ?? '')
    return since >= 0 && since < restMilliseconds ? undefined : new URL(endpoint.url)
  }

  /** RFC 9309, 2.3.1: without a robots.txt everything is allowed; while it cannot be read, nothing is. */
  async #isAllowed({ origin, pathname }: URL, signal: AbortSignal): Promise<boolean> {
    const today = dayOf(this.#options.clock())
    if (today !== this.#robotsDay) this.#robots.clear()
    this.#robotsDay = today
    const robots = this.#robots.has(origin)
      ? this.#robots.get(origin)
      : await this.#readRobots(origin, signal)
    this.#robots.set(origin, robots ?? null)
    return typeof robots === 'string' && allows(robots, productToken, pathname)
  }

  async #readRobots(origin: string, signal: AbortSignal): Promise<string | null> {
    const request = { url: `${origin}/robots.txt`, signal, max_bytes: robotsBytes, timeout_ms: robotsTimeout }
    const answer = await this.#options.fetch(request).catch(() => undefined)
    signal.throwIfAborted()
    if (!answer || answer.status >= 500 || answer.status === 429) return null
    return answer.status === 200 ? new TextDecoder().decode(answer.body) : ''
  }
}

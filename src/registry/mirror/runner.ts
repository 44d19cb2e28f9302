import { counted } from '../../../schemas/counted.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { StoredMirror } from '../../../schemas/mirror.ts'
import type { Clock } from '../../common/clock.ts'
import { dayMilliseconds } from '../../common/days.ts'
import { sortableTime } from '../../common/sortable-time.ts'
import type { Store, Writer } from '../../store/store.ts'
import { Lease } from '../lease.ts'
import { type ApplyContext, applyAgents, hideAgent } from './apply-agents.ts'
import { applyServers } from './apply-servers.ts'
import { passes, passesAsChange } from './filter.ts'
import {
  afterPage,
  begun,
  difference,
  failing,
  finished,
  fromBeginning,
  isAgent,
  isServer,
  unchanged,
} from './run-state.ts'
import type { MirrorSource, SourcePage } from './sources/source.ts'

interface RunnerOptions {
  readonly store: Store
  readonly clock: Clock
  readonly createId: () => string
  readonly sourceOf: (mirror: Pick<StoredMirror, 'kind' | 'url'>) => MirrorSource
  /** Identifies this process among those that share the store. */
  readonly holder: string
  /** Resolves once the index has applied a revision, so that a crawl does not run ahead of it. */
  readonly applied: (revision: number) => Promise<void>
  readonly limits?: MirrorLimits | undefined
  readonly onPage?: (mirror: string, counts: Readonly<Record<string, number>>) => void
}

/** What a mirror may hold, and how many rows are read between two looks at what it holds. */
export interface MirrorLimits {
  readonly max_rows: number
  readonly max_bytes: number
  readonly rows_per_look: number
}

/** The official registry has some 10,000 agents with five versions each, of 1 KB; its largest row has 60 KB. */
const standardLimits: MirrorLimits = {
  max_rows: 200_000,
  max_bytes: 1024 * 1024 * 1024,
  rows_per_look: 5_000,
}
const sweepSize = 100
/** So many agents may leave a source at once, whatever part of it they are. */
const minDoubted = 20

/**
 * Runs mirrors: reads the pages of a source and writes each in one transaction with the position after it, so that a
 * run that ends between two pages, however it ends, goes on with the next one.
 */
export class MirrorRunner {
  readonly #options: RunnerOptions
  readonly #limits: MirrorLimits

  constructor(options: RunnerOptions) {
    this.#options = options
    this.#limits = options.limits ?? standardLimits
  }

  /**
   * Runs a mirror to its end; `onBegun` is called when it has begun. Throws Failure: `conflict` if another process runs
   * it, `cancelled` when the signal ends it or the mirror is removed; the failures of the source are also stored with
   * it.
   */
  async run(name: string, signal: AbortSignal, onBegun: () => void): Promise<void> {
    await using held = await this.#leaseOf(name).hold(() => {})
    if (!held) throw runsElsewhere(name)
    try {
      await this.#readAll(name, signal, onBegun)
    } catch (fault) {
      if (signal.aborted)
        throw new Failure('cancelled', `The run of the mirror ${name} was ended.`, {}, fault)
      const failure = Failure.from(fault)
      if (!isOfRunner.has(failure.code)) await this.#fail(name, failure)
      throw failure
    }
  }

  async #readAll(name: string, signal: AbortSignal, onBegun: () => void): Promise<void> {
    const { store, clock, sourceOf } = this.#options
    const stored = await store.mirrors.get(name)
    if (!stored) throw new Failure('not_found', `There is no mirror ${name}.`)
    const source = sourceOf(stored)
    let mirror = await this.#change(stored, (current) => begun(current, source, clock()))
    onBegun()
    if (mirror.phase === 'pages') mirror = await this.#readPages(mirror, source, signal)
    if (mirror.mode === 'all') {
      await this.#assertPlausible(mirror)
      mirror = await this.#sweep(mirror, signal)
    }
    await this.#change(mirror, () => finished(mirror, clock()))
  }

  async #readPages(before: StoredMirror, source: MirrorSource, signal: AbortSignal): Promise<StoredMirror> {
    const { cursor, since, filter } = before
    const latest = since === null && filter.includes('latest')
    await this.#assertBounded(before.name)
    let mirror = before
    let rows = 0
    for await (const page of source.pages({ cursor, since, latest, signal })) {
      signal.throwIfAborted()
      mirror = await this.#writePage(mirror, page, source)
      rows += page.items.length
      if (rows < this.#limits.rows_per_look) continue
      await this.#assertBounded(before.name)
      rows = 0
    }
    return mirror
  }

  /** Writes a page and the position after it. */
  async #writePage(before: StoredMirror, page: SourcePage, { resumes }: MirrorSource): Promise<StoredMirror> {
    const { store, clock, applied, onPage } = this.#options
    await this.#keepLease(before.name)
    const context = this.#contextOf(before)
    const fits = before.mode === 'changes' ? passesAsChange : passes
    const selected = page.items.filter((item) => fits(item, before.filter))
    const { result: mirror, revision } = await store.write(async (writer) => {
      const current = unchanged(before, await writer.mirror(before.name))
      const servers = await applyServers(writer, context, selected.filter(isServer))
      const agents = await applyAgents(writer, context, selected.filter(isAgent))
      const listed = [...page.rejected, ...servers.rejected, ...agents.rejected]
      const present = await writer.mirrored(
        before.name,
        listed.flatMap(({ key }) => [key, key.split(' ', 1)[0] ?? key]),
      )
      const still = [...present].map(([key, entry_id]) => ({ key, entry_id }))
      await writer.putMirrored(before.name, before.run, [...still, ...servers.found, ...agents.found])
      const next = afterPage(current, page, [servers, agents], listed, clock())
      const after = resumes ? { ...next, failures: 0 } : next
      await writer.putMirror(after)
      return after
    })
    await applied(revision)
    onPage?.(mirror.name, difference(mirror.counts, before.counts))
    return mirror
  }

  /** Hides the agents that a run over everything did not find. */
  async #sweep(before: StoredMirror, signal: AbortSignal): Promise<StoredMirror> {
    const { store, applied } = this.#options
    let mirror = before
    let after: string | undefined
    for (;;) {
      signal.throwIfAborted()
      await this.#keepLease(before.name)
      const items = await store.mirrors.items(before.name, {
        run: before.run,
        limit: sweepSize,
        ...(after !== undefined && { after }),
      })
      if (items.length === 0) return mirror
      after = items.at(-1)?.key
      const ids = items.map(({ entry_id }) => entry_id)
      const { result, revision } = await store.write(async (writer) => {
        const removed = await this.#hideAll(writer, mirror, ids)
        const counts = { ...mirror.counts, removed: mirror.counts.removed + removed }
        const next = { ...unchanged(before, await writer.mirror(before.name)), counts }
        await writer.putMirror(next)
        return next
      })
      await applied(revision)
      mirror = result
    }
  }

  async #hideAll(writer: Writer, mirror: StoredMirror, ids: readonly string[]): Promise<number> {
    let removed = 0
    for (const id of ids) {
      const entry = await writer.entry({ id })
      if (!entry) continue
      const { outcome } = await hideAgent(writer, this.#contextOf(mirror), entry, null)
      if (outcome === 'removed') removed += 1
    }
    return removed
  }

  /**
   * Throws Failure `upstream_invalid` if the source lacks most of what it had, which is rather a fault of it than a
   * removal, unless it still does so a day later.
   */
  async #assertPlausible(mirror: StoredMirror): Promise<void> {
    const { store, clock } = this.#options
    const { listed, missing } = await store.mirrors.count(mirror.name, mirror.run)
    if (missing <= minDoubted || missing * 2 <= listed) return
    const doubted_at = mirror.doubted_at ?? new Date(clock()).toISOString()
    const end = Date.parse(doubted_at) + dayMilliseconds
    if (clock() >= end) return
    await this.#change(mirror, (current) => ({ ...current, ...fromBeginning, doubted_at }))
    throw new Failure(
      'upstream_invalid',
      `The source lacks ${missing} of ${counted(listed, 'agent')}. They are hidden if it still does so after ${new Date(end).toISOString()}.`,
    )
  }

  /** Throws Failure `too_large` if the mirror holds more than it may: its source may have no end. */
  async #assertBounded(name: string): Promise<void> {
    const { max_rows, max_bytes } = this.#limits
    const { rows, bytes } = await this.#options.store.mirrors.size(name)
    if (rows <= max_rows && bytes <= max_bytes) return
    throw new Failure(
      'too_large',
      `Its agents and versions are ${rows}, of ${counted(bytes, 'byte')}; a mirror holds at most ${max_rows}, of ${counted(max_bytes, 'byte')}, and reads no more. Remove it, and add it with a filter.`,
    )
  }

  /** Writes the next state of a mirror that no other run has changed. */
  async #change(before: StoredMirror, work: (current: StoredMirror) => StoredMirror): Promise<StoredMirror> {
    const { result } = await this.#options.store.write(async (writer) => {
      const next = work(unchanged(before, await writer.mirror(before.name)))
      await writer.putMirror(next)
      return next
    })
    return result
  }

  async #fail(name: string, fault: Failure): Promise<void> {
    const { store, clock } = this.#options
    await store.write(async (writer) => {
      const mirror = await writer.mirror(name)
      if (mirror && mirror.phase !== 'removal') await writer.putMirror(failing(mirror, fault, clock()))
    })
  }

  #leaseOf(name: string): Lease {
    const { store, holder, clock } = this.#options
    return new Lease({ leases: store.leases, name: `mirror:${name}`, holder, clock })
  }

  /** Throws Failure `conflict` if another process has taken the mirror over. */
  async #keepLease(name: string): Promise<void> {
    if (!(await this.#leaseOf(name).take())) throw runsElsewhere(name)
  }

  #contextOf({ name, filter, kind, url, license, attribution, takedown }: StoredMirror): ApplyContext {
    const { clock, createId } = this.#options
    const at = new Date(clock()).toISOString()
    return {
      source: name,
      origin: { source: name, kind, url, license, attribution, takedown },
      at,
      time: sortableTime(at) ?? at,
      latest_only: filter.includes('latest'),
      createId,
      audit: { actor: null, action: 'mirror', reason: name },
    }
  }
}

function runsElsewhere(name: string): Failure {
  return new Failure('conflict', `Another process runs the mirror ${name}.`, {
    hint: 'If that process has ended, try again in ten seconds.',
  })
}

/** Codes of failures that are not the source's. */
const isOfRunner = new Set(['cancelled', 'conflict'])

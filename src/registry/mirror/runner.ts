import { counted } from '../../../schemas/counted.ts'
import { Failure } from '../../../schemas/failure.ts'
import { noCounts, type StoredMirror } from '../../../schemas/mirror.ts'
import type { Clock } from '../../common/clock.ts'
import { backoff } from '../../common/retry.ts'
import { sortableTime } from '../../common/sortable-time.ts'
import type { Store, Writer } from '../../store/store.ts'
import { Lease } from '../lease.ts'
import { type ApplyContext, applyAgents, hideAgent } from './apply-agents.ts'
import { applyServers } from './apply-servers.ts'
import { passes, passesAsChange } from './filter.ts'
import {
  afterPage,
  difference,
  fromBeginning,
  isAgent,
  isServer,
  refusesQuestion,
  unchanged,
} from './run-state.ts'
import type { Source, SourcePage } from './sources/source.ts'

interface RunnerOptions {
  readonly store: Store
  readonly clock: Clock
  readonly createId: () => string
  readonly sourceOf: (mirror: Pick<StoredMirror, 'kind' | 'url'>) => Source
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
const minute = 60_000
const day = 24 * 60 * minute
/** A source may commit a change some time after the change's own time. */
const overlap = 5 * minute
/** After this time everything is read anew, since a source may remove agents without a trace. */
const maxAgeOfAll = 7 * day
const sweepSize = 100
/** So many agents may leave a source at once, whatever part of it they are. */
const minDoubted = 20
const pauses = { first_ms: minute, max_ms: 6 * 60 * minute }

/**
 * Runs mirrors: reads the pages of a source and writes each in one transaction with the position after it, so that a
 * run that ends between two pages, however it ends, goes on with the next one.
 */
export function createMirrorRunner(options: RunnerOptions) {
  const { store, clock, holder, sourceOf, limits = standardLimits } = options
  const iso = () => new Date(clock()).toISOString()

  function leaseOf(name: string): Lease {
    const busy = () =>
      new Failure('conflict', `Another process runs the mirror ${name}.`, {
        hint: 'If that process has ended, try again in ten seconds.',
      })
    return new Lease({ leases: store.leases, name: `mirror:${name}`, holder, clock, busy })
  }

  /** The mirror at the start of a run, or where the last one ended. */
  function begun(mirror: StoredMirror, source: Source): StoredMirror {
    const at = iso()
    if (mirror.phase !== 'done' && (source.resumes || mirror.phase === 'sweep')) {
      return { ...mirror, status: 'running' }
    }
    const isFresh = mirror.all_read_at !== null && clock() - Date.parse(mirror.all_read_at) < maxAgeOfAll
    const isOfChanges = source.knows_changes && isFresh && mirror.complete_until !== null
    const since = isOfChanges ? Date.parse(mirror.complete_until as string) - overlap : undefined
    return {
      ...mirror,
      status: 'running',
      phase: 'pages',
      cursor: null,
      run: mirror.run + 1,
      mode: isOfChanges ? 'changes' : 'all',
      since: since === undefined ? null : new Date(since).toISOString(),
      started_at: at,
      counts: noCounts,
      rejections: [],
    }
  }

  /** Writes a page and the position after it. */
  async function writePage(
    before: StoredMirror,
    page: SourcePage,
    { resumes }: Source,
  ): Promise<StoredMirror> {
    await leaseOf(before.name).take()
    const context = contextOf(before)
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
    await options.applied(revision)
    options.onPage?.(mirror.name, difference(mirror.counts, before.counts))
    return mirror
  }

  function contextOf({
    name,
    filter,
    kind,
    url,
    license,
    attribution,
    takedown,
  }: StoredMirror): ApplyContext {
    const at = iso()
    return {
      source: name,
      origin: { source: name, kind, url, license, attribution, takedown },
      at,
      time: sortableTime(at) ?? at,
      latest_only: filter.includes('latest'),
      createId: options.createId,
      audit: { actor: null, action: 'mirror', reason: name },
    }
  }

  async function change(
    before: StoredMirror,
    work: (current: StoredMirror) => StoredMirror,
  ): Promise<StoredMirror> {
    const { result } = await store.write(async (writer) => {
      const next = work(unchanged(before, await writer.mirror(before.name)))
      await writer.putMirror(next)
      return next
    })
    return result
  }

  /**
   * Throws Failure `upstream_invalid` if the source lacks most of what it had, which is rather a fault of it than a
   * removal, unless it still does so a day later.
   */
  async function assertPlausible(mirror: StoredMirror): Promise<void> {
    const { listed, missing } = await store.mirrors.count(mirror.name, mirror.run)
    if (missing <= minDoubted || missing * 2 <= listed) return
    const doubted_at = mirror.doubted_at ?? iso()
    const end = Date.parse(doubted_at) + day
    if (clock() >= end) return
    await change(mirror, (current) => ({
      ...current,
      phase: 'done',
      cursor: null,
      all_read_at: null,
      doubted_at,
    }))
    throw new Failure(
      'upstream_invalid',
      `The source lacks ${missing} of ${counted(listed, 'agent')}. They are hidden if it still does so after ${new Date(end).toISOString()}.`,
    )
  }

  /** Throws Failure `too_large` if the mirror holds more than it may: its source may have no end. */
  async function assertBounded(name: string): Promise<void> {
    const { rows, bytes } = await store.mirrors.size(name)
    if (rows <= limits.max_rows && bytes <= limits.max_bytes) return
    throw new Failure(
      'too_large',
      `Its agents and versions are ${rows}, of ${counted(bytes, 'byte')}; a mirror holds at most ${limits.max_rows}, of ${counted(limits.max_bytes, 'byte')}, and reads no more. Remove it, and add it with a filter.`,
    )
  }

  /** Hides the agents that a run over everything did not find. */
  async function sweep(before: StoredMirror, signal: AbortSignal): Promise<StoredMirror> {
    let mirror = before
    let after: string | undefined
    for (;;) {
      signal.throwIfAborted()
      await leaseOf(before.name).take()
      const items = await store.mirrors.items(before.name, {
        run: before.run,
        limit: sweepSize,
        ...(after !== undefined && { after }),
      })
      if (items.length === 0) return mirror
      after = items.at(-1)?.key
      const { result, revision } = await store.write(async (writer) => {
        const removed = await hideAll(
          writer,
          mirror,
          items.map(({ entry_id }) => entry_id),
        )
        const counts = { ...mirror.counts, removed: mirror.counts.removed + removed }
        const next = { ...unchanged(before, await writer.mirror(before.name)), counts }
        await writer.putMirror(next)
        return next
      })
      await options.applied(revision)
      mirror = result
    }
  }

  async function hideAll(writer: Writer, mirror: StoredMirror, ids: readonly string[]): Promise<number> {
    let removed = 0
    for (const id of ids) {
      const entry = await writer.entry({ id })
      if (!entry) continue
      const { outcome } = await hideAgent(writer, contextOf(mirror), entry, null)
      if (outcome === 'removed') removed += 1
    }
    return removed
  }

  function finished(mirror: StoredMirror): StoredMirror {
    const { mode, started_at, complete_until, all_read_at } = mirror
    return {
      ...mirror,
      status: 'waiting',
      phase: 'done',
      cursor: null,
      failures: 0,
      error: null,
      finished_at: iso(),
      next_at: new Date(clock() + mirror.every_s * 1000).toISOString(),
      doubted_at: null,
      complete_until: started_at ?? complete_until,
      all_read_at: mode === 'all' ? started_at : all_read_at,
    }
  }

  async function failed(name: string, fault: Failure): Promise<void> {
    await store.write(async (writer) => {
      const mirror = await writer.mirror(name)
      if (!mirror || mirror.phase === 'removal') return
      const failures = mirror.failures + 1
      const requested = (fault.details.retry_after_s ?? 0) * 1000
      const pause = Math.max(requested, Math.min(backoff(failures, pauses), mirror.every_s * 1000))
      await writer.putMirror({
        ...mirror,
        status: 'failing',
        failures,
        next_at: new Date(clock() + pause).toISOString(),
        error: { code: fault.code, message: fault.message, at: iso() },
        ...(mirror.phase === 'pages' && refusesQuestion(fault) && fromBeginning),
      })
    })
  }

  async function readAll(name: string, signal: AbortSignal, onBegun: () => void): Promise<void> {
    const stored = await store.mirrors.get(name)
    if (!stored) throw new Failure('not_found', `There is no mirror ${name}.`)
    const source = sourceOf(stored)
    let mirror = await change(stored, (current) => begun(current, source))
    onBegun()
    if (mirror.phase === 'pages') {
      const { cursor, since, filter } = mirror
      const latest = since === null && filter.includes('latest')
      await assertBounded(name)
      let rows = 0
      for await (const page of source.pages({ cursor, since, latest, signal })) {
        signal.throwIfAborted()
        mirror = await writePage(mirror, page, source)
        rows += page.items.length
        if (rows < limits.rows_per_look) continue
        await assertBounded(name)
        rows = 0
      }
    }
    if (mirror.mode === 'all') {
      await assertPlausible(mirror)
      mirror = await sweep(mirror, signal)
    }
    await change(mirror, () => finished(mirror))
  }

  /**
   * Runs a mirror to its end; `onBegun` is called when it has begun. Throws Failure: `conflict` if another process runs
   * it, `cancelled` when the signal ends it or the mirror is removed; the failures of the source are also stored with
   * it.
   */
  return async (name: string, signal: AbortSignal, onBegun: () => void): Promise<void> => {
    await using _held = await leaseOf(name).hold(() => {})
    try {
      await readAll(name, signal, onBegun)
    } catch (fault) {
      if (signal.aborted)
        throw new Failure('cancelled', `The run of the mirror ${name} was ended.`, {}, fault)
      const failure = Failure.from(fault)
      if (!isOfRunner.has(failure.code)) await failed(name, failure)
      throw failure
    }
  }
}

/** Codes of failures that are not the source's. */
const isOfRunner = new Set(['cancelled', 'conflict'])

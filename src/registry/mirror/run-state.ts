import { Failure } from '../../../schemas/failure.ts'
import { noCounts, type StoredMirror } from '../../../schemas/mirror.ts'
import { inOneLine } from '../../../schemas/text.ts'
import { dayMilliseconds } from '../../common/days.ts'
import { backoff } from '../../common/retry.ts'
import type { Applied } from './apply-agents.ts'
import type { AgentItem, ServerItem } from './source-items.ts'
import type { MirrorSource, SourcePage } from './sources/source.ts'

const maxRejections = 20

/** Throws Failure `cancelled` if the mirror was removed, or a later run has begun. */
export function unchanged({ name, run }: StoredMirror, current: StoredMirror | undefined): StoredMirror {
  if (!current || current.run > run || current.phase === 'removal')
    throw new Failure('cancelled', `The mirror ${name} was removed.`)
  return current
}

/** The next run reads everything. */
export const fromBeginning = { phase: 'done', cursor: null, all_read_at: null } as const

const minute = 60_000
/** A source may commit a change some time after the change's own time. */
const overlap = 5 * minute
/** After this time everything is read anew, since a source may remove agents without a trace. */
const maxAgeOfAll = 7 * dayMilliseconds
const pauses = { first_ms: minute, max_ms: 6 * 60 * minute }

/** The mirror at the start of a run, or where the last run ended. */
export function begun(mirror: StoredMirror, source: MirrorSource, now: number): StoredMirror {
  if (mirror.phase !== 'done' && (source.resumes || mirror.phase === 'sweep')) {
    return { ...mirror, status: 'running' }
  }
  const { all_read_at, complete_until } = mirror
  const isFresh = all_read_at !== null && now - Date.parse(all_read_at) < maxAgeOfAll
  const changedSince = source.knows_changes && isFresh ? complete_until : null
  return {
    ...mirror,
    status: 'running',
    phase: 'pages',
    cursor: null,
    run: mirror.run + 1,
    mode: changedSince === null ? 'all' : 'changes',
    since: changedSince === null ? null : new Date(Date.parse(changedSince) - overlap).toISOString(),
    started_at: new Date(now).toISOString(),
    counts: noCounts,
    rejections: [],
  }
}

export function isServer(item: SourcePage['items'][number]): item is ServerItem {
  return item.kind === 'server'
}

export function isAgent(item: SourcePage['items'][number]): item is AgentItem {
  return item.kind === 'agent'
}

export function afterPage(
  mirror: StoredMirror,
  page: SourcePage,
  applied: readonly Applied[],
  rejections: StoredMirror['rejections'],
  now: number,
): StoredMirror {
  const sum = (of: (result: Applied) => number) => applied.reduce((total, result) => total + of(result), 0)
  const { counts, started_at } = mirror
  // The source's clock may be behind ours: what it changes during the run must not be older than the next run's start.
  const start = Math.min(Date.parse(started_at ?? new Date(now).toISOString()), page.source_time ?? now)
  return {
    ...mirror,
    started_at: mirror.cursor === null ? new Date(start).toISOString() : started_at,
    phase: page.next === null ? 'sweep' : 'pages',
    cursor: page.next,
    error: null,
    counts: {
      created: counts.created + sum(({ created }) => created),
      updated: counts.updated + sum(({ updated }) => updated),
      unchanged: counts.unchanged + sum(({ unchanged }) => unchanged),
      removed: counts.removed + sum(({ removed }) => removed),
      rejected: counts.rejected + rejections.length,
    },
    rejections: [...mirror.rejections, ...rejections.map(shown)].slice(-maxRejections),
  }
}

/** A name that was refused may hold anything. */
function shown({ key, reason }: StoredMirror['rejections'][number]) {
  return { key: inOneLine(key), reason: inOneLine(reason) }
}

export function finished(mirror: StoredMirror, now: number): StoredMirror {
  const { mode, started_at, complete_until, all_read_at } = mirror
  return {
    ...mirror,
    status: 'waiting',
    phase: 'done',
    cursor: null,
    failures: 0,
    error: null,
    finished_at: new Date(now).toISOString(),
    next_at: new Date(now + mirror.every_s * 1000).toISOString(),
    doubted_at: null,
    complete_until: started_at ?? complete_until,
    all_read_at: mode === 'all' ? started_at : all_read_at,
  }
}

export function failing(mirror: StoredMirror, fault: Failure, now: number): StoredMirror {
  const failures = mirror.failures + 1
  const requested = (fault.details.retry_after_s ?? 0) * 1000
  const pause = Math.max(requested, Math.min(backoff(failures, pauses), mirror.every_s * 1000))
  return {
    ...mirror,
    status: 'failing',
    failures,
    next_at: new Date(now + pause).toISOString(),
    error: { code: fault.code, message: fault.message, at: new Date(now).toISOString() },
    ...(mirror.phase === 'pages' && refusesQuestion(fault) && fromBeginning),
  }
}

/** True if the source refuses the position at which the run ended, or the time since which it asks for changes. */
function refusesQuestion({ details }: Failure): boolean {
  return [400, 404, 410, 422].includes(details.upstream?.status ?? 0)
}

export function difference(
  now: Readonly<Record<string, number>>,
  before: Readonly<Record<string, number>>,
): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(now).map(([name, count]) => [name, count - (before[name] ?? 0)]))
}

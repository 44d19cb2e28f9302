import { Failure } from '../../../schemas/failure.ts'
import type { StoredMirror } from '../../../schemas/mirror.ts'
import type { Applied } from './apply-agents.ts'
import type { AgentItem, ServerItem } from './source-items.ts'
import type { SourcePage } from './sources/source.ts'

const maxRejections = 20

/** Throws Failure `cancelled` if the mirror was removed, or a later run has begun. */
export function unchanged({ name, run }: StoredMirror, current: StoredMirror | undefined): StoredMirror {
  if (!current || current.run > run || current.phase === 'removal')
    throw new Failure('cancelled', `The mirror ${name} was removed.`)
  return current
}

/** The next run reads everything. */
export const fromBeginning = { phase: 'done', cursor: null, all_read_at: null } as const

/** True if the source refuses the position at which the run ended, or the time since which it asks for changes. */
export function refusesQuestion({ details }: Failure): boolean {
  return [400, 404, 410, 422].includes(details.upstream?.status ?? 0)
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
    rejections: [...mirror.rejections, ...rejections].slice(-maxRejections),
  }
}

export function difference(
  now: Readonly<Record<string, number>>,
  before: Readonly<Record<string, number>>,
): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(now).map(([name, count]) => [name, count - (before[name] ?? 0)]))
}

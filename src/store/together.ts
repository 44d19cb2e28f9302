import { setImmediate as turnOfOthers } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { Failure } from '../../schemas/failure.ts'
import { commitPuts, type Put } from './commit.ts'
import { createGrounds } from './grounds.ts'
import { isListed } from './published.ts'
import { createSight, type Mark, markOf } from './sight.ts'
import { type Store, UnreadableEntry } from './store.ts'
import type { EntryTable, Tables } from './tables.ts'
import type { Transact } from './transact.ts'

type Decide = Parameters<Store['change']>[0]

type Done = Awaited<ReturnType<Store['change']>>

interface Refused {
  readonly refused: unknown
}

interface Waiting {
  readonly decide: Decide
  readonly resolve: (done: Done) => void
  readonly reject: (fault: unknown) => void
}

/** What became of one: what it did, why it is refused, or nothing yet where one before it changed what it was decided by. */
type Outcome = Done | Refused | 'again'

/** Changes of one commit. */
const most = 64
/** What ails the store ails each change alike. */
const ofStore = new Set(['unavailable', 'storage_full', 'not_configured'])

/**
 * Changes of entries, those that wait for the same commit in one: each is decided by what stood before all of them, and
 * one that an earlier one of them bears upon waits for the next commit. So it is as though they had come one by one.
 * `wrote` hears what each commit wrote, before those who asked for it do.
 */
export function changeTogether(
  commit: Transact,
  clock: () => number,
  wrote?: (rows: readonly EntryTable[]) => void,
): Store['change'] {
  let waiting: Waiting[] = []
  let isAtWork = false

  async function work(): Promise<void> {
    isAtWork = true
    // Those who ask in the same turn come along.
    await turnOfOthers()
    while (waiting.length > 0) {
      const some = waiting.slice(0, most)
      waiting = waiting.slice(most)
      waiting.unshift(...(await attempt(some)))
    }
    isAtWork = false
  }

  /** Commits what can be; gives those that have to be decided again. */
  async function attempt(some: readonly Waiting[]): Promise<Waiting[]> {
    let isDecided = false
    try {
      const { outcomes, rows } = await commit(async (transaction) => {
        isDecided = false
        const done = await commitAll(transaction, some, new Date(clock()).toISOString())
        isDecided = true
        return done
      })
      wrote?.(rows)
      return some.filter((one, index) => !settle(one, outcomes[index] ?? 'again'))
    } catch (fault) {
      const isOfAll = isDecided || (fault instanceof Failure && ofStore.has(fault.code))
      if (some.length > 1 && !isOfAll) {
        // Nothing was written, and one of them is to blame.
        for (const one of some) await attempt([one])
        return []
      }
      for (const { reject } of some) reject(fault)
      return []
    }
  }

  return (decide) =>
    new Promise((resolve, reject) => {
      waiting.push({ decide, resolve, reject })
      if (!isAtWork) void work()
    })
}

function settle({ resolve, reject }: Waiting, outcome: Outcome): boolean {
  if (outcome === 'again') return false
  if ('refused' in outcome) reject(outcome.refused)
  else resolve(outcome)
  return true
}

async function commitAll(
  transaction: Kysely<Tables>,
  some: readonly Waiting[],
  at: string,
): Promise<{ outcomes: Outcome[]; rows: readonly EntryTable[] }> {
  const grounds = createGrounds(transaction, { kept: true })
  const judged = await Promise.all(
    some.map(async ({ decide }) => {
      const sight = createSight(grounds)
      const [decided] = await Promise.allSettled([decide(sight)])
      return { sight, decided }
    }),
  )
  for (const { sight } of judged) if (sight.fault !== undefined) throw sight.fault
  const puts: Put[] = []
  const marks: Mark[] = []
  const placed = judged.map(({ sight, decided }): Refused | 'again' | { put: Put; place: number } => {
    const isRefused = decided.status === 'rejected'
    if (isRefused) assertOwn(decided.reason)
    const id = isRefused ? undefined : decided.value.entry.id
    if (marks.some((mark) => mark.id === id || sight.isChangedBy(mark))) return 'again'
    if (isRefused) return { refused: decided.reason }
    const { before, entry, deed } = decided.value
    const known = before ? { entry: before, listed: isListed(before) } : { listed: false }
    const put = { before: known, entry, deed }
    marks.push(markOf(put))
    return { put, place: puts.push(put) }
  })
  const { revision: last, rows } =
    puts.length > 0 ? await commitPuts(transaction, puts, [], at) : { revision: 0, rows: [] }
  const outcomes = placed.map((one) => {
    if (one === 'again' || 'refused' in one) return one
    return { entry: one.put.entry, revision: last - puts.length + one.place }
  })
  return { outcomes, rows }
}

/** Throws what was not thrown because of this one change. */
function assertOwn(thrown: unknown): void {
  if (!(thrown instanceof Failure || thrown instanceof UnreadableEntry)) throw thrown
}

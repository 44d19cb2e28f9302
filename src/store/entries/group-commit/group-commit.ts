import { setImmediate as turnOfOthers } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { Failure } from '../../../../schemas/failure.ts'
import type { EntryTable, Tables } from '../../sql/tables.ts'
import type { Transact } from '../../sql/transaction.ts'
import { type Store, UnreadableEntry } from '../../store.ts'
import { isListed } from '../version-content.ts'
import { commitPuts, type Put } from './commit.ts'
import { createDecisionReads } from './decision-reads.ts'
import { createReadSet, markOf, type WriteSet } from './read-set.ts'

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

/** To be decided once more, since one before it changed what it was decided by. */
interface Again {
  /** The entry that it asked for, if that was what changed. */
  readonly behind: string | undefined
}

type Outcome = Done | Refused | Again

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
  /** In the order in which they came, and the entry behind whose changes each is. */
  const waiting = new Map<Waiting, string | undefined>()
  let isAtWork = false

  async function work(): Promise<void> {
    isAtWork = true
    while (waiting.size > 0) {
      // Those who ask in the same turn come along, and others have theirs.
      await turnOfOthers()
      await attempt(foremost(waiting))
    }
    isAtWork = false
  }

  /** Commits what can be; those that have to be decided again still wait. */
  async function attempt(some: readonly Waiting[]): Promise<void> {
    let isDecided = false
    try {
      const { outcomes, rows } = await commit(async (transaction) => {
        isDecided = false
        const done = await commitAll(transaction, some, new Date(clock()).toISOString())
        isDecided = true
        return done
      })
      wrote?.(rows)
      for (const [index, one] of some.entries()) settle(one, outcomes[index])
    } catch (fault) {
      const isOfAll = isDecided || (fault instanceof Failure && ofStore.has(fault.code))
      if (some.length > 1 && !isOfAll) {
        // Nothing was written, and one of them is to blame.
        for (const one of some) await attempt([one])
        return
      }
      for (const one of some) settle(one, { refused: fault })
    }
  }

  function settle(one: Waiting, outcome: Outcome = { behind: undefined }): void {
    if ('behind' in outcome) return void waiting.set(one, outcome.behind)
    waiting.delete(one)
    if ('refused' in outcome) one.reject(outcome.refused)
    else one.resolve(outcome)
  }

  return (decide) =>
    new Promise((resolve, reject) => {
      waiting.set({ decide, resolve, reject }, undefined)
      if (!isAtWork) void work()
    })
}

/** The next to be decided. Of those behind one entry the first alone: all others would be decided in vain. */
function foremost(waiting: ReadonlyMap<Waiting, string | undefined>): Waiting[] {
  const some: Waiting[] = []
  const entries = new Set<string>()
  for (const [one, behind] of waiting) {
    if (some.length === most) break
    if (behind !== undefined && entries.has(behind)) continue
    if (behind !== undefined) entries.add(behind)
    some.push(one)
  }
  return some
}

async function commitAll(
  transaction: Kysely<Tables>,
  some: readonly Waiting[],
  at: string,
): Promise<{ outcomes: Outcome[]; rows: readonly EntryTable[] }> {
  const reads = createDecisionReads(transaction, { kept: true })
  const judged = await Promise.all(
    some.map(async ({ decide }) => {
      const readSet = createReadSet(reads)
      const [decided] = await Promise.allSettled([decide(readSet)])
      return { readSet, decided }
    }),
  )
  for (const { readSet } of judged) if (readSet.fault !== undefined) throw readSet.fault
  const puts: Put[] = []
  const marks: WriteSet[] = []
  const placed = judged.map(({ readSet, decided }): Refused | Again | { put: Put; place: number } => {
    const isRefused = decided.status === 'rejected'
    if (isRefused) assertOwn(decided.reason)
    const id = isRefused ? undefined : decided.value.entry.id
    const mark = marks.find((one) => one.id === id || readSet.isChangedBy(one))
    if (mark) return { behind: mark.id === id || readSet.isOn(mark) ? mark.id : undefined }
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
    if ('behind' in one || 'refused' in one) return one
    return { entry: one.put.entry, revision: last - puts.length + one.place }
  })
  return { outcomes, rows }
}

/** Throws what was not thrown because of this one change. */
function assertOwn(thrown: unknown): void {
  if (!(thrown instanceof Failure || thrown instanceof UnreadableEntry)) throw thrown
}

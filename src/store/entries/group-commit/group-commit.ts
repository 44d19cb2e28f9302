import { setImmediate as nextTurn } from 'node:timers/promises'
import { Failure } from '../../../../schemas/failure.ts'
import type { Database, EntryTable } from '../../sql/tables.ts'
import type { Finish, Transact } from '../../sql/transaction.ts'
import type { AccountUsage, Decision, Store } from '../../store.ts'
import { UnreadableEntry } from '../../stored-entry.ts'
import { deltasOf, plus, readUsage, type UsageDelta, uncounted } from '../usage.ts'
import { isListed } from '../version-content.ts'
import { commitPuts, isNewVersion, lockLog, type Put, toRow } from './commit.ts'
import { createDecisionReads } from './decision-reads.ts'
import { createReadSet, type WriteSet, writeSetOf } from './read-set.ts'

type Decide = Parameters<Store['change']>[0]

type Result = Awaited<ReturnType<Store['change']>>

interface Refused {
  readonly refused: unknown
}

interface PendingChange {
  readonly decide: Decide
  readonly resolve: (result: Result) => void
  readonly reject: (fault: unknown) => void
}

/** The change is decided again in the next batch: an earlier change of its batch invalidated one of its reads. */
interface Conflict {
  /** The entry that both changes touch; undefined if only a wider read, such as one of claims, was invalidated. */
  readonly entry_id: string | undefined
}

type Outcome = Result | Refused | { readonly conflict: Conflict }

/** Changes of one commit. */
const maxBatch = 64
/** Errors of the store itself: they fail every change of the batch alike. */
const storeCodes = new Set(['unavailable', 'storage_full', 'not_configured'])

/**
 * Group commit: changes that wait for the same commit are decided on one snapshot and committed together. A change
 * whose reads an earlier change of the batch invalidated is decided again in the next batch, so the result is that of
 * one change after another.
 */
export function createGroupCommit(commit: Transact, clock: () => number): Store['change'] {
  /** In the order of arrival, each with the entry of its last conflict. */
  const pending = new Map<PendingChange, string | undefined>()
  let isRunning = false

  async function run(): Promise<void> {
    isRunning = true
    while (pending.size > 0) {
      // Calls of the same event-loop turn join the batch, and other work gets its turn.
      await nextTurn()
      await attempt(nextBatch(pending))
    }
    isRunning = false
  }

  /** Commits what can be committed; changes with a conflict stay pending. */
  async function attempt(batch: readonly PendingChange[]): Promise<void> {
    try {
      const outcomes = await commit((transaction, finish) =>
        commitAll(transaction, finish, batch, new Date(clock()).toISOString()),
      )
      for (const [index, change] of batch.entries()) settle(change, outcomes[index])
    } catch (fault) {
      const isOfAll = fault instanceof Failure && storeCodes.has(fault.code)
      if (batch.length > 1 && !isOfAll) {
        // Writes nothing of the failed batch: a single change caused its failure, so each change is tried
        // alone.
        for (const change of batch) await attempt([change])
        return
      }
      for (const change of batch) settle(change, { refused: fault })
    }
  }

  function settle(change: PendingChange, outcome: Outcome = { conflict: { entry_id: undefined } }): void {
    if ('conflict' in outcome) return void pending.set(change, outcome.conflict.entry_id)
    pending.delete(change)
    if ('refused' in outcome) change.reject(outcome.refused)
    else change.resolve(outcome)
  }

  return (decide) =>
    new Promise((resolve, reject) => {
      pending.set({ decide, resolve, reject }, undefined)
      if (!isRunning) void run()
    })
}

/** Takes only the first of the changes with a conflict on one entry: the others would conflict with it again. */
function nextBatch(pending: ReadonlyMap<PendingChange, string | undefined>): PendingChange[] {
  const batch: PendingChange[] = []
  const entries = new Set<string>()
  for (const [change, entry_id] of pending) {
    if (batch.length === maxBatch) break
    if (entry_id !== undefined && entries.has(entry_id)) continue
    if (entry_id !== undefined) entries.add(entry_id)
    batch.push(change)
  }
  return batch
}

async function commitAll(
  transaction: Database,
  finish: Finish,
  batch: readonly PendingChange[],
  at: string,
): Promise<Outcome[]> {
  const reads = createDecisionReads(transaction, { cached: true })
  // One round trip has the counters and the first reads of all decisions.
  const [counters, ...decisions] = await Promise.all([
    lockLog(transaction),
    ...batch.map(async ({ decide }) => {
      const readSet = createReadSet(reads)
      const [decision] = await Promise.allSettled([decide(readSet)])
      return { readSet, decision }
    }),
  ])
  for (const { readSet } of decisions) if (readSet.fault !== undefined) throw readSet.fault
  const proposals = await Promise.all(
    decisions.map(async ({ readSet, decision }) => {
      if (decision.status === 'rejected') return { readSet, refused: decision.reason as unknown }
      const { before, entry } = decision.value
      if (entry === before) return { readSet, unchanged: { entry, revision: entry.revision } }
      return { readSet, proposed: await toProposal(transaction, reads, decision.value) }
    }),
  )
  const usage = await openUsage(transaction, proposals, at)
  const puts: Put[] = []
  const writeSets: WriteSet[] = []
  const results = proposals.map(
    ({ readSet, proposed, unchanged, refused }): Outcome | { put: Put; position: number } => {
      if (!proposed && !unchanged) assertOwn(refused)
      const id = proposed?.put.entry.id
      const earlier = writeSets.find((writeSet) => writeSet.id === id || readSet.conflictsWith(writeSet))
      if (earlier) {
        const isOnEntry = earlier.id === id || readSet.readsEntry(earlier)
        return { conflict: { entry_id: isOnEntry ? earlier.id : undefined } }
      }
      if (unchanged) return unchanged
      if (!proposed) return { refused }
      const excess = usage.admit(proposed)
      if (excess !== undefined) return { refused: excess }
      writeSets.push(writeSetOf(proposed.put, proposed.row))
      return { put: proposed.put, position: puts.push(proposed.put) }
    },
  )
  const last = await commitPuts(transaction, finish, puts, [], at, { counters })
  return results.map((result) => {
    if (!('put' in result)) return result
    return { entry: result.put.entry, revision: last - puts.length + result.position }
  })
}

/** A decided change, with what it adds to the accounts of owners. */
interface Proposal {
  readonly put: Put
  readonly row: EntryTable
  readonly deltas: readonly UsageDelta[]
  readonly admit: Decision['admit']
}

async function toProposal(
  transaction: Database,
  reads: ReturnType<typeof createDecisionReads>,
  { before, entry, audit, admit }: Decision,
): Promise<Proposal> {
  const previous = before
    ? { entry: before, listed: isListed(before), counted: await reads.counted(entry.id) }
    : { listed: false, counted: uncounted }
  const row = toRow(entry)
  const is_version = await isNewVersion(transaction, { before: previous, entry })
  const deltas = deltasOf(previous.counted, row, is_version)
  return { put: { before: previous, entry, audit, is_version }, row, deltas, admit }
}

/** What the accounts of a batch use, change after change: members of a batch see each other. */
async function openUsage(
  transaction: Database,
  proposals: readonly { readonly proposed?: Proposal }[],
  at: string,
) {
  const accounts = proposals.flatMap(({ proposed }) =>
    proposed?.admit && proposed.row.account !== null ? [proposed.row.account] : [],
  )
  const found =
    accounts.length > 0 ? await readUsage(transaction, accounts, at) : new Map<string, AccountUsage>()
  return {
    /** Counts the change, or returns the reason for which it is refused. */
    admit({ row: { account }, deltas, admit }: Proposal): unknown {
      const now = account === null ? undefined : found.get(account)
      const delta = deltas.find((candidate) => candidate.account === account)
      if (account !== null && now && delta) {
        try {
          admit?.({ account, ...now, after: plus(now.used, delta.numbers) })
        } catch (thrown) {
          assertOwn(thrown)
          return thrown
        }
      }
      for (const { account: changed, numbers } of deltas) {
        const usage = found.get(changed)
        if (usage) found.set(changed, { ...usage, used: plus(usage.used, numbers) })
      }
      return undefined
    },
  }
}

/** Throws errors that this one change did not cause. */
function assertOwn(thrown: unknown): void {
  if (!(thrown instanceof Failure || thrown instanceof UnreadableEntry)) throw thrown
}

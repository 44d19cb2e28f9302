import type { EntryTable } from '../../sql/tables.ts'
import type { Claim, DecisionReads } from '../../store.ts'
import { UnreadableEntry } from '../../stored-entry.ts'
import { lookalikeKey } from '../confusables.ts'
import { type Put, toRow } from './commit.ts'
import { claimKey, claimsIn } from './decision-reads.ts'

/** Reads that record their read set. */
interface ReadSet extends DecisionReads {
  /** Whether the change invalidates a recorded read. */
  conflictsWith(writeSet: WriteSet): boolean
  /** Whether the changed entry itself was read: each of its changes invalidates that read. */
  readsEntry(writeSet: WriteSet): boolean
  /** The first storage error; the transaction is unusable after it. */
  readonly fault: unknown
}

/** The write set of a change: the values that other changes may have read. */
export interface WriteSet {
  readonly id: string
  readonly package_name: string
  readonly lookalike_key: string
  readonly before: readonly Claim[]
  readonly after: readonly Claim[]
}

export function writeSetOf({ before }: Pick<Put, 'before'>, row: EntryTable): WriteSet {
  const { id, package_name } = row
  return {
    id,
    package_name,
    lookalike_key: row.skeleton,
    before: before.entry ? claimsIn(toRow(before.entry)) : [],
    after: claimsIn(row),
  }
}

export function createReadSet(reads: DecisionReads): ReadSet {
  const ids = new Set<string>()
  const names = new Set<string>()
  const lookalikeKeys = new Set<string>()
  const claimReads: { readonly namespaces: readonly string[]; readonly found: readonly Claim[] }[] = []
  let fault: unknown

  async function recordFault<T>(read: Promise<T>): Promise<T> {
    try {
      return await read
    } catch (thrown) {
      if (!(thrown instanceof UnreadableEntry)) fault ??= thrown
      throw thrown
    }
  }

  const readsEntry = ({ id, package_name }: WriteSet) => ids.has(id) || names.has(package_name)

  return {
    readsEntry,
    get fault() {
      return fault
    },
    async entry(reference) {
      if ('id' in reference) ids.add(reference.id)
      else names.add(reference.package_name)
      return await recordFault(reads.entry(reference))
    },
    async lookalikes(packageName) {
      lookalikeKeys.add(lookalikeKey(packageName))
      return await recordFault(reads.lookalikes(packageName))
    },
    // Not recorded: the check that follows a verification reads the namesakes again.
    verifiedNamesakes: (name) => recordFault(reads.verifiedNamesakes(name)),
    async published(entryId, version) {
      ids.add(entryId)
      return await recordFault(reads.published(entryId, version))
    },
    async claims(namespaces) {
      const found = await recordFault(reads.claims(namespaces))
      claimReads.push({ namespaces, found })
      return found
    },
    conflictsWith(writeSet) {
      const { lookalike_key, before, after } = writeSet
      if (readsEntry(writeSet) || lookalikeKeys.has(lookalike_key)) return true
      return claimReads.some(({ namespaces, found }) => {
        const within = (claims: readonly Claim[]) =>
          claims.filter(({ namespace }) => namespaces.includes(namespace))
        return !isSubset(within(after), found) || !isSubset(within(before), after)
      })
    },
  }
}

function isSubset(subset: readonly Claim[], all: readonly Claim[]): boolean {
  const keys = new Set(all.map(claimKey))
  return subset.every((claim) => keys.has(claimKey(claim)))
}

import { type Claim, type DecisionReads, UnreadableEntry } from '../../store.ts'
import { skeletonOf } from '../confusables.ts'
import { type Put, toRow } from './commit.ts'
import { claimKey, claimsIn } from './decision-reads.ts'

/** Grounds, and the memory of which of them were asked for. */
interface ReadSet extends DecisionReads {
  /** Whether something that was asked for would be answered otherwise after this. */
  isChangedBy(mark: WriteSet): boolean
  /** Whether the changed entry itself was asked for: each change of it bears upon this. */
  isOn(mark: WriteSet): boolean
  /** Why the store gave no answer to something, if it did not: the transaction may be of no use since. */
  readonly fault: unknown
}

/** What of a change others may have been decided by. */
export interface WriteSet {
  readonly id: string
  readonly package_name: string
  readonly skeleton: string
  readonly before: readonly Claim[]
  readonly after: readonly Claim[]
}

export function markOf({ before, entry }: Put): WriteSet {
  const row = toRow(entry)
  const { id, package_name, skeleton } = row
  return {
    id,
    package_name,
    skeleton,
    before: before.entry ? claimsIn(toRow(before.entry)) : [],
    after: claimsIn(row),
  }
}

export function createReadSet(reads: DecisionReads): ReadSet {
  const ids = new Set<string>()
  const names = new Set<string>()
  const looks = new Set<string>()
  const asked: { readonly namespaces: readonly string[]; readonly found: readonly Claim[] }[] = []
  let fault: unknown

  async function answerTo<T>(question: Promise<T>): Promise<T> {
    try {
      return await question
    } catch (thrown) {
      if (!(thrown instanceof UnreadableEntry)) fault ??= thrown
      throw thrown
    }
  }

  const isOn = ({ id, package_name }: WriteSet) => ids.has(id) || names.has(package_name)

  return {
    isOn,
    get fault() {
      return fault
    },
    async entry(reference) {
      if ('id' in reference) ids.add(reference.id)
      else names.add(reference.package_name)
      return await answerTo(reads.entry(reference))
    },
    async lookalikes(packageName) {
      looks.add(skeletonOf(packageName))
      return await answerTo(reads.lookalikes(packageName))
    },
    async published(entryId, version) {
      ids.add(entryId)
      return await answerTo(reads.published(entryId, version))
    },
    async claims(namespaces) {
      const found = await answerTo(reads.claims(namespaces))
      asked.push({ namespaces, found })
      return found
    },
    isChangedBy(mark) {
      const { skeleton, before, after } = mark
      if (isOn(mark) || looks.has(skeleton)) return true
      return asked.some(({ namespaces, found }) => {
        const within = (claims: readonly Claim[]) =>
          claims.filter(({ namespace }) => namespaces.includes(namespace))
        return !isAmong(within(after), found) || !isAmong(within(before), after)
      })
    },
  }
}

function isAmong(some: readonly Claim[], all: readonly Claim[]): boolean {
  const keys = new Set(all.map(claimKey))
  return some.every((claim) => keys.has(claimKey(claim)))
}

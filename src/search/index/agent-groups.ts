import { SlotLists } from '../../common/slot-lists.ts'
import type { SearchDocument } from '../search-index.ts'
import { byUse, compareTies } from './order.ts'
import type { Scoreboard } from './scoreboard.ts'
import type { StoredDocument } from './stored-documents.ts'

/** What tells that documents of different sources describe one agent; without a source, or keys, one is in no group. */
export type Grouped = Pick<SearchDocument, 'source' | 'agent_keys'>

type Described = Pick<StoredDocument, 'id' | 'tie' | 'callable'>

/** Members of groups that a search has folded into one hit, by the slot of the hit; the best one comes first. */
type Folded = ReadonlyMap<number, readonly number[]>

/** Groups of slots whose documents come from different sources and describe one agent. */
export class AgentGroups {
  readonly #groupedOf: (slot: number) => Grouped
  readonly #byKey = new SlotLists<string>()
  /** Keys of more than one slot. */
  readonly #shared = new Set<string>()
  readonly #groupOf = new Map<number, ReadonlySet<number>>()
  readonly #groups = new Set<ReadonlySet<number>>()
  /** Keys whose slots have changed since the groups were made. */
  readonly #changed = new Set<string>()

  /** `groupedOf` reads the document of a slot again, from its addition to its removal. */
  constructor(groupedOf: (slot: number) => Grouped) {
    this.#groupedOf = groupedOf
  }

  add(slot: number, grouped: Grouped): void {
    for (const key of joiningKeys(grouped)) {
      this.#byKey.add(key, slot)
      if (this.#byKey.at(key).length > 1) this.#change(key)
    }
  }

  remove(slot: number, grouped: Grouped): void {
    for (const key of joiningKeys(grouped)) {
      this.#byKey.remove(key, slot)
      if (this.#shared.has(key)) this.#change(key)
    }
    this.#ungroup(slot)
  }

  /**
   * Leaves one slot of each group on the board: the best one that can be called, with the highest score of the group.
   * `before` is called with each slot before its score is raised.
   */
  fold(board: Scoreboard, describe: (slot: number) => Described, before: (slot: number) => void): Folded {
    const folded = new Map<number, readonly number[]>()
    const dropped = new Set<number>()
    this.#regroup()
    for (const group of this.#groups) {
      let count = 0
      for (const slot of group) if (board.scores[slot]) count++
      if (count < 2) continue
      const present = [...group].filter((slot) => board.scores[slot])
      const score = (slot: number) => board.scores[slot] ?? 0
      const [best = 0, ...others] = present.toSorted((left, right) => {
        const [first, second] = [describe(left), describe(right)]
        const useFirst = byUse[first.callable] - byUse[second.callable]
        return useFirst || score(right) - score(left) || compareTies(first, second)
      })
      before(best)
      board.scores[best] = Math.max(...present.map(score))
      folded.set(best, others)
      for (const slot of others) dropped.add(slot)
    }
    if (dropped.size > 0) board.drop(dropped)
    return folded
  }

  #change(key: string): void {
    this.#changed.add(key)
    if (this.#byKey.at(key).length > 1) this.#shared.add(key)
    else this.#shared.delete(key)
  }

  /**
   * Makes the groups anew around the keys that have changed. A key that two documents of one source share names no
   * single agent, so it joins nothing.
   */
  #regroup(): void {
    if (this.#changed.size === 0) return
    const groupOf = new Map<number, Set<number>>()
    for (const key of this.#connected().sort()) {
      const slots = this.#byKey.at(key)
      for (const slot of slots) if (!groupOf.has(slot)) this.#ungroup(slot)
      if (!this.#areOfDifferentSources(slots)) continue
      const joined = new Set(slots.flatMap((slot) => [...(groupOf.get(slot) ?? [slot])]))
      if (!this.#areOfDifferentSources([...joined])) continue
      for (const slot of joined) groupOf.set(slot, joined)
    }
    for (const [slot, group] of groupOf) {
      this.#groupOf.set(slot, group)
      this.#groups.add(group)
    }
    this.#changed.clear()
  }

  /** The shared keys that lead to a changed one from document to document. */
  #connected(): string[] {
    const found = new Set([...this.#changed])
    for (const key of found) {
      for (const slot of this.#byKey.at(key)) {
        for (const next of joiningKeys(this.#groupedOf(slot))) if (this.#shared.has(next)) found.add(next)
      }
    }
    return [...found].filter((key) => this.#shared.has(key))
  }

  #ungroup(slot: number): void {
    const group = this.#groupOf.get(slot)
    if (!group) return
    this.#groups.delete(group)
    for (const member of group) this.#groupOf.delete(member)
  }

  #areOfDifferentSources(slots: readonly number[]): boolean {
    return new Set(slots.map((slot) => this.#groupedOf(slot).source)).size === slots.length
  }
}

function joiningKeys({ source, agent_keys }: Grouped): readonly string[] {
  return source === null ? [] : agent_keys
}

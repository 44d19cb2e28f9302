import { LRUCache } from 'lru-cache'
import { type PostingList, Postings } from './postings.ts'

/** Slots with `marks[slot] === mark` are selected. Valid until the next change. */
export interface Selection {
  readonly marks: Uint16Array
  readonly mark: number
  readonly total: number
}

/** A value of an attribute. */
export type AttributeValue<Name extends string> = readonly [attribute: Name, value: string]

/** An entry has this value of the attribute, or one of these values. */
export type AttributeCondition<Name extends string> = readonly [
  attribute: Name,
  value: string | readonly string[],
]

const maxCachedSelections = 16

/** Slots by their values: exact filters. */
export class ValueIndex<Name extends string> {
  readonly #postings: Readonly<Record<Name, Postings>>
  #slots = 0
  /** Callers repeat the same conditions. */
  readonly #selections = new LRUCache<string, Selection>({ max: maxCachedSelections })

  constructor(attributes: readonly Name[]) {
    const postings = attributes.map((attribute) => [attribute, new Postings()])
    this.#postings = Object.fromEntries(postings) as Record<Name, Postings>
  }

  /** The index must not contain the slot. */
  add(slot: number, values: Iterable<AttributeValue<Name>>): void {
    for (const [attribute, value] of values) this.#postings[attribute].add(value, slot)
    this.#slots++
    this.#clearCache()
  }

  /** `values` must equal those of `add`. */
  remove(slot: number, values: Iterable<AttributeValue<Name>>): void {
    for (const [attribute, value] of values) {
      const list = this.#postings[attribute].get(value)
      if (list) this.#postings[attribute].remove(list, slot)
    }
    this.#slots--
    this.#clearCache()
  }

  /** The slots below `capacity` that meet every condition. */
  select(conditions: readonly AttributeCondition<Name>[], capacity: number): Selection {
    const key = JSON.stringify(conditions)
    const cached = this.#selections.get(key)
    if (cached) return cached
    const selection = this.#mark(conditions, capacity)
    this.#selections.set(key, selection)
    return selection
  }

  /** The slots of each value of an attribute. */
  lists(attribute: Name): Iterable<PostingList> {
    return this.#postings[attribute].lists()
  }

  #clearCache(): void {
    if (this.#selections.size > 0) this.#selections.clear()
  }

  #mark(conditions: readonly AttributeCondition<Name>[], capacity: number): Selection {
    const marks = new Uint16Array(capacity)
    const choices = conditions.map(([attribute, value]) => {
      const values = typeof value === 'string' ? [value] : value
      return values.flatMap((text) => this.#postings[attribute].get(text) ?? [])
    })
    if (choices.some((lists) => lists.length === 0)) return { marks, mark: 1, total: 0 }
    choices.sort((left, right) => sizeOf(left) - sizeOf(right))
    const total = choices.reduce((_, lists, passed) => narrowToAny(marks, lists, passed), this.#slots)
    return { marks, mark: choices.length, total }
  }
}

function sizeOf(lists: readonly PostingList[]): number {
  return lists.reduce((sum, { size }) => sum + size, 0)
}

/** Marks the slots of any of these lists; a slot that one list has marked is not counted again. */
function narrowToAny(marks: Uint16Array, lists: readonly PostingList[], passed: number): number {
  return lists.reduce((total, list) => total + narrow(marks, list, passed), 0)
}

/** Marks the slots of the list that the `passed` lists before it contain too; returns their number. */
function narrow(marks: Uint16Array, { slots, size }: PostingList, passed: number): number {
  let total = 0
  for (let index = 0; index < size; index++) {
    const slot = slots[index] ?? 0
    if (marks[slot] !== passed) continue
    marks[slot] = passed + 1
    total++
  }
  return total
}

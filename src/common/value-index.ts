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

/** A selection that follows changes: another object after each change that concerns it. */
interface Selected<Name extends string> {
  readonly conditions: readonly AttributeCondition<Name>[]
  selection: Selection
}

const maxCachedSelections = 16

/** Slots by their values: exact filters. */
export class ValueIndex<Name extends string> {
  readonly #postings: Readonly<Record<Name, Postings>>
  #slots = 0
  /** Callers repeat the same conditions, also after changes: marking every slot anew takes milliseconds. */
  readonly #selections = new LRUCache<string, Selected<Name>>({ max: maxCachedSelections })

  constructor(attributes: readonly Name[]) {
    const postings = attributes.map((attribute) => [attribute, new Postings()])
    this.#postings = Object.fromEntries(postings) as Record<Name, Postings>
  }

  /** The index must not contain the slot. */
  add(slot: number, values: readonly AttributeValue<Name>[]): void {
    for (const [attribute, value] of values) this.#postings[attribute].add(value, slot)
    this.#slots++
    for (const selected of this.#selections.values()) {
      const { marks, mark, total } = selected.selection
      const grown = withSlot(marks, slot)
      const isMet = selected.conditions.every((condition) => meets(values, condition))
      if (isMet) grown[slot] = mark
      if (isMet || grown !== marks) selected.selection = { marks: grown, mark, total: total + Number(isMet) }
    }
  }

  /** `values` must equal those of `add`. */
  remove(slot: number, values: readonly AttributeValue<Name>[]): void {
    for (const [attribute, value] of values) {
      const list = this.#postings[attribute].get(value)
      if (list) this.#postings[attribute].remove(list, slot)
    }
    this.#slots--
    for (const selected of this.#selections.values()) {
      const { marks, mark, total } = selected.selection
      if (marks[slot] === mark) selected.selection = { marks, mark, total: total - 1 }
      marks[slot] = 0
    }
  }

  /** The slots below `capacity` that meet every condition. */
  select(conditions: readonly AttributeCondition<Name>[], capacity: number): Selection {
    const key = JSON.stringify(conditions)
    const cached = this.#selections.get(key)
    if (cached) return cached.selection
    const selection = this.#mark(conditions, capacity)
    this.#selections.set(key, { conditions, selection })
    return selection
  }

  /** The slots of each value of an attribute. */
  lists(attribute: Name): Iterable<PostingList> {
    return this.#postings[attribute].lists()
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

function meets<Name extends string>(
  values: readonly AttributeValue<Name>[],
  [attribute, sought]: AttributeCondition<Name>,
): boolean {
  return values.some(([name, value]) => {
    return name === attribute && (typeof sought === 'string' ? value === sought : sought.includes(value))
  })
}

/** The marks, with space for the slot and some more after it. */
function withSlot(marks: Uint16Array, slot: number): Uint16Array {
  if (slot < marks.length) return marks
  const grown = new Uint16Array(Math.ceil(slot * 1.1) + 1)
  grown.set(marks)
  return grown
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

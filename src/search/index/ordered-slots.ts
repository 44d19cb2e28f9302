import type { Position } from '../search-index.ts'
import type { ComparePositions, PositionedSlot } from './order.ts'

/** Slots that stay in order through every change. */
export class OrderedSlots {
  readonly #compare: ComparePositions
  readonly #positionOf: (slot: number) => Position
  readonly #slots: number[]

  /** `slots` is a saved order to restore. */
  constructor(compare: ComparePositions, positionOf: (slot: number) => Position, slots?: Uint32Array) {
    this.#compare = compare
    this.#positionOf = positionOf
    this.#slots = slots ? Array.from(slots) : []
  }

  save(): Uint32Array {
    return Uint32Array.from(this.#slots)
  }

  add(slot: number): void {
    this.#slots.splice(this.#firstFrom(this.#positionOf(slot)), 0, slot)
  }

  /** The slot must still have the position with which it was added. */
  remove(slot: number): void {
    this.#slots.splice(this.#firstFrom(this.#positionOf(slot)), 1)
  }

  /** The first `limit` slots after a position for which `passes` holds, in order. */
  take(limit: number, after: Position | undefined, passes: (slot: number) => boolean): PositionedSlot[] {
    const taken: PositionedSlot[] = []
    for (let index = after ? this.#firstAfter(after) : 0; index < this.#slots.length; index++) {
      if (taken.length >= limit) return taken
      const slot = this.#slots[index] ?? 0
      if (passes(slot)) taken.push({ slot, position: this.#positionOf(slot) })
    }
    return taken
  }

  #firstAfter(position: Position): number {
    const index = this.#firstFrom(position)
    const slot = this.#slots[index]
    if (slot === undefined) return index
    return this.#compare(this.#positionOf(slot), position) === 0 ? index + 1 : index
  }

  #firstFrom(position: Position): number {
    let low = 0
    let high = this.#slots.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const order = this.#compare(this.#positionOf(this.#slots[middle] ?? 0), position)
      if (order < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}

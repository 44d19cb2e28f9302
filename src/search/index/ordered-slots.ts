import type { Position } from '../search-index.ts'
import type { ComparePositions, PositionedSlot } from './order.ts'

/** Slots of a block at most. A change moves those of one block, not all. */
const maxBlock = 4096

/** A place among the slots: the number of a block, and the index in it. */
type Place = readonly [block: number, index: number]

const start: Place = [0, 0]

/** Slots that stay in order through every change. */
export class OrderedSlots {
  readonly #compare: ComparePositions
  readonly #positionOf: (slot: number) => Position
  /** No block is empty. */
  readonly #blocks: number[][] = []

  /** `slots` is a saved order to restore. */
  constructor(
    compare: ComparePositions,
    positionOf: (slot: number) => Position,
    slots: Uint32Array = new Uint32Array(0),
  ) {
    this.#compare = compare
    this.#positionOf = positionOf
    for (let end = maxBlock; end < slots.length + maxBlock; end += maxBlock)
      this.#blocks.push(Array.from(slots.subarray(end - maxBlock, end)))
  }

  save(): Uint32Array {
    const slots = new Uint32Array(this.#blocks.reduce((sum, { length }) => sum + length, 0))
    let end = 0
    for (const block of this.#blocks) {
      slots.set(block, end)
      end += block.length
    }
    return slots
  }

  add(slot: number): void {
    const [number, index] = this.#firstFrom(this.#positionOf(slot))
    const block = this.#blocks[number]
    if (!block) {
      this.#blocks.push([slot])
      return
    }
    block.splice(index, 0, slot)
    if (block.length > maxBlock) this.#blocks.splice(number + 1, 0, block.splice(maxBlock / 2))
  }

  /** The slot must still have the position with which it was added. */
  remove(slot: number): void {
    const [number, index] = this.#firstFrom(this.#positionOf(slot))
    const block = this.#blocks[number]
    block?.splice(index, 1)
    if (block?.length === 0) this.#blocks.splice(number, 1)
  }

  /** The first `limit` slots after a position for which `passes` holds, in order. */
  take(limit: number, after: Position | undefined, passes: (slot: number) => boolean): PositionedSlot[] {
    const taken: PositionedSlot[] = []
    let [number, index] = after ? this.#firstAfter(after) : start
    for (; number < this.#blocks.length; number++, index = 0) {
      const block = this.#blocks[number] ?? []
      for (; index < block.length; index++) {
        if (taken.length >= limit) return taken
        const slot = block[index] ?? 0
        if (passes(slot)) taken.push({ slot, position: this.#positionOf(slot) })
      }
    }
    return taken
  }

  #firstAfter(position: Position): Place {
    const [number, index] = this.#firstFrom(position)
    const slot = this.#blocks[number]?.[index]
    const isThere = slot !== undefined && this.#compare(this.#positionOf(slot), position) === 0
    return [number, isThere ? index + 1 : index]
  }

  /** The place of the first slot that does not come before a position; at the end of the last block if there is none. */
  #firstFrom(position: Position): Place {
    const isBefore = (slot = 0) => this.#compare(this.#positionOf(slot), position) < 0
    const blocks = this.#blocks
    const found = firstIndex(blocks.length, (index) => isBefore(blocks[index]?.at(-1)))
    const number = Math.max(0, Math.min(found, blocks.length - 1))
    const block = blocks[number] ?? []
    return [number, firstIndex(block.length, (index) => isBefore(block[index]))]
  }
}

/** The first index for which `isBefore` does not hold; it holds for those before. */
function firstIndex(length: number, isBefore: (index: number) => boolean): number {
  let low = 0
  let high = length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBefore(middle)) low = middle + 1
    else high = middle
  }
  return low
}

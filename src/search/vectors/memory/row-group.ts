import { type MemoryLayout, slabRows } from './layout.ts'
import { type ErrorBounds, noBounds, writeRow } from './quantise.ts'
import type { Slabs } from './slabs.ts'

export interface Slab {
  readonly address: number
  /** The slot of the entry at each index. */
  readonly slots: Uint32Array
}

/**
 * The entries with the same number of vectors, without gaps. Each entry has a position; the last entry moves into the
 * position of a removed one.
 */
export class RowGroup {
  /** Vectors of each entry. */
  readonly width: number
  readonly slabs: Slab[] = []
  size: number
  readonly #perSlab: number
  readonly #pool: Slabs
  readonly #layout: MemoryLayout

  constructor(width: number, pool: Slabs, layout: MemoryLayout, size = 0) {
    this.width = width
    this.size = size
    this.#perSlab = Math.floor(slabRows / width)
    this.#pool = pool
    this.#layout = layout
  }

  /** Takes slabs for as many entries as the group has, and their slots; their vectors are not written yet. */
  restore(slots: Uint32Array): void {
    for (let start = 0; start < slots.length; start += this.#perSlab) {
      const own = new Uint32Array(this.#perSlab)
      own.set(slots.subarray(start, start + this.#perSlab))
      this.slabs.push({ address: this.#pool.take(), slots: own })
    }
  }

  /** Number of slabs that this number of entries fills. */
  slabsFor(size: number): number {
    return Math.ceil(size / this.#perSlab)
  }

  /** Number of entries in the slab with this number. */
  entriesIn(slab: number): number {
    return Math.min(this.size - slab * this.#perSlab, this.#perSlab)
  }

  /** The slot of each entry, by position. */
  *entrySlots(): Generator<number> {
    for (const [number, { slots }] of this.slabs.entries()) yield* slots.subarray(0, this.entriesIn(number))
  }

  /** The slab of a position, the index within the slab and its first row. */
  at(position: number): { readonly slab: Slab; readonly index: number; readonly row: number } {
    const slab = this.slabs[Math.floor(position / this.#perSlab)]
    if (!slab) throw new RangeError(`There is no position ${position}.`)
    const index = position % this.#perSlab
    return { slab, index, row: index * this.width }
  }

  /** Returns a position for the entry; its vectors are not written yet. */
  add(slot: number): number {
    const position = this.size
    if (position === this.slabs.length * this.#perSlab)
      this.slabs.push({ address: this.#pool.take(), slots: new Uint32Array(this.#perSlab) })
    this.size++
    const { slab, index } = this.at(position)
    slab.slots[index] = slot
    return position
  }

  write(position: number, vectors: readonly Float32Array[]): ErrorBounds {
    const { slab, row } = this.at(position)
    let bounds: ErrorBounds = noBounds
    vectors.forEach((vector, number) => {
      const written = writeRow(this.#pool.views, this.#layout, slab.address, row + number, vector)
      bounds = widest(bounds, written)
    })
    return bounds
  }

  /** Returns the slot of the entry that moved to this position, if one did. */
  remove(position: number): number | undefined {
    const last = this.size - 1
    const moved = position === last ? undefined : this.#move(last, position)
    this.size = last
    if (this.slabsFor(last) === this.slabs.length) return moved
    const emptied = this.slabs.pop()
    if (emptied) this.#pool.give(emptied.address)
    return moved
  }

  #move(from: number, to: number): number {
    const { highs, lows, scales, centers, residuals } = this.#layout.slab
    const { codeBytes, halfBytes } = this.#layout
    const [source, target] = [this.at(from), this.at(to)]
    const copy = (section: number, rowBytes: number) => {
      const start = source.slab.address + section + source.row * rowBytes
      const targetStart = target.slab.address + section + target.row * rowBytes
      this.#pool.views.bytes.copyWithin(targetStart, start, start + this.width * rowBytes)
    }
    copy(highs, halfBytes)
    copy(lows, halfBytes)
    copy(scales, 4)
    copy(centers, 4)
    copy(residuals, codeBytes)
    const slot = source.slab.slots[source.index] ?? 0
    target.slab.slots[target.index] = slot
    return slot
  }
}

export function widest(left: ErrorBounds, right: ErrorBounds): ErrorBounds {
  return {
    spread: Math.max(left.spread, right.spread),
    longest: Math.max(left.longest, right.longest),
    lows: Math.max(left.lows, right.lows),
  }
}

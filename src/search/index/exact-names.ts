import { hash } from 'node:crypto'

/** 64 bits of the hash of an exact name: the first half finds slots, both halves tell names apart. */
export type NameHash = readonly [first: number, second: number]

/** Slots by the hashes of their exact names: the names themselves would take five times the memory. */
export class ExactNames {
  /** Most names have one slot. Keys are signed: larger integers would take memory of their own. */
  readonly #slots = new Map<number, number | number[]>()

  /** The slots of names with the same first half. */
  at(first: number): readonly number[] {
    const slots = this.#slots.get(first | 0) ?? []
    return typeof slots === 'number' ? [slots] : slots
  }

  add(first: number, slot: number): void {
    const slots = this.#slots.get(first | 0)
    if (slots === undefined) this.#slots.set(first | 0, slot)
    else if (typeof slots === 'number') this.#slots.set(first | 0, [slots, slot])
    else slots.push(slot)
  }

  /** The slot must be there. */
  remove(first: number, slot: number): void {
    const slots = this.#slots.get(first | 0)
    if (typeof slots === 'object' && slots.length > 1) slots.splice(slots.indexOf(slot), 1)
    else this.#slots.delete(first | 0)
  }
}

/** Nobody finds another name with the same hash, so nobody takes the rank of an exact name by one. */
export function hashOf(exactName: string): NameHash {
  const bytes = hash('sha256', exactName, 'buffer')
  return [bytes.readUInt32LE(0), bytes.readUInt32LE(4)]
}

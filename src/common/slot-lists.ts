/** Slots by key, in the order of their addition. Most keys have one slot, for which a list would take ten times the memory. */
export class SlotLists<Key> {
  readonly #slots = new Map<Key, number | number[]>()

  at(key: Key): readonly number[] {
    const slots = this.#slots.get(key) ?? []
    return typeof slots === 'number' ? [slots] : slots
  }

  add(key: Key, slot: number): void {
    const slots = this.#slots.get(key)
    if (slots === undefined) this.#slots.set(key, slot)
    else if (typeof slots === 'number') this.#slots.set(key, [slots, slot])
    else slots.push(slot)
  }

  /** The slot must be there. */
  remove(key: Key, slot: number): void {
    const slots = this.#slots.get(key)
    if (typeof slots === 'object' && slots.length > 1) slots.splice(slots.indexOf(slot), 1)
    else this.#slots.delete(key)
  }
}

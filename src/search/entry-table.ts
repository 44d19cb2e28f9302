import { AttributeIndex } from './attribute-index.ts'
import { orders } from './order.ts'
import { OrderedSlots } from './ordered-slots.ts'
import type { Position, SearchDocument } from './search-index.ts'
import { type IndexedText, TextIndex } from './text-index.ts'

export interface TableEntry {
  readonly document: SearchDocument
  readonly text: IndexedText
  readonly newest: Position
  readonly name: Position
}

/** The live entries, each in a slot of its own, with everything that is derived from them kept in step. */
export class EntryTable {
  readonly texts = new TextIndex()
  readonly attributes = new AttributeIndex()
  readonly ordered = {
    newest: new OrderedSlots(orders.newest, (slot) => this.at(slot).newest),
    name: new OrderedSlots(orders.name, (slot) => this.at(slot).name),
  }
  readonly #entries: (TableEntry | undefined)[] = []
  readonly #slots = new Map<string, number>()
  readonly #free: number[] = []

  /** Every slot in use is below it. */
  get capacity(): number {
    return this.#entries.length
  }

  at(slot: number): TableEntry {
    const entry = this.#entries[slot]
    if (!entry) throw new RangeError(`Slot ${slot} is empty.`)
    return entry
  }

  add(document: SearchDocument): void {
    const { id, name, created_at } = document
    const slot = this.#free.pop() ?? this.#entries.length
    this.#slots.set(id, slot)
    this.#entries[slot] = {
      document,
      text: this.texts.add(slot, document),
      newest: { key: Date.parse(created_at), id },
      name: { key: name, id },
    }
    this.attributes.add(slot, document)
    this.ordered.newest.add(slot)
    this.ordered.name.add(slot)
  }

  /** Does nothing when there is no such entry. */
  remove(id: string): void {
    const slot = this.#slots.get(id)
    if (slot === undefined) return
    const { document, text } = this.at(slot)
    this.ordered.newest.remove(slot)
    this.ordered.name.remove(slot)
    this.attributes.remove(slot, document)
    this.texts.remove(slot, text)
    this.#entries[slot] = undefined
    this.#slots.delete(id)
    this.#free.push(slot)
  }
}

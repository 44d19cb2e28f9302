import { untilAborted } from '../../common/abort.ts'
import type { Pieces, Sections } from '../../common/sections.ts'
import { inSlices } from '../../common/time-slices.ts'
import type { Position, SearchDocument } from '../search-index.ts'
import { AgentGroups } from './agent-groups.ts'
import { AttributeIndex } from './attribute-index.ts'
import type { DocumentTerms } from './document-terms.ts'
import { NameIndex } from './name-index.ts'
import { orders } from './order.ts'
import { OrderedSlots } from './ordered-slots.ts'
import { weightOf } from './score-weights.ts'
import { type StoredDocument, StoredDocuments } from './stored-documents.ts'
import { TextIndex } from './text-index.ts'

/** The live entries, each in its own slot, with all data derived from them. */
export class DocumentTable {
  texts = new TextIndex()
  readonly attributes = new AttributeIndex()
  ordered = this.#order()
  #documents = new StoredDocuments()
  readonly #slots = new Map<string, number>()
  /** Factors of scores by slot. */
  readonly weights: number[] = []
  readonly groups = new AgentGroups((slot) => this.at(slot))
  /** The names of the listed entries. */
  readonly names = new NameIndex(
    (slot) => this.at(slot),
    (slot) => this.weights[slot] ?? 1,
  )
  readonly #free: number[] = []

  /** Restores what `save` returned. Throws for other content; ends early, with a part of it, when the signal aborts. */
  static async load(sections: Sections, signal: AbortSignal): Promise<DocumentTable> {
    const table = new DocumentTable()
    table.texts = await TextIndex.load(sections)
    const documents = await StoredDocuments.load(sections, 'documents')
    table.#documents = documents
    await inSlices(untilAborted(signal, Array(documents.length).keys()), (slot) => {
      const document = documents.find(slot)
      if (document) table.#index(slot, document)
      else table.#free.push(slot)
    })
    table.ordered = table.#order(
      await sections.integers('order.newest'),
      await sections.integers('order.name'),
    )
    return table
  }

  *save(): Pieces {
    yield* this.texts.save()
    yield* this.#documents.save('documents')
    yield ['order.newest', this.ordered.newest.save()]
    yield ['order.name', this.ordered.name.save()]
  }

  /** Exceeds every slot in use. */
  get capacity(): number {
    return this.#documents.length
  }

  slotOf(id: string): number | undefined {
    return this.#slots.get(id)
  }

  at(slot: number): StoredDocument {
    return this.#documents.at(slot)
  }

  /** `read` is what `readDocument` gave for the document, if that is at hand. */
  add(document: SearchDocument, read?: DocumentTerms): void {
    const slot = this.#free.pop() ?? this.#documents.length
    this.texts.add(slot, document, read)
    this.#documents.set(slot, document)
    this.#index(slot, this.at(slot))
    this.ordered.newest.add(slot)
    this.ordered.name.add(slot)
  }

  /** Has no effect for an unknown id. */
  remove(id: string): void {
    const slot = this.#slots.get(id)
    if (slot === undefined) return
    const document = this.at(slot)
    this.ordered.newest.remove(slot)
    this.ordered.name.remove(slot)
    this.attributes.remove(slot, document)
    this.texts.remove(slot)
    this.names.remove(slot)
    this.groups.remove(slot, document)
    this.#documents.delete(slot)
    this.#slots.delete(id)
    this.#free.push(slot)
  }

  #index(slot: number, document: StoredDocument): void {
    this.#slots.set(document.id, slot)
    this.attributes.add(slot, document)
    this.weights[slot] = weightOf(document)
    this.groups.add(slot, document)
    if (document.state === 'ACTIVE') this.names.add(slot)
  }

  #order(newest?: Uint32Array, name?: Uint32Array) {
    const positionBy = (keyOf: (document: StoredDocument) => Position['key']) => (slot: number) => {
      const document = this.at(slot)
      return { key: keyOf(document), tie: document.tie, id: document.id }
    }
    return {
      newest: new OrderedSlots(
        orders.newest,
        positionBy(({ created }) => created),
        newest,
      ),
      name: new OrderedSlots(
        orders.name,
        positionBy(({ name }) => name),
        name,
      ),
    }
  }
}

import { listedValues } from '../../../schemas/entry-fields.ts'
import { jsonArrays, jsonPieces } from '../../common/pieces.ts'
import type { Pieces, Sections } from '../../common/sections.ts'
import type { Position, SearchDocument } from '../search-index.ts'
import { AgentGroups } from './agent-groups.ts'
import { AttributeIndex, type IndexedAttributes } from './attribute-index.ts'
import type { DocumentTerms } from './document-terms.ts'
import { NameIndex } from './name-index.ts'
import { orders, tieOf } from './order.ts'
import { OrderedSlots } from './ordered-slots.ts'
import { type WeighedStatus, weightOf } from './score-weights.ts'
import { TextIndex } from './text-index.ts'

/** The stored part of a document, without its terms. */
export interface StoredDocument extends IndexedAttributes, WeighedStatus {
  readonly id: string
  readonly name: string
  readonly package_name: string
  /** Orders it among equals. */
  readonly tie: string
  /** Milliseconds since the epoch. */
  readonly created: number
  /** The names of the capabilities. */
  readonly capabilities: readonly string[]
  readonly source?: string
  readonly agent_keys?: readonly string[]
}

/** Documents in one piece of a snapshot. */
const savedDocuments = 200

/** The live entries, each in its own slot, with all data derived from them. */
export class DocumentTable {
  texts = new TextIndex()
  readonly attributes = new AttributeIndex()
  ordered = this.#order()
  readonly #documents: (StoredDocument | undefined)[] = []
  readonly #slots = new Map<string, number>()
  /** Factors of scores by slot. */
  readonly weights: number[] = []
  readonly groups = new AgentGroups()
  /** The names of the listed entries. */
  readonly names = new NameIndex((slot) => this.weights[slot] ?? 1)
  readonly #free: number[] = []

  /** Restores what `save` returned. Throws for other content. */
  static async load(sections: Sections): Promise<DocumentTable> {
    const table = new DocumentTable()
    table.texts = await TextIndex.load(sections)
    for await (const documents of jsonArrays<StoredDocument | null>(sections, 'documents')) {
      for (const document of documents) {
        const slot = table.#documents.length
        if (document) table.#put(slot, document)
        else {
          table.#documents.push(undefined)
          table.#free.push(slot)
        }
      }
    }
    table.ordered = table.#order(
      await sections.integers('order.newest'),
      await sections.integers('order.name'),
    )
    return table
  }

  *save(): Pieces {
    yield* this.texts.save()
    yield* jsonPieces(
      'documents',
      this.#documents.values().map((document) => document ?? null),
      savedDocuments,
    )
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
    const document = this.#documents[slot]
    if (!document) throw new RangeError(`Slot ${slot} is empty.`)
    return document
  }

  /** `read` is what `readDocument` gave for the document, if that is at hand. */
  add(document: SearchDocument, read?: DocumentTerms): void {
    const slot = this.#free.pop() ?? this.#documents.length
    this.texts.add(slot, document, read)
    this.#put(slot, toStored(document))
    this.ordered.newest.add(slot)
    this.ordered.name.add(slot)
  }

  /** Has no effect for an unknown id. */
  remove(id: string): void {
    const slot = this.#slots.get(id)
    if (slot === undefined) return
    this.ordered.newest.remove(slot)
    this.ordered.name.remove(slot)
    this.attributes.remove(slot, this.at(slot))
    this.texts.remove(slot)
    this.names.remove(slot)
    this.#documents[slot] = undefined
    this.#slots.delete(id)
    this.groups.remove(slot)
    this.#free.push(slot)
  }

  #put(slot: number, document: StoredDocument): void {
    this.#documents[slot] = document
    this.#slots.set(document.id, slot)
    this.attributes.add(slot, document)
    this.weights[slot] = weightOf(document)
    this.groups.add(slot, { source: document.source, keys: document.agent_keys })
    if (document.state === 'ACTIVE') this.names.add(slot, document)
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

function toStored(document: SearchDocument): StoredDocument {
  const { id, name, package_name, created_at, state, owner, capabilities } = document
  const { liveness, callable, protocol, publisher, deprecated, imitates_name } = document
  const { package_types = [], verification_level } = document
  const { source, agent_keys = [] } = document
  return {
    id,
    name,
    package_name,
    tie: tieOf(document),
    created: Date.parse(created_at),
    state,
    owner,
    ...listedValues(document),
    ...(liveness && { liveness }),
    ...(callable && { callable }),
    ...(protocol && { protocol }),
    ...(publisher && { publisher }),
    ...(package_types.length > 0 && { package_types }),
    ...(verification_level && { verification_level }),
    ...(deprecated && { deprecated }),
    ...(imitates_name && { imitates_name }),
    ...(source !== undefined && agent_keys.length > 0 && { source, agent_keys }),
    capabilities: capabilities.map((capability) => capability.name),
  }
}

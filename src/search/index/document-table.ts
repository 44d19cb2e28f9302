import { listedValues } from '../../../schemas/entry-fields.ts'
import { joinDoubles, joinIntegers, partOf } from '../../common/ragged.ts'
import type { Parts, Sections } from '../../common/sections.ts'
import type { Position, SearchDocument } from '../search-index.ts'
import { AgentGroups } from './agent-groups.ts'
import { AttributeIndex, type IndexedAttributes } from './attribute-index.ts'
import type { DocumentTerms } from './document-terms.ts'
import { type Named, NameIndex } from './name-index.ts'
import { orders, tieOf } from './order.ts'
import { OrderedSlots } from './ordered-slots.ts'
import { type WeighedStatus, weightOf } from './score-weights.ts'
import { type IndexedText, TextIndex } from './text-index.ts'

/** The stored part of a document, without its terms. */
interface StoredDocument extends IndexedAttributes, WeighedStatus {
  readonly id: string
  readonly name: string
  readonly package_name: string
  /** Orders it among equals. */
  readonly tie: string
  readonly created_at: string
  /** The names of the capabilities. */
  readonly capabilities: readonly string[]
  readonly source?: string
  readonly agent_keys?: readonly string[]
}

export interface TableEntry {
  readonly document: StoredDocument
  readonly text: IndexedText
  readonly newest: Position
  readonly name: Position
}

/** The live entries, each in its own slot, with all data derived from them. */
export class DocumentTable {
  texts = new TextIndex()
  readonly attributes = new AttributeIndex()
  ordered = this.#order()
  #entries: (TableEntry | undefined)[] = []
  readonly #slots = new Map<string, number>()
  /** Factors of scores by slot; slots with the factor 1 are absent. */
  readonly weights = new Map<number, number>()
  readonly groups = new AgentGroups()
  /** The names of the listed entries. */
  readonly names = new NameIndex()
  readonly #free: number[] = []

  /** Restores the parts that `save` returned. Throws for other content. */
  static load(sections: Sections): DocumentTable {
    const table = new DocumentTable()
    table.texts = TextIndex.load(sections)
    const documents = JSON.parse(sections.text('documents')) as (StoredDocument | null)[]
    const lengths = sections.integers('lengths')
    const ragged = (name: string) => ({
      values: sections.integers(name),
      ends: sections.integers(`${name}.ends`),
    })
    const terms = ragged('document.terms')
    const names = ragged('document.names')
    const words = ragged('document.words')
    const pairs = {
      values: sections.doubles('document.pairs'),
      ends: sections.integers('document.pairs.ends'),
    }
    table.#entries = documents.map((document, slot) => {
      if (!document) {
        table.#free.push(slot)
        return undefined
      }
      // Views are made on demand, which is rare: making them all at the start would cost more than the rest
      // of the start.
      const text: IndexedText = {
        length: lengths[slot] ?? 0,
        counts: document.state === 'ACTIVE',
        get terms() {
          return partOf(terms, slot)
        },
        get names() {
          return partOf(names, slot)
        },
        get capabilities() {
          return partOf(pairs, slot)
        },
        get words() {
          return partOf(words, slot)
        },
      }
      table.#slots.set(document.id, slot)
      table.#weigh(slot, document)
      table.attributes.add(slot, document)
      table.#group(slot, document)
      table.#name(slot, document)
      return entryOf(document, text)
    })
    table.ordered = table.#order(sections.integers('order.newest'), sections.integers('order.name'))
    return table
  }

  save(): Parts {
    const none = new Uint32Array(0)
    const terms = joinIntegers(this.#entries.map((entry) => entry?.text.terms ?? none))
    const names = joinIntegers(this.#entries.map((entry) => entry?.text.names ?? none))
    const words = joinIntegers(this.#entries.map((entry) => entry?.text.words ?? none))
    const pairs = joinDoubles(this.#entries.map((entry) => entry?.text.capabilities ?? new Float64Array(0)))
    return {
      ...this.texts.save(),
      documents: JSON.stringify(this.#entries.map((entry) => entry?.document ?? null)),
      'document.terms': terms.values,
      'document.terms.ends': terms.ends,
      'document.names': names.values,
      'document.names.ends': names.ends,
      'document.words': words.values,
      'document.words.ends': words.ends,
      'document.pairs': pairs.values,
      'document.pairs.ends': pairs.ends,
      'order.newest': this.ordered.newest.save(),
      'order.name': this.ordered.name.save(),
    }
  }

  /** Exceeds every slot in use. */
  get capacity(): number {
    return this.#entries.length
  }

  slotOf(id: string): number | undefined {
    return this.#slots.get(id)
  }

  at(slot: number): TableEntry {
    const entry = this.#entries[slot]
    if (!entry) throw new RangeError(`Slot ${slot} is empty.`)
    return entry
  }

  /** `read` is what `readDocument` gave for the document, if that is at hand. */
  add(document: SearchDocument, read?: DocumentTerms): void {
    const slot = this.#free.pop() ?? this.#entries.length
    this.#slots.set(document.id, slot)
    this.#entries[slot] = entryOf(toStored(document), this.texts.add(slot, document, read))
    this.attributes.add(slot, document)
    this.#weigh(slot, document)
    this.#group(slot, document)
    this.#name(slot, document)
    this.ordered.newest.add(slot)
    this.ordered.name.add(slot)
  }

  /** Has no effect for an unknown id. */
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
    this.weights.delete(slot)
    this.groups.remove(slot)
    this.names.remove(slot)
    this.#free.push(slot)
  }

  #group(slot: number, { source, agent_keys }: Pick<SearchDocument, 'source' | 'agent_keys'>): void {
    this.groups.add(slot, { source, keys: agent_keys })
  }

  #name(slot: number, document: Named & Pick<SearchDocument, 'state'>): void {
    if (document.state === 'ACTIVE') this.names.add(slot, document, this.weights.get(slot) ?? 1)
  }

  #weigh(slot: number, status: WeighedStatus): void {
    const weight = weightOf(status)
    if (weight < 1) this.weights.set(slot, weight)
  }

  #order(newest?: Uint32Array, name?: Uint32Array) {
    return {
      newest: new OrderedSlots(orders.newest, (slot) => this.at(slot).newest, newest),
      name: new OrderedSlots(orders.name, (slot) => this.at(slot).name, name),
    }
  }
}

function entryOf(document: StoredDocument, text: IndexedText): TableEntry {
  const { id, name, tie, created_at } = document
  return { document, text, newest: { key: Date.parse(created_at), tie, id }, name: { key: name, tie, id } }
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
    created_at,
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

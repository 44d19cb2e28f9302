import { LRUCache } from 'lru-cache'
import { indexedFields, mapFields } from '../../../schemas/entry-fields.ts'
import { IntegerLists } from '../../common/integer-lists.ts'
import { upTo } from '../../common/lru.ts'
import type { Pieces, Sections } from '../../common/sections.ts'
import type { IndexedAttributes } from './attribute-index.ts'
import { tieOf } from './order.ts'
import type { WeighedStatus } from './score-weights.ts'

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

/** A document without what follows from its other parts. */
export type DocumentFacts = Omit<StoredDocument, 'tie'>

/** The order of the parts in JSON: their names would take as much memory as they do. */
const parts = Object.keys({
  id: true,
  name: true,
  package_name: true,
  created: true,
  state: true,
  owner: true,
  ...mapFields(indexedFields, () => true as const),
  liveness: true,
  callable: true,
  protocol: true,
  publisher: true,
  package_types: true,
  verification_level: true,
  deprecated: true,
  imitates_name: true,
  source: true,
  agent_keys: true,
  capabilities: true,
} satisfies Record<keyof DocumentFacts, true>) as (keyof DocumentFacts)[]

/** Parts that are null where a document has none; the others are absent there. */
const nullable: ReadonlySet<keyof DocumentFacts> = new Set(['owner', ...indexedFields])

/** Documents that were read last: a page of results reads each several times. */
const remembered = 5000

/** Documents by slot, as JSON in pages of bytes: objects would take three times the memory. */
export class StoredDocuments {
  /** One more than the highest slot that was ever used. */
  length = 0
  #packed = new IntegerLists()
  readonly #read = new LRUCache<number, StoredDocument>(upTo(remembered))

  /** Restores what `save` returned. */
  static async load(sections: Sections, part: string): Promise<StoredDocuments> {
    const documents = new StoredDocuments()
    documents.#packed = await IntegerLists.load(sections, part)
    documents.length = documents.#packed.length
    return documents
  }

  save(part: string): Pieces {
    return this.#packed.save(part)
  }

  /** Throws RangeError for an empty slot. */
  at(slot: number): StoredDocument {
    const cached = this.#read.get(slot)
    if (cached) return cached
    const document = this.find(slot)
    if (!document) throw new RangeError(`Slot ${slot} is empty.`)
    this.#read.set(slot, document)
    return document
  }

  /** Reads the document anew, for a pass over all; undefined for an empty slot. */
  find(slot: number): StoredDocument | undefined {
    const packed = this.#packed.at(slot)
    if (packed.length === 0) return undefined
    const facts = fromValues(JSON.parse(decode(packed)))
    return { ...facts, tie: tieOf(facts) }
  }

  set(slot: number, facts: DocumentFacts): void {
    this.#read.delete(slot)
    this.#packed.set(slot, encode(JSON.stringify(parts.map((part) => facts[part]))))
    this.length = Math.max(this.length, slot + 1)
  }

  delete(slot: number): void {
    this.#read.delete(slot)
    this.#packed.delete(slot)
  }
}

function fromValues(values: readonly unknown[]): DocumentFacts {
  const facts: Record<string, unknown> = {}
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at] as keyof DocumentFacts
    const value = values[at]
    if (value !== null || nullable.has(part)) facts[part] = value
  }
  return facts as unknown as DocumentFacts
}

/** The bytes of a JSON text, with spaces up to a whole number of integers. */
function encode(json: string): Uint32Array {
  const bytes = new Uint8Array(Math.ceil(Buffer.byteLength(json) / 4) * 4).fill(space)
  Buffer.from(bytes.buffer).write(json)
  return new Uint32Array(bytes.buffer)
}

function decode({ buffer, byteOffset, byteLength }: Uint32Array): string {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength).toString()
}

const space = 0x20

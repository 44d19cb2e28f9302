import { LRUCache } from 'lru-cache'
import { attributeFields } from '../../../schemas/entry-fields.ts'
import { IntegerLists } from '../../common/integer-lists.ts'
import { upTo } from '../../common/lru.ts'
import type { Pieces, Sections } from '../../common/sections.ts'
import type { SearchDocument } from '../search-index.ts'
import { tieOf } from './order.ts'

/** The parts of a document that are stored as they are. */
const copied = [
  'id',
  'name',
  'package_name',
  ...attributeFields,
  'liveness',
  'imitates_name',
  'source',
  'agent_keys',
] as const satisfies readonly (keyof SearchDocument)[]

/** The stored part of a document, without its terms. */
export interface StoredDocument extends Pick<SearchDocument, (typeof copied)[number]> {
  /** Orders it among equals. */
  readonly tie: string
  /** Milliseconds since the epoch. */
  readonly created: number
  /** The names of the capabilities. */
  readonly capabilities: readonly string[]
}

/** The order of the parts in JSON: their names would take as much memory as they do. */
const parts = [...copied, 'created', 'capabilities'] as const

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

  set(slot: number, document: SearchDocument): void {
    this.#read.delete(slot)
    const { created_at, capabilities } = document
    const names = capabilities.map(({ name }) => name)
    const values = [...copied.map((part) => document[part]), Date.parse(created_at), names]
    this.#packed.set(slot, encode(JSON.stringify(values)))
    this.length = Math.max(this.length, slot + 1)
  }

  delete(slot: number): void {
    this.#read.delete(slot)
    this.#packed.delete(slot)
  }
}

type Facts = Omit<StoredDocument, 'tie'>

/** A loop, since each start runs it for every document. */
function fromValues(values: readonly unknown[]): Facts {
  const facts: Record<string, unknown> = {}
  for (let at = 0; at < parts.length; at++) facts[parts[at] as string] = values[at]
  return facts as unknown as Facts
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

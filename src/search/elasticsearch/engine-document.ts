import { hash } from 'node:crypto'
import { attributeFields } from '../../../schemas/entry-fields.ts'
import type { JsonObject } from '../../../schemas/json.ts'
import { valuesOf } from '../index/attribute-index.ts'
import { type DocumentTerms, readDocument } from '../index/document-terms.ts'
import { exactNamesOf } from '../index/exact-names.ts'
import { foldedName, gramLength, maxCharacters } from '../index/name-index.ts'
import { tieOf } from '../index/order.ts'
import { weightOf } from '../index/score-weights.ts'
import type { SearchDocument } from '../search-index.ts'
import { isSpellable } from '../spelling/word-list.ts'

/** Raise it after a change of the terms of a document: they are then in an index of their own. */
const format = 9

const keyword = { type: 'keyword' }
const words = { type: 'text', analyzer: 'whitespace', norms: false, index_options: 'docs' }

/** The mapping of entries. */
export const engineProperties: JsonObject = {
  document: { type: 'object', enabled: false },
  // The first text has the terms of the entry, each as often as it weighs, the others those of one capability each.
  terms: { type: 'text', analyzer: 'whitespace', index_options: 'freqs' },
  length: { type: 'integer' },
  own_words: { type: 'keyword', index: false, doc_values: false },
  names: keyword,
  words,
  id: keyword,
  newest: { type: 'long' },
  name: keyword,
  tie: keyword,
  values: { properties: Object.fromEntries(attributeFields.map((name) => [name, keyword])) },
  completion: {
    properties: { name: keyword, words: keyword, grams: keyword, rank: { type: 'long' } },
  },
}

/** What no search reads. */
export const unreadFields = ['names', 'words', 'id', 'values', 'completion']

/** Names the form of the documents: each form has an index of its own. */
export const engineForm = hash('sha256', JSON.stringify([format, engineProperties])).slice(0, 8)

/** The part of a document that a search reads. */
export interface EngineDocument {
  readonly document: SearchDocument
  readonly terms: readonly string[]
  readonly length: number
  /** With spaces between them. */
  readonly own_words: string
}

/** Maximum beginnings of the words of a name. */
const maxWords = 50

/** An entry as the engine stores it: with our own terms, so that it finds what the index in memory finds. */
export function toEngineDocument(document: SearchDocument): JsonObject {
  const read = readDocument(document)
  const { id, name, created_at, capabilities, state } = document
  const stored = {
    ...document,
    description: '',
    capabilities: capabilities.map((capability) => ({ name: capability.name, description: '' })),
  }
  const values: Record<string, string[]> = {}
  for (const [attribute, value] of valuesOf(document)) {
    const list = values[attribute] ?? []
    values[attribute] = list
    list.push(value)
  }
  return {
    document: stored as unknown as JsonObject,
    terms: textsOf(read),
    length: read.length,
    own_words: [...read.own_words].join(' '),
    names: [...exactNamesOf(document)],
    // Only what is listed corrects queries.
    words: state === 'ACTIVE' ? [...read.words].filter(isSpellable).join(' ') : '',
    id,
    newest: Date.parse(created_at),
    name,
    tie: tieOf(document),
    values,
    ...(state === 'ACTIVE' && { completion: completionOf(document) }),
  }
}

/** The own words of a stored document and its terms that are relevant, as `readDocument` gave them. */
export function termsOfStored(
  { terms, length, own_words }: EngineDocument,
  relevant: ReadonlySet<string>,
): DocumentTerms {
  const frequencies = new Map<string, number>()
  const read = terms.map((text) => {
    const found = text.split(' ').filter((term) => relevant.has(term))
    for (const term of found) frequencies.set(term, (frequencies.get(term) ?? 0) + 1)
    return new Set(found)
  })
  const words = new Set(own_words.split(' '))
  return { frequencies, length, capabilities: read.slice(1), words, own_words: words }
}

function textsOf({ frequencies, capabilities }: DocumentTerms): string[] {
  const own = new Map(frequencies)
  for (const terms of capabilities) for (const term of terms) own.set(term, (own.get(term) ?? 0) - 1)
  const repeated = [...own].flatMap(([term, frequency]) =>
    new Array<string>(Math.max(0, frequency)).fill(term),
  )
  return [repeated.join(' '), ...capabilities.map((terms) => [...terms].join(' '))]
}

function completionOf(document: SearchDocument): JsonObject {
  const { name, package_name, rank } = foldedName(document, weightOf(document))
  const starts = [...name.matchAll(/ /g)].slice(0, maxWords).map(({ index }) => name.slice(index + 1))
  const grams = new Set([name, package_name].flatMap(gramsOf))
  const beginning = (text: string) => text.slice(0, maxCharacters)
  return { name: beginning(name), words: starts.map(beginning), grams: [...grams], rank }
}

/** The parts of three characters of a folded text. */
export function gramsOf(text: string): string[] {
  return Array.from({ length: Math.max(0, text.length - gramLength + 1) }, (_, at) =>
    text.slice(at, at + gramLength),
  )
}

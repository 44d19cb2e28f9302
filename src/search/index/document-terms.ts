import { absencesOf } from '../query/absences.ts'
import { analyse } from '../query/analyse.ts'
import { directionsOf, endsOf } from '../query/directions.ts'
import type { SearchDocument } from '../search-index.ts'
import { isSpellable } from '../spelling/word-list.ts'

/** A document as the text index stores it. */
export interface DocumentTerms {
  /** Frequency of each term, weighted by the fields in which it occurs. */
  readonly frequencies: ReadonlyMap<string, number>
  /** Weighted number of terms that are not boilerplate. */
  readonly length: number
  /** The distinct terms of each capability. */
  readonly capabilities: readonly ReadonlySet<string>[]
  /** The words as they are written, in lower case, for the correction of queries. */
  readonly words: ReadonlySet<string>
  /** The first of them that are compared one by one in meaning, without those that only capabilities have. */
  readonly own_words: ReadonlySet<string>
}

/** A name weighs more than a text. The weights are integers, so that sums are exact in any order. */
export const nameWeight = 2
const textWeight = 1

/** Maximum characters of all texts of one document: characters cost time, distinct terms cost memory. */
const maxCharacters = 100_000
const maxTerms = 10_000

/** Shorter words tell little, or are names that a query has too. */
const leastLetters = 4
const maxOwnWords = 128

/** The form of a package: a scope or namespace, and a name. Entries without a title of their own are called so. */
const packageForm = /^@?[\w.-]+\/[\w.-]+$/
/** Labels of package names that state a registry, a top-level domain or a host of code, not what an agent does. */
const prefixes = /^(?:[^./]+\.(?:github|gitlab)\.(?:com\/)?|[^./]+\.)(?=.)/
/** A name under no domain and of no registry, such as `acme.weather`, begins with whose it is. */
const underNoDomain = /^(?!(?:..|com|org|net|dev|app|npm|pypi|docker|java|svc)\.)([^./]+)\.[^./]+$/

/**
 * Reads a document's fields, capabilities last, up to 100,000 characters and 10,000 distinct terms: a term counts once
 * in the name and the package name together. Namespaces, categories, publishers and licences are searchable text that
 * does not count in the length.
 */
export function readDocument(document: SearchDocument): DocumentTerms {
  const frequencies = new Map<string, number>()
  const words = new Set<string>()
  let length = 0
  let left = maxCharacters

  function count(term: string, weight: number, boilerplate: boolean): void {
    if (frequencies.size >= maxTerms && !frequencies.has(term)) return
    frequencies.set(term, (frequencies.get(term) ?? 0) + weight)
    if (!boilerplate) length += weight
  }

  /** Directions and absences are terms that count in no length: they only order what words and meaning have found. */
  function countOnly(terms: Iterable<string>, weight: number): void {
    for (const term of terms) count(term, weight, true)
  }

  function readName(text: string): void {
    const directions = [...directionsOf(text)]
    countOnly([...directions, ...directions.flatMap(endsOf)], nameWeight)
    analyse(text, (term, word, boilerplate) => {
      words.add(word)
      if (!frequencies.has(term)) count(term, nameWeight, boilerplate)
    })
  }

  function readText(text: string): Set<string> {
    const terms = new Set<string>()
    const piece = text.slice(0, left)
    left -= piece.length
    countOnly(directionsOf(piece), textWeight)
    countOnly(absencesOf(piece), textWeight)
    analyse(piece, (term, word, boilerplate) => {
      if (words.size < maxTerms) words.add(word)
      count(term, textWeight, boilerplate)
      if (frequencies.has(term)) terms.add(term)
    })
    return terms
  }

  const packaged = packageParts(document.package_name)
  readName(withoutNamespace(document.name))
  const own = length
  readName(packaged.name)
  const { category, publisher, license } = document
  const labels = [packaged.namespace, category, publisher?.replace(/\.[^.]*$/, ''), license]
  for (const label of labels) if (label) readText(label)
  length = own
  readText(document.description)
  for (const tag of document.tags) readText(tag)
  const comparable = [...words].filter((word) => word.length >= leastLetters && isSpellable(word))
  const own_words = new Set(comparable.slice(0, maxOwnWords))
  const capabilities = document.capabilities.map(({ name, description }) =>
    readText(`${name} ${description}`),
  )
  return { frequencies, length, capabilities, words, own_words }
}

/** What of a package name tells what an agent does, and whose it is: `npm.acme/mail` and `acme.mail` are `mail` of `acme`. */
export function packageParts(packageName: string): { namespace: string; name: string } {
  const own = packageName.replace(prefixes, '')
  const slash = own.indexOf('/')
  const [, holder = ''] = underNoDomain.exec(packageName) ?? []
  return { namespace: slash < 0 ? holder : own.slice(0, slash), name: own.slice(slash + 1) }
}

/** The name of an entry; of one that is called as a package is, the part after the namespace. */
export function withoutNamespace(name: string): string {
  return packageForm.test(name) ? packageParts(name).name : name
}

/** True for the namespace that a host of code has, such as `io.github`: everybody's names are in it. */
export function isCodeHost(namespace: string): boolean {
  return /^[^./]+\.(?:github|gitlab)(?:\.com)?$/.test(namespace)
}

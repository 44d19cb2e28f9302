import { readFileSync } from 'node:fs'
import { Failure } from '../../../schemas/failure.ts'
import type { QueryTerm } from './query-terms.ts'

/** Acronyms and synonyms, in both directions. */
export interface Synonyms {
  /** True for a term on the left of a line. */
  has(word: string): boolean
  /** What else a query with these terms is searched for, at most 8 texts, none of which it contains. */
  expand(query: string, terms: readonly QueryTerm[]): string[]
}

export const noSynonyms: Synonyms = { has: () => false, expand: () => [] }

const maxExpansions = 8
const maxLines = 10_000
const term = /^[\p{L}\p{N}][\p{L}\p{N}+#._-]*$/u

/**
 * Reads files of lines such as `ocr = optical character recognition, text recognition`; `#` begins a comment. A line
 * replaces the line with the same term of an earlier file; one without a right side removes it. Throws Failure
 * `not_configured`.
 */
export function readSynonyms(paths: readonly string[]): Synonyms {
  const all = new Map<string, readonly string[]>()
  for (const path of paths)
    for (const [short, long] of parse(path)) {
      if (long.length > 0) all.set(short, long)
      else all.delete(short)
    }
  return createSynonyms(all)
}

function createSynonyms(all: ReadonlyMap<string, readonly string[]>): Synonyms {
  /** Phrases by their first word, each with the terms that mean the same. */
  const phrases = new Map<string, { readonly phrase: string; readonly short: string }[]>()
  for (const [short, long] of all) {
    for (const phrase of long) {
      const [first = '', second] = phrase.split(' ')
      // One word says too little to stand for an acronym: "mail" is not IMAP.
      if (second !== undefined) phrases.set(first, [...(phrases.get(first) ?? []), { phrase, short }])
    }
  }
  return {
    has: (word) => all.has(word),
    expand(query, terms) {
      const found = new Set<string>()
      let isPhrase = false
      for (const { words } of terms)
        for (const word of words) {
          for (const long of all.get(word) ?? all.get(word.replaceAll('-', '')) ?? []) found.add(long)
          isPhrase ||= phrases.has(word)
        }
      if (found.size === 0 && !isPhrase) return []
      const words = wordsOf(query)
      const text = ` ${words.join(' ')} `
      for (const word of words)
        for (const { phrase, short } of phrases.get(word) ?? [])
          if (text.includes(` ${phrase} `)) found.add(short)
      return [...found].filter((other) => !text.includes(` ${other} `)).slice(0, maxExpansions)
    },
  }
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+(?:[+#]+)?/gu) ?? []
}

function parse(path: string): [string, string[]][] {
  const lines = read(path).split(/\r?\n/)
  if (lines.length > maxLines) throw faulty(path, `has more than ${maxLines} lines`)
  return lines.flatMap((line, at): [string, string[]][] => {
    if (line.trim() === '' || line.startsWith('#')) return []
    const [short = '', long, ...more] = line.split('=').map((part) => part.trim().toLowerCase())
    if (!term.test(short) || long === undefined || more.length > 0)
      throw faulty(path, `has a line, number ${at + 1}, that is not \`term = other words, other words\``)
    return [
      [
        short,
        long
          .split(',')
          .map((part) => part.trim())
          .filter((part) => part !== ''),
      ],
    ]
  })
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (fault) {
    throw faulty(path, 'cannot be read', fault)
  }
}

function faulty(path: string, what: string, cause?: unknown): Failure {
  return new Failure(
    'not_configured',
    `The list of synonyms ${path} ${what}.`,
    { hint: 'Correct DRAGOMAN_SYNONYMS.' },
    cause,
  )
}

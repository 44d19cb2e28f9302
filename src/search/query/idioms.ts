import { readFileSync } from 'node:fs'
import { stopWords } from './stop-words.ts'

interface Idiom {
  /** The words of the phrase but the first. */
  readonly rest: readonly string[]
  /** The words in its place. */
  readonly meant: string
}

interface Written {
  /** The form that is compared. */
  readonly word: string
  readonly start: number
  readonly end: number
}

const written = /[\p{L}\p{N}]+/gu
const articles = new Set(['a', 'an', 'the'])
const possessives = new Set(['our', 'your', 'his', 'her', 'their'])
/** After these, `s` is short for "is": "what's". */
const beforeIs = new Set(['what', 'who', 'where', 'when', 'how', 'it', 'that', 'there'])
const leastPlural = 4
const sentences = /[^.!?;\n]+(?:\.(?=\S)[^.!?;\n]*)*/g
/** A sentence is about a phrase that is such a share of its words, or of those that are no stop words. */
const leastShare = { all: 0.3, telling: 0.5 }

/**
 * Returns what puts the words in which agents describe something in place of the phrases in which people ask for it, of
 * which the longest counts. The file, read with the first text, has lines such as
 * `place to sleep, somewhere to stay > hotel accommodation`; `#` begins a comment.
 */
export function readIdioms(path: string): (text: string) => string {
  let idioms: ReadonlyMap<string, readonly Idiom[]> | undefined
  return (text) => {
    idioms ??= parse(readFileSync(path, 'utf8'))
    return restate(text, idioms)
  }
}

/** Idioms by their first word, the longest first. */
function parse(content: string): Map<string, Idiom[]> {
  const byFirst = new Map<string, Idiom[]>()
  for (const line of content.split('\n')) {
    const [phrases = '', meant] = line.split(' > ')
    if (line.startsWith('#') || meant === undefined) continue
    for (const phrase of phrases.split(', ')) {
      const [first = '', ...rest] = wordsOf(phrase).map(({ word }) => word)
      byFirst.set(first, [...(byFirst.get(first) ?? []), { rest, meant }])
    }
  }
  for (const idioms of byFirst.values()) idioms.sort((a, b) => b.rest.length - a.rest.length)
  return byFirst
}

function restate(text: string, idioms: ReadonlyMap<string, readonly Idiom[]>): string {
  return text.replace(sentences, (sentence) => restateSentence(sentence, idioms))
}

function restateSentence(text: string, idioms: ReadonlyMap<string, readonly Idiom[]>): string {
  const words = wordsOf(text)
  let restated = ''
  let end = 0
  let replaced = 0
  let others = 0
  for (let at = 0; at < words.length; at++) {
    const { word, start } = words[at] as Written
    const isNext = (next: string, index: number) => words[at + 1 + index]?.word === next
    const found = idioms.get(word)?.find(({ rest }) => rest.every(isNext))
    if (!found) {
      if (!stopWords.has(word)) others += 1
      continue
    }
    restated += `${text.slice(end, start)}${found.meant}`
    at += found.rest.length
    end = (words[at] as Written).end
    replaced += found.rest.length + 1
  }
  const isAbout =
    replaced >= leastShare.all * words.length || replaced >= leastShare.telling * (replaced + others)
  return isAbout ? restated + text.slice(end) : text
}

/** The words of a text without articles, with their places. */
function wordsOf(text: string): Written[] {
  const words: Written[] = []
  for (const { 0: form, index } of text.matchAll(written)) {
    const word = form.toLowerCase()
    if (articles.has(word)) continue
    const isShort = word === 's' && beforeIs.has(words.at(-1)?.word ?? '')
    words.push({ word: isShort ? 'is' : formOf(word), start: index, end: index + form.length })
  }
  return words
}

/** One form for all possessives, and for a noun and its plural. */
function formOf(word: string): string {
  if (possessives.has(word)) return 'my'
  return word.length >= leastPlural && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word
}

import type { Correction } from '../../../schemas/search.ts'
import type { QueryTerm } from '../query/query-terms.ts'
import { stopWords } from '../query/stop-words.ts'
import type { Dictionary } from './dictionary.ts'
import { type ModelWords, maxRank } from './model-words.ts'
import { isSpellable, type WordList } from './word-list.ts'

/** The words against which a query is corrected. */
interface Spelling {
  /** True for a word that is right although no entry has it. */
  isRight(word: string): boolean
  /** The term of a word in the index; undefined if no document that counts has a form of the word. */
  termOf(word: string): string | undefined
  readonly indexed: WordList
  readonly model?: ModelWords | undefined
  readonly dictionary?: Dictionary | undefined
}

interface Corrected {
  readonly text: string
  readonly corrections: readonly Correction[]
}

const minLetters = 4
/** Shorter words that only a list has are no bases of others: *wether* is no form of *WETH*. */
const minRightBase = 6
/** Maximum number of words of a query that are corrected, since each costs a search for similar words. */
const maxWords = 8
/** Maximum number of candidates for one word whose meaning is compared. */
const maxCandidates = 8
/** A word that only the dictionary has is a candidate for a word of so many letters, for one error. */
const minRare = 7
const maxRareCost = 1
/** Cost of a space that is missing or too much. */
const spaceCost = 1.2

/**
 * What a candidate gains by its frequency in the index, by its rank in the model, and by its closeness to the rest of
 * the query in meaning. Set on the development sets (docs/search.md).
 */
const gains = { indexed: 0.3, ranked: 0.3, meaning: 1 }
/** Gain less cost that a candidate needs beside known words, and without any. */
const minWorth = { beside: -1.6, alone: -1.3 }
/** Highest cost of a candidate where no model says which other words there are. */
const maxCostByIndex = 1

/** What stands between spaces and punctuation: a word, words joined by hyphens, an identifier, an address or a number. */
const tokens = /[\p{L}\p{M}\p{N}._/@:-]+/gu
const joinedByHyphens = /^[\p{L}\p{M}]+(?:-[\p{L}\p{M}]+)*(?=[.:]*$)/u

interface Written {
  readonly word: string
  readonly start: number
  readonly end: number
}

interface Candidate {
  readonly to: string
  readonly cost: number
  readonly gain: number
  /** Where the text is that it replaces. */
  readonly start: number
  readonly end: number
}

/**
 * Corrects the words of a query that neither the index nor the model knows. Returns undefined if there are none, or
 * none that is like a known word.
 */
export async function correct(
  text: string,
  spelling: Spelling,
  signal: AbortSignal,
): Promise<Corrected | undefined> {
  const words = wordsOf(text)
  const isShouted = !/\p{Ll}/u.test(text)
  const unknown = words
    .filter(({ word }) => (isShouted || !hasCapitalInside(word)) && !isKnown(word.toLowerCase(), spelling))
    .slice(0, maxWords)
  if (unknown.length === 0) return undefined
  const rest = restOf(text, unknown)
  const chosen: Candidate[] = []
  for (const item of unknown) {
    if (chosen.some(({ end }) => end > item.start)) continue
    const isName = !isShouted && isNameIn(text, item)
    const candidates = candidatesOf(item, words, isName ? { ...spelling, dictionary: undefined } : spelling)
    const likely = candidates.filter(
      ({ to, cost }) => (!isName || cost <= 1) && (rest !== '' || !stopWords.has(to)),
    )
    const best = await bestOf(likely, rest, spelling.model, signal)
    if (best) chosen.push(best)
  }
  if (chosen.length === 0) return undefined
  return {
    text: replaced(text, chosen),
    corrections: chosen.map(({ start, end, to }) => ({ from: text.slice(start, end), to })),
  }
}

/** The words of a text that are no part of an identifier, an address or a number. */
function wordsOf(text: string): Written[] {
  return [...text.matchAll(tokens)].flatMap(({ 0: token, index }) => {
    const [words = ''] = joinedByHyphens.exec(token) ?? []
    return [...words.matchAll(/[^-]+/g)].map(({ 0: word, index: at }) => ({
      word,
      start: index + at,
      end: index + at + word.length,
    }))
  })
}

/** True for identifiers and acronyms. */
function hasCapitalInside(word: string): boolean {
  return /\p{Lu}/u.test(word.slice(1))
}

/** True for a word with a capital within a sentence: *Radiohead* is no head of a radio. It may have one error. */
function isNameIn(text: string, { word, start }: Written): boolean {
  return /^\p{Lu}/u.test(word) && /[^\s.!?]\s*$/.test(text.slice(0, start))
}

/** True if a query may have a misspelt word: a cheap check of the words of its terms. */
export function mayHaveErrors(terms: readonly QueryTerm[], spelling: Spelling): boolean {
  for (const { words } of terms) for (const word of words) if (!isKnown(word, spelling)) return true
  return false
}

/** True for a word that is not corrected: one that the index or the model has, or a regular form of it. */
function isKnown(word: string, { indexed, model, isRight }: Spelling): boolean {
  const has = (form: string) => indexed.countOf(form) > 0 || (model?.list.countOf(form) ?? 0) > 0
  if (word.length < minLetters || has(word) || isRight(word) || stopWords.has(word)) return true
  if (!isSpellable(word)) return true
  return basesOf(word).some((base) => has(base) || (base.length >= minRightBase && isRight(base)))
}

const endings = /(?:s|es|ed|ing|ers?|est|ly)$/
/** A consonant after a single vowel that is doubled before an ending: the `p` of `stopped`. */
const doubling = /(?<![aeiou])([aeiou])([^aeiou])\2(?:ed|ing|ers?|est)$/

/** Beginnings that make a word of another of at least five letters: *undefined*, *reorder*. */
const prefix = /^(?:un|re|pre|non|mis|dis|over|under|multi|micro|auto|sub)(?=.{5})/

/** The words of which a word may be a regular form. */
function basesOf(word: string): string[] {
  const whole = word.replace(prefix, '')
  return whole === word
    ? formsWithoutEnding(word)
    : [...formsWithoutEnding(word), whole, ...formsWithoutEnding(whole)]
}

function formsWithoutEnding(word: string): string[] {
  const base = word.replace(endings, '')
  // Without an ending there is no `e` that it took: `generat` is no form of `generate`.
  if (base === word) return []
  const doubled = doubling.test(word) ? base.slice(0, -1) : word
  return [base, word.replace(/s$/, ''), `${base}e`, doubled, base.replace(/i$/, 'y')].filter(
    (form) => form !== word && form.length >= minLetters,
  )
}

/**
 * What an index must count for the correction of a text with these unknown words, in lower case: the words and the
 * regular forms, parts and joined forms of them. Empty if none can be corrected.
 */
export function formsOf(text: string, unknown: readonly string[]): string[] {
  const spellable = unknown.filter((word) => word.length >= minLetters && isSpellable(word))
  if (spellable.length === 0) return []
  const words = wordsOf(text).map(({ word }) => word.toLowerCase())
  const joins = words.slice(1).map((word, at) => `${words[at]}${word}`)
  const parts = spellable.flatMap((word) =>
    Array.from({ length: Math.max(0, word.length - 3) }, (_, at) => [
      word.slice(0, at + 2),
      word.slice(at + 2),
    ]),
  )
  return [...new Set([...spellable, ...spellable.flatMap(basesOf), ...joins, ...parts.flat()])]
}

function candidatesOf(item: Written, words: readonly Written[], spelling: Spelling): Candidate[] {
  const { start, end } = item
  const word = item.word.toLowerCase()
  const limit = Math.min(limitOf(word.length), spelling.model ? Number.POSITIVE_INFINITY : maxCostByIndex)
  const rare = word.length < minRare ? undefined : spelling.dictionary
  const near = [
    ...spelling.indexed.near(word, limit),
    ...(spelling.model?.list.near(word, limit) ?? []),
    ...(rare?.near(word, Math.min(limit, maxRareCost)) ?? []),
  ]
  const costs = new Map(near.map(({ word: to, cost }) => [to, cost]))
  const term = spelling.termOf(word)
  const similar = meantBy(word, [...costs], term, spelling).map(([to, cost]) => ({
    to,
    cost,
    gain: gainOf(to, spelling),
    start,
    end,
  }))
  const apart = term === undefined ? [...splitsOf(item, spelling), ...joinsOf(item, words, spelling)] : []
  return [...similar, ...apart]
    .sort((left, other) => other.gain - other.cost - (left.gain - left.cost) || (left.to < other.to ? -1 : 1))
    .slice(0, maxCandidates)
}

/**
 * Of similar words and their costs, those that may be meant. A word of which the index has another form is a misspelling
 * of such a form, unless others are twice as near: *recipies* is nearer to *recipes* than to *recipients*, whose term it shares.
 */
function meantBy(
  word: string,
  similar: readonly [to: string, cost: number][],
  term: string | undefined,
  spelling: Spelling,
): readonly [to: string, cost: number][] {
  if (term === undefined) return similar
  const isForm = (to: string) => spelling.termOf(to) === term && !basesOf(to).includes(word)
  const nearest = Math.min(...similar.filter(([to]) => isForm(to)).map(([, cost]) => cost))
  return similar.filter(([to, cost]) => 2 * cost <= nearest || isForm(to))
}

/** The errors of a word may cost so much, about one in a short word and two in a long one. */
function limitOf(length: number): number {
  if (length < 5) return 1
  return length < 8 ? 1.6 : 2.3
}

function gainOf(word: string, { indexed, model }: Spelling): number {
  const ranked = (model?.list.countOf(word) ?? 0) / maxRank
  return gains.indexed * Math.log10(1 + indexed.countOf(word)) + gains.ranked * ranked
}

function splitsOf({ word, start, end }: Written, spelling: Spelling): Candidate[] {
  const lower = word.toLowerCase()
  return Array.from({ length: Math.max(0, lower.length - 3) }, (_, at) => at + 2).flatMap((at) => {
    const parts = [lower.slice(0, at), lower.slice(at)]
    if (!parts.every((part) => isPart(part, spelling))) return []
    const gain = Math.min(...parts.map((part) => (stopWords.has(part) ? 1 : gainOf(part, spelling))))
    return { to: parts.join(' '), cost: spaceCost, gain, start, end }
  })
}

/** The part of a split word must be a word of its own: short letters are found in every word. */
function isPart(part: string, { indexed }: Spelling): boolean {
  if (part.length < minLetters - 1) return stopWords.has(part)
  return indexed.countOf(part) > 1 || (part.length >= minLetters && stopWords.has(part))
}

/** The word together with the word before or after it. */
function joinsOf(item: Written, words: readonly Written[], spelling: Spelling): Candidate[] {
  const at = words.indexOf(item)
  const pairs = [words.slice(at - 1, at + 1), words.slice(at, at + 2)]
  return pairs.flatMap(([left, right]) => {
    if (!left || !right || right.start - left.end !== 1) return []
    const to = `${left.word}${right.word}`.toLowerCase()
    if (spelling.indexed.countOf(to) === 0) return []
    return { to, cost: spaceCost, gain: gainOf(to, spelling), start: left.start, end: right.end }
  })
}

async function bestOf(
  candidates: readonly Candidate[],
  rest: string,
  model: ModelWords | undefined,
  signal: AbortSignal,
): Promise<Candidate | undefined> {
  if (candidates.length === 0) return undefined
  const words = candidates.map(({ to }) => to)
  const closeness = model && rest !== '' ? await model.closeness(rest, words, signal) : []
  const worthOf = (at: number) => {
    const { gain, cost } = candidates[at] as Candidate
    return gain - cost + gains.meaning * (closeness[at] ?? 0)
  }
  const order = candidates.map((_, at) => at).sort((left, other) => worthOf(other) - worthOf(left))
  const best = order[0] ?? 0
  return worthOf(best) < (rest === '' ? minWorth.alone : minWorth.beside) ? undefined : candidates[best]
}

function restOf(text: string, unknown: readonly Written[]): string {
  return replaced(
    text,
    unknown.map(({ start, end }) => ({ start, end, to: ' ' })),
  ).trim()
}

function replaced(
  text: string,
  parts: readonly { readonly start: number; readonly end: number; readonly to: string }[],
): string {
  let end = 0
  const before = parts.map((part) => {
    const between = text.slice(end, part.start)
    end = part.end
    return `${between}${part.to}`
  })
  return `${before.join('')}${text.slice(end)}`
}

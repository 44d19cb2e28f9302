import { Failure } from '../../../../schemas/failure.ts'
import { createLexicon, type Dictionary } from './dictionary.ts'
import { readFacts, readTable, type Table } from './table.ts'
import { createWordReader, type Word } from './word-reader.ts'
import { latin, normalise, type Writing } from './writing.ts'

/** A text in which words of other languages than English were found. */
export interface Reading {
  /** Rows of the table of languages, one for each piece that was found. */
  readonly rows: readonly number[]
  /** The other words of the text, which the English table reads, and the translations of those in the dictionary. */
  readonly rest: string
  /** Letters in words of other languages, and those of them that belong to a known piece. */
  readonly letters: number
  readonly covered: number
  /**
   * The text with each word of another language replaced by its nearest English words, where it has some. Those of
   * `without`, folded, are left out.
   */
  english(without?: ReadonlySet<string>): string
}

/** Vectors of words and pieces of words of other languages, in the space of the English table. */
export interface Languages {
  readonly table: Table
  /** Undefined if the text is English. */
  read(text: string): Reading | undefined
}

/** Bytes of `facts.bin` for each piece: how foreign it is, in twentieths, and two English words, 0 for none. */
const factBytes = 5
const oddsUnit = 20
/** A text is foreign if the logarithms of the odds of its Latin words sum to at least this. */
const minForeign = 1
/** A word that is English with more certainty is English in every text. */
const maxEnglish = -2.5
const oddsOfEnglish = -2
const oddsOfForeign = 2
/** Of a word that the dictionary has, without a row of its own, and that tells the language of a text alone. */
const oddsOfFunctionWord = 5
const oddsOfEndingOfName = 3
/** Of a listed word that is English too. */
const oddsOfShared = -1
/** The English vocabulary begins with the frequent words: after so many come names and rare words. */
const frequentWords = 6000
/** A Latin word without a row of its own is split only if its pieces cover this share of it. */
const minCovered = 0.6
/** A Latin word is a compound if pieces of so many letters and odds cover this share of it, the last one with more of both. */
const compound = { covered: 0.9, letters: 4, odds: 1, lastLetters: 5, lastOdds: 2.5 }
const wholeWords = /[\p{L}\p{M}]+/gu
/** An ending of Turkish after a name, as in "Berlin'e" and "YouTube'dan". */
const endingOfName = /(?<=\p{L})['’](?:[dt][ae]n?|[yn]?[aeiıuü]|n?[iıuü]n)(?!\p{L})/u

/**
 * Reads the table of languages in `folder`; the words of the dictionary are read as their translations. Throws Failure
 * `unavailable`, which names the file at fault.
 */
export async function readLanguages(
  folder: string,
  english: Table,
  dictionary: Dictionary,
): Promise<Languages> {
  const table = await readTable(folder)
  if (table.dimensions !== english.dimensions)
    throw new Failure('unavailable', `The table of languages in ${folder} does not fit the English table.`)
  const isEnglish = (word: string) => english.pieces.idOf(word) !== -1
  const lexicon = createLexicon(table.pieces, dictionary, isEnglish)
  const { sizeOf, isTranslated } = lexicon
  const wordsIn = createWordReader(lexicon, isEnglish)
  const facts = new DataView((await readFacts(folder, factBytes * table.pieces.count)).buffer)

  /** A word of another language as its pieces, and the letters of it that they cover. */
  interface Cut {
    readonly word: Word
    readonly ids: readonly number[]
    readonly covered: number
  }

  /** The pieces of a word of which each is a word, such as *Bild* and *Bearbeitung*; undefined for other words. */
  function partsOf({ bytes, script, id }: Word): readonly number[] | undefined {
    if (script !== latin || id !== -1) return undefined
    const { ids, covered } = piecesOf(bytes, compound.letters)
    const last = ids.at(-1)
    if (last === undefined || ids.length < 2 || covered < compound.covered * bytes.length) return undefined
    const isHead =
      sizeOf(last) >= compound.lastLetters &&
      (isTranslated(last) || oddsOfId(last) >= compound.lastOdds) &&
      !isEnglish(lexicon.textOf(last))
    return isHead && ids.every((part) => oddsOfId(part) >= compound.odds) ? ids : undefined
  }

  /** The logarithm of the odds that a piece is not English. English words have no accents. */
  function oddsOfId(id: number, accented = false): number {
    const row = lexicon.rowOf(id)
    if (row !== -1) return facts.getInt8(factBytes * row) / oddsUnit
    const rank = accented ? -1 : english.pieces.idOf(lexicon.textOf(id))
    if (!lexicon.isFunctionWord(id)) return rank === -1 ? oddsOfForeign : oddsOfShared
    if (rank === -1) return oddsOfFunctionWord
    return rank > frequentWords ? oddsOfForeign : oddsOfShared
  }

  /** The logarithm of the odds that a Latin word is not English. One that is only like a listed word may be a name. */
  function oddsOf(word: Word, { accented, names }: Writing): number {
    const { text, id } = word
    if (text.length === 1 && lexicon.rowOf(id) === -1) return oddsOfShared
    const isAccented = accented.has(text)
    const isInflected = isTranslated(id) && lexicon.textOf(id) !== text
    if (id !== -1) return isInflected ? 0 : oddsOfId(id, isAccented)
    if (isEnglish(text)) return names.has(text) ? 0 : oddsOfEnglish
    return isAccented || partsOf(word) ? oddsOfForeign : 0
  }

  /** The longest pieces from each position on that have at least so many bytes, and the bytes that they cover. */
  function piecesOf(bytes: Uint8Array, least: number): { ids: number[]; covered: number } {
    const ids: number[] = []
    let covered = 0
    for (let start = 0; start < bytes.length; ) {
      const id = lexicon.longest(bytes, start)
      const size = id === -1 ? 0 : sizeOf(id)
      if (size > 0 && size >= least) {
        ids.push(id)
        covered += size
        start += size
      } else start += sizeOfCharacter(bytes[start] as number)
    }
    return { ids, covered }
  }

  /** False for a word that has pieces only within it, which tell less: *mappe* has *app*. */
  function startsWithPiece(bytes: Uint8Array): boolean {
    const id = lexicon.longest(bytes, 0)
    return id !== -1 && sizeOf(id) >= latin.least
  }

  /** The pieces of a word, the longest first from each position on; undefined for an English word. */
  function cut(word: Word): Cut | undefined {
    const { bytes, script, id } = word
    if (id !== -1) {
      const isCertain = script === latin && oddsOfId(id) < maxEnglish
      return isCertain ? undefined : { word, ids: [id], covered: word.text.length }
    }
    if (script === latin && (isEnglish(word.text) || !startsWithPiece(bytes))) return undefined
    const { ids, covered } = piecesOf(bytes, script.least)
    const share = covered / bytes.length
    return script === latin && share < minCovered
      ? undefined
      : { word, ids, covered: share * word.text.length }
  }

  /**
   * The English words of the pieces that make up the greater part of a word, of the words of a compound, or of any piece
   * of an unspaced text. A Latin word that the English table lacks, and that is rather English by its odds, has none and
   * stands for itself: *JavaScript*, *Docker*.
   */
  function glossesOf(
    { word, ids }: Cut,
    accented: boolean,
    translations: ReadonlyMap<number, string>,
  ): string {
    const { text, bytes, script, id } = word
    const isShared = script === latin && isEnglish(text)
    if (isShared && id !== -1 && !isTranslated(id) && oddsOfId(id) < 0) return ''
    const isForeign = script !== latin || accented || isShared
    const isTelling = (id: number) =>
      (id === word.id || sizeOf(id) >= minCovered * bytes.length) && (isForeign || oddsOfId(id) >= 0)
    const telling = script.least === 0 ? ids : (partsOf(word) ?? ids.filter(isTelling))
    return [
      ...new Set(telling.flatMap((id) => translations.get(id) ?? nearestWords(lexicon.rowOf(id)))),
    ].join(' ')
  }

  function nearestWords(row: number): string[] {
    const ids = [1, 3].map((offset) => facts.getUint16(factBytes * row + offset, true))
    return ids.flatMap((id) => (id === 0 ? [] : english.pieces.textOf(id)))
  }

  /** The logarithm of the odds that a text with these words is not English; each different word counts once. */
  function oddsOfAll(found: readonly Word[], writing: Writing): number {
    const different = new Map(found.map((word) => [word.text, word]))
    return [...different.values()]
      .filter(({ script }) => script === latin)
      .reduce(
        (total, word) => total + oddsOf(word, writing),
        endingOfName.test(writing.normal) ? oddsOfEndingOfName : 0,
      )
  }

  /** A text with something in the place of each word that was cut. */
  function replaceIn(
    text: string,
    cuts: readonly Cut[],
    replacementOf: (part: Cut) => string,
    changed = (between: string) => between,
  ): string {
    let [replaced, end] = ['', 0]
    for (const part of cuts) {
      replaced += `${changed(text.slice(end, part.word.start))} ${replacementOf(part)} `
      end = part.word.end
    }
    return replaced + changed(text.slice(end))
  }

  return {
    table,
    read(text) {
      const writing = normalise(text)
      const { normal, accented } = writing
      const found = wordsIn(normal)
      const isForeign = oddsOfAll(found, writing) >= minForeign
      const cuts = found.flatMap((word) => (isForeign || word.script !== latin ? (cut(word) ?? []) : []))
      if (cuts.length === 0) return undefined
      const ids = cuts.flatMap((part) => part.ids)
      const translations = lexicon.translate(ids)
      // Such as the name of a product, *Jest*.
      if (ids.every((id) => translations.get(id) === '')) return undefined
      return {
        rows: ids.filter((id) => !translations.has(id)).map(lexicon.rowOf),
        rest: replaceIn(normal, cuts, (part) =>
          part.ids.flatMap((id) => translations.get(id) ?? []).join(' '),
        ),
        letters: cuts.reduce((total, { word }) => total + word.text.length, 0),
        covered: cuts.reduce((total, part) => total + part.covered, 0),
        english(without = new Set()) {
          const glosses = (part: Cut) => {
            const { text, id } = part.word
            const translation = translations.get(id)
            // "To" says what is converted into what.
            if (translation === 'to' || translation === 'from') return translation
            if (translation === '' || without.has(text)) return ''
            return glossesOf(part, accented.has(text), translations) || text
          }
          return replaceIn(normal, cuts, glosses, (between) =>
            between.replace(wholeWords, (word) => (without.has(word) ? '' : word)),
          )
        },
      }
    },
  }
}

function sizeOfCharacter(first: number): number {
  if (first < 0x80) return 1
  if (first < 0xe0) return 2
  return first < 0xf0 ? 3 : 4
}

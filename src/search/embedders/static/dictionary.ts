import { wordLines } from '../../../common/word-lines.ts'
import { createPieceIndex, type PieceIndex } from './piece-index.ts'

/** Words of other languages. */
export interface Dictionary {
  readonly words: PieceIndex
  /** The translations of a word by its id. */
  translationsOf(id: number): readonly Translation[]
}

interface Translation {
  readonly language: string
  /** Empty for a word that says nothing of what is asked for. */
  readonly english: string
}

/** The pieces of a table and the words of a dictionary, which count where both have one. */
export interface Lexicon {
  /** The id of a piece; -1 if there is none. */
  idOf(piece: string): number
  /** The id of the longest piece from a byte of a word on; -1 if there is none. */
  longest(word: Uint8Array, from: number): number
  sizeOf(id: number): number
  textOf(id: number): string
  /** The row that the table has for a piece; -1 if it has none. */
  rowOf(id: number): number
  /** False for a piece that the table alone has. */
  isTranslated(id: number): boolean
  /** True for a word without which no sentence of its language does, such as an article or a preposition. */
  isFunctionWord(id: number): boolean
  /**
   * Translates pieces of one text: out of the languages that have the most of them, or out of the others what those, the
   * table and English lack. A piece without a translation is for the table to tell.
   */
  translate(ids: readonly number[]): ReadonlyMap<number, string>
}

const encoder = new TextEncoder()

/** Stands for no English, before the words of a request that say nothing of what is asked for. */
const nothing = '-'
const ofFunctionWords: ReadonlySet<string> = new Set(['', 'to', 'from'])

/**
 * Reads the lines of a language, by its name, such as `invoice = factura, facturas` and `- = un, para`; `#` begins a
 * comment. `normalise` brings a text into the form that is compared.
 */
export function parseDictionary(
  files: ReadonlyMap<string, Buffer>,
  normalise: (text: string) => string,
): Dictionary {
  const ids = new Map<string, number>()
  // Lists, the last translation of a word first: an object for each would take 40 MB.
  const all: Translation[] = []
  const places: number[] = []
  const earlier: number[] = []
  const last: number[] = []
  for (const [language, content] of files) {
    for (const [english, words] of wordLines(normalise(content.toString()))) {
      const place = all.push({ language, english: english === nothing ? '' : english }) - 1
      for (const word of words) {
        const id = ids.get(word) ?? ids.size
        ids.set(word, id)
        if (places[last[id] ?? -1] === place) continue
        earlier.push(last[id] ?? -1)
        last[id] = places.push(place) - 1
      }
    }
  }
  return {
    words: createPieceIndex(encoder.encode(`${[...ids.keys()].join('\n')}\n`), ids.size),
    translationsOf(id) {
      const found: Translation[] = []
      for (let at = last[id] ?? -1; at !== -1; at = earlier[at] as number)
        found.unshift(all[places[at] as number] as Translation)
      return found
    },
  }
}

/** `isEnglish` tells the words that English has too. */
export function createLexicon(
  table: PieceIndex,
  { words, translationsOf }: Dictionary,
  isEnglish: (word: string) => boolean,
): Lexicon {
  const first = table.count
  const sizeOf = (id: number) => (id < first ? table.sizes[id] : words.sizes[id - first]) ?? 0
  const textOf = (id: number) => (id < first ? table.textOf(id) : words.textOf(id - first))
  const rowOf = (id: number) => (id < first ? id : table.idOf(textOf(id)))
  return {
    idOf(piece) {
      const own = words.idOf(piece)
      return own === -1 ? table.idOf(piece) : first + own
    },
    longest(word, from) {
      const row = table.longest(word, from, word.length, false)
      const own = words.longest(word, from, word.length, false)
      if (own === -1) return row
      return row !== -1 && sizeOf(row) > sizeOf(first + own) ? row : first + own
    },
    sizeOf,
    textOf,
    rowOf,
    isTranslated: (id) => id >= first,
    isFunctionWord: (id) =>
      id >= first && translationsOf(id - first).some(({ english }) => ofFunctionWords.has(english)),
    translate(ids) {
      const found = new Map(ids.filter((id) => id >= first).map((id) => [id, translationsOf(id - first)]))
      const counts = new Map<string, number>()
      for (const translations of found.values())
        for (const language of new Set(translations.map(({ language }) => language)))
          counts.set(language, (counts.get(language) ?? 0) + 1)
      const most = Math.max(0, ...counts.values())
      const isLikely = ({ language }: Translation) => counts.get(language) === most
      /** A word that says nothing in one of its meanings mostly has that one. */
      const join = (translations: readonly Translation[]) =>
        translations.some(({ english }) => english === '')
          ? ''
          : [...new Set(translations.map(({ english }) => english))].join(' ')
      return new Map(
        [...found].flatMap(([id, translations]) => {
          const likely = translations.filter(isLikely)
          if (likely.length > 0) return [[id, join(likely)] as const]
          if (rowOf(id) !== -1) return []
          const word = textOf(id)
          return [[id, isEnglish(word) ? word : join(translations)] as const]
        }),
      )
    },
  }
}

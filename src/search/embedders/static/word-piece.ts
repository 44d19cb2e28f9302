import { apart, blank, counted, createCodePoints, english, gone, pointBits, several } from './code-points.ts'
import type { PieceIndex } from './piece-index.ts'
import { Word } from './word.ts'

export const unknownPiece = '[UNK]'

/** Pieces that the reference recognises as a whole in the raw text, at any position. */
const special = ['[PAD]', unknownPiece, '[CLS]', '[SEP]', '[MASK]']
/** Upper bound for the pieces of a word. */
const maxPiecesOfWord = 100

interface Pieces {
  readonly ids: Int32Array
  /** Letters and digits of the text, as far as it was read. */
  readonly letters: number
  /**
   * Share of the letters and digits that are Latin or ASCII and belong to a piece that is a whole word or has at least
   * 3 characters; 0 for a text without such letters and digits.
   */
  readonly coverage: number
}

/** Splits a text into word pieces, without [CLS] and [SEP]. */
type WordPiece = (text: string) => Pieces

/**
 * BERT's uncased tokeniser, equal to the reference's `tokenizer.json` except for characters newer than the reference's
 * Unicode 8. Reads no further than `maxPieces` need, in linear time.
 */
export function createWordPiece(index: PieceIndex, maxPieces = 254): WordPiece {
  const { readings, expansions, read } = createCodePoints()
  const unknown = index.idOf(unknownPiece)
  const specialIds = special.map((piece) => ({ piece, id: index.idOf(piece) })).filter(({ id }) => id !== -1)

  const word = new Word()
  /** Includes space for the word that exceeds the limit, and for the punctuation that ends it. */
  const ids = new Int32Array(maxPieces + maxPiecesOfWord + 1)
  let count = 0
  let letters = 0
  let covered = 0

  function readText(text: string): void {
    for (let position = 0; position < text.length && count < maxPieces; ) {
      let code = text.charCodeAt(position)
      if (code === 0x5b) {
        const taken = addSpecial(text, position)
        position += taken
        if (taken > 0) continue
      }
      if ((code & 0xf800) === 0xd800) code = text.codePointAt(position) as number
      position += code > 0xffff ? 2 : 1
      addReading(readings[code] || read(code))
    }
    if (count < maxPieces) endWord()
  }

  /** Adds the special piece at `start` and returns its length; 0 if there is none. */
  function addSpecial(text: string, start: number): number {
    const found = specialIds.find(({ piece }) => text.startsWith(piece, start))
    if (found === undefined) return 0
    endWord()
    ids[count++] = found.id
    letters += found.piece.length - 2
    return found.piece.length
  }

  function addReading(reading: number): void {
    if ((reading & counted) !== 0) letters++
    if ((reading & gone) !== 0) return
    if ((reading & (blank | apart)) !== 0) endWord()
    if ((reading & blank) !== 0) return
    if ((reading & several) !== 0) {
      for (const point of expansions[reading & pointBits] as Int32Array) word.add(point, false)
    } else word.add(reading & pointBits, (reading & english) !== 0)
    if ((reading & apart) !== 0) endWord()
  }

  function endWord(): void {
    if (word.length === 0) return
    if (word.tooLong || !cutWord()) ids[count++] = unknown
    word.clear()
  }

  /** Splits the word greedily, longest piece first. Returns false, and adds nothing, if no pieces cover the word. */
  function cutWord(): boolean {
    const before = count
    let coveredInWord = 0
    for (let start = 0; start < word.size; ) {
      const id = index.longest(word.bytes, start, word.size)
      if (id === -1) {
        count = before
        return false
      }
      ids[count++] = id
      const end = start + (index.sizes[id] as number)
      coveredInWord += word.coveredIn(start, end)
      start = end
    }
    covered += coveredInWord
    return true
  }

  return (text) => {
    count = letters = covered = 0
    readText(text)
    return {
      ids: ids.slice(0, Math.min(count, maxPieces)),
      letters,
      coverage: letters === 0 ? 0 : covered / letters,
    }
  }
}

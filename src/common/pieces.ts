import type { Pieces, Sections } from './sections.ts'

/** Integers in a piece: taking them from an index blocks the event loop for some 3 ms. */
const pieceIntegers = 2 ** 16

/** A part with these integers. The piece is overwritten once it has been taken. */
export function* integerPieces(part: string, integers: Iterable<number>): Pieces {
  const piece = new Uint32Array(pieceIntegers)
  let end = 0
  for (const integer of integers) {
    piece[end++] = integer
    if (end < pieceIntegers) continue
    yield [part, piece]
    end = 0
  }
  yield [part, piece.subarray(0, end)]
}

/** A part with a JSON array of at most `size` items in each piece: no text has them all. */
export function* jsonPieces(part: string, items: Iterable<unknown>, size: number): Pieces {
  let piece: unknown[] = []
  for (const item of items) {
    piece.push(item)
    if (piece.length < size) continue
    yield [part, JSON.stringify(piece)]
    piece = []
  }
  yield [part, JSON.stringify(piece)]
}

/** The arrays of `jsonPieces`. */
export async function* jsonArrays<T>(sections: Sections, part: string): AsyncGenerator<T[]> {
  for await (const text of sections.texts(part)) yield JSON.parse(text)
}

import type { Pieces, Sections } from './sections.ts'

/** Integers in a piece: 1 MiB. */
export const pieceIntegers = 2 ** 18

/** A part with the values of an item each. The piece is overwritten once it has been taken. */
export function* integerPieces<T>(part: string, items: Iterable<T>, integerOf: (item: T) => number): Pieces {
  const piece = new Uint32Array(pieceIntegers)
  let end = 0
  for (const item of items) {
    piece[end++] = integerOf(item)
    if (end < pieceIntegers) continue
    yield [part, piece]
    end = 0
  }
  yield [part, piece.subarray(0, end)]
}

/** A part with all integers of these arrays. The piece is overwritten once it has been taken. */
export function* joinedPieces(part: string, arrays: Iterable<Uint32Array>): Pieces {
  const piece = new Uint32Array(pieceIntegers)
  let end = 0
  for (const array of arrays) {
    for (let done = 0; done < array.length; ) {
      const size = Math.min(array.length - done, pieceIntegers - end)
      piece.set(array.subarray(done, done + size), end)
      end += size
      done += size
      if (end < pieceIntegers) continue
      yield [part, piece]
      end = 0
    }
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

/** Frequent sequences of pieces; number j is feature `pieces + j`. */
export interface Sequences {
  /** Number of distinct sequences. */
  readonly count: number
  /** The features of pieces: each piece, and each sequence that ends at it. A view that the next call overwrites. */
  find(ids: Int32Array): Int32Array
}

/** Sequence j occurs where the piece `pairs[2j + 1]` follows the feature `pairs[2j]`, a piece or an earlier sequence. */
export function createSequences(pairs: Int32Array, pieces: number): Sequences {
  const byPair = new Map<number, number>()
  const lengths = new Uint32Array(pairs.length / 2)
  /** Maximum length of a sequence in pieces, which is also the maximum number of features that end at one piece. */
  let maxLength = 1
  for (let j = 0; j < lengths.length; j++) {
    const left = pairs[2 * j] as number
    const length = left < pieces ? 2 : (lengths[left - pieces] as number) + 1
    lengths[j] = length
    maxLength = Math.max(maxLength, length)
    byPair.set(left * pieces + (pairs[2 * j + 1] as number), pieces + j)
  }
  let features = new Int32Array(256 * maxLength)

  return {
    count: byPair.size,
    find(ids) {
      if (features.length < ids.length * maxLength) features = new Int32Array(2 * ids.length * maxLength)
      let count = 0
      let before = 0
      for (const piece of ids) {
        const start = count
        features[count++] = piece
        for (let left = before; left < start; left++) {
          const feature = byPair.get((features[left] as number) * pieces + piece)
          if (feature !== undefined) features[count++] = feature
        }
        before = start
      }
      return features.subarray(0, count)
    },
  }
}

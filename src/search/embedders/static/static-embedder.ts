import { hash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Embedder, TextEmbedding } from '../embedder.ts'
import { readTable, type Table } from './table.ts'
import { createWordPiece, unknownPiece } from './word-piece.ts'

/** The limit of the teacher model, 256, without its [CLS] and [SEP]. */
const maxPieces = 254
/** Time after which a batch yields to the event loop. */
const sliceMilliseconds = 5

/**
 * An embedder that sums the vectors of a text's word pieces and sequences of pieces, from the table in `folder`.
 * Throws Failure `unavailable` if a file of the table is missing or contradicts its manifest.
 */
export async function createStaticEmbedder(folder: string): Promise<Embedder> {
  const table = await readTable(folder)
  const embedOne = createEmbedOne(table)
  return {
    model: `${table.name}:${hash('sha256', table.hashes.join('\n')).slice(0, 12)}`,
    dimensions: table.dimensions,
    words: table.words,
    async embed(texts, _as, signal) {
      signal.throwIfAborted()
      const embeddings: TextEmbedding[] = []
      let sliceEnd = performance.now() + sliceMilliseconds
      for (const text of texts) {
        if (performance.now() > sliceEnd) {
          await setImmediate()
          signal.throwIfAborted()
          sliceEnd = performance.now() + sliceMilliseconds
        }
        embeddings.push(embedOne(text))
      }
      return embeddings
    },
    async [Symbol.asyncDispose]() {},
  }
}

function createEmbedOne({
  pieces,
  dimensions,
  sequences,
  rows,
  scales,
}: Table): (text: string) => TextEmbedding {
  const cut = createWordPiece(pieces, maxPieces)
  const unknown = pieces.idOf(unknownPiece)
  const weights = scales.with(unknown, 0)
  const sum = new Float64Array(dimensions)

  /** Adds four rows at a time, so that the sum is read and written a quarter as often. */
  function addRows(a: number, b: number, c: number, d: number): void {
    const [rowA, rowB, rowC, rowD] = [a * dimensions, b * dimensions, c * dimensions, d * dimensions]
    const weightA = weights[a] as number
    const weightB = weights[b] as number
    const weightC = weights[c] as number
    const weightD = weights[d] as number
    for (let index = 0; index < dimensions; index++)
      sum[index] =
        (sum[index] as number) +
        weightA * (rows[rowA + index] as number) +
        weightB * (rows[rowB + index] as number) +
        weightC * (rows[rowC + index] as number) +
        weightD * (rows[rowD + index] as number)
  }

  return (text) => {
    const { ids, coverage } = cut(text)
    const features = sequences.find(ids)
    /** The list is padded with [UNK], whose vector is zero. */
    const at = (index: number) => (index < features.length ? (features[index] as number) : unknown)
    sum.fill(0)
    for (let index = 0; index < features.length; index += 4)
      addRows(at(index), at(index + 1), at(index + 2), at(index + 3))
    return { vector: toUnit(sum), coverage }
  }
}

function toUnit(sum: Float64Array): Float32Array {
  let squares = 0
  for (const value of sum) squares += value * value
  const vector = new Float32Array(sum.length)
  if (squares === 0) return vector
  const factor = 1 / Math.sqrt(squares)
  for (let index = 0; index < sum.length; index++) vector[index] = (sum[index] as number) * factor
  return vector
}

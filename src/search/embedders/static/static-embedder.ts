import { hash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Embedder, TextEmbedding } from '../embedder.ts'
import { parseDictionary } from './dictionary.ts'
import { type Languages, type Reading, readLanguages } from './languages.ts'
import { readHashes, readTable, type Table } from './table.ts'
import { createWordPiece, unknownPiece } from './word-piece.ts'
import { mayBeForeign, normalForm } from './writing.ts'

/** The limit of the teacher model, 256, without its [CLS] and [SEP]. */
const maxPieces = 254
/** A text is read for other languages up to here, which exceeds what the pieces cover. */
const maxCharacters = 4000
/** Time after which a batch yields to the event loop. */
const sliceMilliseconds = 5

/**
 * An embedder that sums the vectors of a text's word pieces and sequences of pieces, from the table in `folder`. Words
 * of other languages have translations in the files of the folder `languages/words`, or vectors in the table in
 * `languages`; both are read at the first text that needs them. Throws Failure `unavailable` if a file of a table is
 * missing or contradicts its manifest.
 */
export async function createStaticEmbedder(folder: string, languages?: string): Promise<Embedder> {
  const table = await readTable(folder)
  const hashes = [...table.hashes, ...(languages === undefined ? [] : await hashesOf(languages))]
  const { embedOne, wordVector } = createSums(table)
  let others: Promise<Languages> | undefined
  /** A search reads its query twice: for its English words and for its vector. */
  let last: { readonly text: string; readonly foreign: Foreign | undefined } | undefined

  /** The reading of a text with words of other languages; undefined for an English text. */
  async function read(text: string): Promise<Foreign | undefined> {
    if (last?.text === text) return last.foreign
    const foreign =
      languages !== undefined && mayBeForeign(text, table.pieces)
        ? await readWith(languages, text)
        : undefined
    last = { text, foreign }
    return foreign
  }

  async function readWith(folder: string, text: string): Promise<Foreign | undefined> {
    others ??= readWords(folder).then((words) =>
      readLanguages(folder, table, parseDictionary(words, normalForm)),
    )
    const { table: rows, read } = await others
    const reading = read(text.slice(0, maxCharacters))
    return reading && { table: rows, reading }
  }

  return {
    model: `${table.name}:${hash('sha256', hashes.join('\n')).slice(0, 12)}`,
    dimensions: table.dimensions,
    words: table.words,
    wordVector,
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
        const foreign = await read(text)
        embeddings.push(foreign ? embedOne(foreign.reading.rest, foreign) : embedOne(text))
      }
      return embeddings
    },
    async inEnglish(text, without) {
      return (await read(text))?.reading.english(without) ?? text
    },
    async [Symbol.asyncDispose]() {},
  }
}

async function hashesOf(languages: string): Promise<string[]> {
  const [files, words] = await Promise.all([readHashes(languages), readWords(languages)])
  return [...files, ...[...words.values()].map((content) => hash('sha256', content))]
}

/** The lists of words of other languages, by the name of their language. */
async function readWords(languages: string): Promise<Map<string, Buffer>> {
  const folder = join(languages, 'words')
  const names = (await readdir(folder)).sort()
  const read = async (name: string): Promise<[string, Buffer]> => [name, await readFile(join(folder, name))]
  return new Map(await Promise.all(names.map(read)))
}

interface Foreign {
  readonly table: Table
  readonly reading: Reading
}

interface Sums {
  embedOne(text: string, foreign?: Foreign): TextEmbedding
  wordVector(word: string): Float32Array
}

function createSums({ pieces, dimensions, sequences, rows, scales }: Table): Sums {
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

  function add(ids: Int32Array): void {
    const features = sequences.find(ids)
    /** The list is padded with [UNK], whose vector is zero. */
    const at = (index: number) => (index < features.length ? (features[index] as number) : unknown)
    sum.fill(0)
    for (let index = 0; index < features.length; index += 4)
      addRows(at(index), at(index + 1), at(index + 2), at(index + 3))
  }

  return {
    embedOne(text, foreign) {
      const { ids, letters, coverage } = cut(text)
      add(ids)
      if (!foreign) return { vector: toUnit(sum), coverage }
      const { table, reading } = foreign
      for (const row of reading.rows.slice(0, maxPieces)) addRow(sum, table, row)
      const covered = coverage * letters + reading.covered
      return { vector: toUnit(sum), coverage: covered / (letters + reading.letters) }
    },
    wordVector(word) {
      add(cut(word).ids)
      return new Float32Array(sum)
    },
  }
}

function addRow(sum: Float64Array, { dimensions, rows, scales }: Table, row: number): void {
  const weight = scales[row] as number
  const start = row * dimensions
  for (let index = 0; index < dimensions; index++)
    sum[index] = (sum[index] as number) + weight * (rows[start + index] as number)
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

/** True for a model that an earlier version shipped in the place of the `current` one: the same name, another table. */
export function isEarlierTable(model: string, current: string): boolean {
  const name = current.slice(0, current.lastIndexOf(':') + 1)
  return model !== current && name !== '' && model.startsWith(name)
}

import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { Failure } from '../../../../schemas/failure.ts'
import { createPieceIndex, type PieceIndex } from './piece-index.ts'
import { createSequences, type Sequences } from './sequences.ts'
import { unknownPiece } from './word-piece.ts'

/** A vector per feature, the word pieces first, then the sequences: `scales[f] * rows[f * dimensions + d]`. */
export interface Table {
  readonly name: string
  readonly dimensions: number
  readonly pieces: PieceIndex
  readonly sequences: Sequences
  readonly rows: Int8Array
  readonly scales: Float32Array
  /** The pieces that are whole words, the most frequent first. */
  words(): readonly string[]
  /** SHA-256 of each file, in hex, in a fixed order. */
  readonly hashes: readonly string[]
}

const File = z.object({ bytes: z.int().nonnegative(), sha256: z.string().regex(/^[0-9a-f]{64}$/) })
const Manifest = z.object({
  format: z.literal(1),
  name: z.string().min(1),
  dimensions: z.int().positive(),
  pieces: z.int().positive(),
  sequences: z.int().nonnegative(),
  files: z.object({
    'vocabulary.txt': File,
    'sequences.bin': File,
    'rows.bin': File,
    'scales.bin': File,
    'facts.bin': File.optional(),
  }),
})
type Manifest = z.infer<typeof Manifest>

interface Content {
  readonly path: string
  readonly bytes: Uint8Array<ArrayBuffer>
  /** In hex. */
  readonly sha256: string
}

/** Small enough to stay in the processor's cache while it is hashed. */
const chunk = 1 << 20

/** Reads and checks the table in `folder`. Throws Failure `unavailable`, which names the file at fault. */
export async function readTable(folder: string): Promise<Table> {
  const [manifest, vocabulary, sequences, rows, scales] = await Promise.all([
    readContent(folder, 'manifest.json').then(parseManifest),
    readContent(folder, 'vocabulary.txt'),
    readContent(folder, 'sequences.bin'),
    readContent(folder, 'rows.bin'),
    readContent(folder, 'scales.bin'),
  ])
  const { name, dimensions, files } = manifest
  const features = manifest.pieces + manifest.sequences
  check(vocabulary, files['vocabulary.txt'])
  check(sequences, files['sequences.bin'], 8 * manifest.sequences)
  check(rows, files['rows.bin'], features * dimensions)
  check(scales, files['scales.bin'], 4 * features)
  return {
    name,
    dimensions,
    pieces: toPieces(vocabulary, manifest),
    sequences: toSequences(sequences, manifest),
    rows: new Int8Array(rows.bytes.buffer),
    scales: toScales(scales, features),
    words: () => wholeWords(vocabulary.bytes),
    hashes: Object.values(files).flatMap((file) => file?.sha256 ?? []),
  }
}

/** The hashes of the table's files as its manifest states them. */
export async function readHashes(folder: string): Promise<string[]> {
  const { files } = parseManifest(await readContent(folder, 'manifest.json'))
  return Object.values(files).flatMap((file) => file?.sha256 ?? [])
}

/** Reads and checks `facts.bin`, which only some tables have. */
export async function readFacts(folder: string, length: number): Promise<Uint8Array<ArrayBuffer>> {
  const [{ files }, facts] = await Promise.all([
    readContent(folder, 'manifest.json').then(parseManifest),
    readContent(folder, 'facts.bin'),
  ])
  const file = files['facts.bin']
  if (!file) throw faulty(facts.path, 'is not in its manifest')
  check(facts, file, length)
  return facts.bytes
}

const word = /^\p{L}+$/u

function wholeWords(vocabulary: Uint8Array): string[] {
  const pieces = new TextDecoder().decode(vocabulary).split('\n')
  return pieces.filter((piece) => word.test(piece))
}

/** Hashes each chunk while the next one is read. */
async function readContent(folder: string, name: string): Promise<Content> {
  const path = join(folder, name)
  try {
    await using file = await open(path)
    const bytes = new Uint8Array((await file.stat()).size)
    const hash = createHash('sha256')
    let end = 0
    for (let start = 0; start < bytes.length; start = end) {
      const { bytesRead } = await file.read(bytes, start, Math.min(chunk, bytes.length - start))
      if (bytesRead === 0) throw new Error('The file became shorter while it was read.')
      end = start + bytesRead
      hash.update(bytes.subarray(start, end))
    }
    return { path, bytes, sha256: hash.digest('hex') }
  } catch (fault) {
    const missing = (fault as NodeJS.ErrnoException).code === 'ENOENT'
    throw faulty(path, missing ? 'is missing' : 'cannot be read', fault)
  }
}

function parseManifest(content: Content): Manifest {
  const parsed = Manifest.safeParse(parseJson(content))
  if (parsed.success) return parsed.data
  const why = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ')
  throw faulty(content.path, `is not a manifest of format 1 (${why})`)
}

function parseJson({ path, bytes }: Content): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch (fault) {
    throw faulty(path, 'is not JSON', fault)
  }
}

/**
 * Throws unless a file has the length and SHA-256 in the manifest, and the length that the manifest's numbers require.
 */
function check({ path, bytes, sha256 }: Content, file: z.infer<typeof File>, length = file.bytes): void {
  if (bytes.length !== file.bytes)
    throw faulty(path, `has ${bytes.length} bytes where the manifest says ${file.bytes}`)
  if (bytes.length !== length)
    throw faulty(path, `has ${bytes.length} bytes where the manifest's numbers require ${length}`)
  if (sha256 !== file.sha256) throw faulty(path, 'has another SHA-256 than the manifest says')
}

function toPieces({ path, bytes }: Content, { pieces }: Manifest): PieceIndex {
  const index = createPieceIndex(bytes, pieces)
  if (index.count !== pieces)
    throw faulty(path, `has ${index.count} pieces where the manifest says ${pieces}`)
  if (index.repeated !== -1) throw faulty(path, `has piece ${index.repeated} twice`)
  if (index.idOf(unknownPiece) === -1) throw faulty(path, `lacks the piece ${unknownPiece}`)
  return index
}

function toSequences({ path, bytes }: Content, { pieces, sequences }: Manifest): Sequences {
  const view = new DataView(bytes.buffer)
  const pairs = new Int32Array(2 * sequences)
  for (let j = 0; j < sequences; j++) {
    const left = view.getInt32(8 * j, true)
    const right = view.getInt32(8 * j + 4, true)
    if (left < 0 || left >= pieces + j || right < 0 || right >= pieces)
      throw faulty(
        path,
        `has a sequence, number ${j}, of a piece or sequence that does not exist or comes later`,
      )
    pairs[2 * j] = left
    pairs[2 * j + 1] = right
  }
  const found = createSequences(pairs, pieces)
  if (found.count !== sequences) throw faulty(path, 'has a sequence twice')
  return found
}

function toScales({ path, bytes }: Content, features: number): Float32Array {
  const view = new DataView(bytes.buffer)
  const scales = new Float32Array(features)
  for (let feature = 0; feature < features; feature++) {
    const scale = view.getFloat32(4 * feature, true)
    if (!Number.isFinite(scale))
      throw faulty(path, `has a scale, number ${feature}, that is not a finite number`)
    scales[feature] = scale
  }
  return scales
}

function faulty(path: string, what: string, cause?: unknown): Failure {
  const message = `The embedding table's ${path} ${what}; restore it from the package or rebuild the table.`
  return new Failure('unavailable', message, {}, cause)
}

import { type FileHandle, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { privateFile } from './private-file.ts'

/** What a snapshot holds: pieces of its parts, by the name of the part. The pieces of one part follow each other. */
export type Pieces = Iterable<readonly [part: string, piece: Piece]>
type Piece = string | Uint8Array | Uint32Array | Float64Array

/** The parts of a snapshot. Each method throws if the part is missing or damaged. Disposing it closes its files. */
export interface Sections extends AsyncDisposable {
  text(name: string): Promise<string>
  /** The pieces of a text as they were written. */
  texts(name: string): AsyncIterable<string>
  integers(name: string): Promise<Uint32Array>
  doubles(name: string): Promise<Float64Array>
  /** Reads the pieces of a part in turn, each into bytes of its length, which may be shared memory. */
  fill(name: string, targets: Iterable<Uint8Array>): Promise<void>
}

/** The number of a file, and the offset in it, the bytes and the checksum (CRC-32) of a piece. */
type PieceRange = readonly [file: number, offset: number, length: number, checksum: number]

interface Manifest {
  readonly files: readonly string[]
  readonly parts: Readonly<Record<string, readonly PieceRange[]>>
}

/** Bytes that are copied, summed and written at a time: between them, other work runs. */
const chunkBytes = 2 ** 18
const maxFileBytes = 2 ** 30
/** No manifest has more: it takes some 50 bytes for a piece. Snapshots of earlier versions are larger. */
const maxManifestBytes = 2 ** 25
/** Or smaller, with these first bytes. */
const earlierForm = 'DRG2'
/** Files of a snapshot that another process is writing are not older. */
const abandonedMilliseconds = 60 * 60_000
/** Reads of a manifest whose files another process replaces at the same time. */
const openAttempts = 3

/**
 * Writes a snapshot to files of at most `max_file_bytes` beside `path`, then replaces the manifest at `path`, which
 * names them: a reader finds the last whole snapshot. The pieces are taken one at a time, and none is kept.
 */
export async function writeSections(
  path: string,
  pieces: Pieces,
  max_file_bytes = maxFileBytes,
): Promise<void> {
  await using writer = new PieceWriter(path, max_file_bytes)
  for (const [name, piece] of pieces) await writer.add(name, piece)
  const manifest = await writer.finish()
  const text = JSON.stringify(manifest)
  const draft = `${path}.${crypto.randomUUID()}`
  await writeFile(draft, `${crc32(text)}\n${text}`, { mode: privateFile })
  const before = await readManifest(path).catch(() => undefined)
  await rename(draft, path)
  writer.keep()
  await clean(path, manifest.files, before?.files ?? [])
}

/**
 * Opens the snapshot at `path`; its parts are read on demand. Undefined if there is none, or one of an earlier version;
 * throws if it is damaged.
 */
export async function openSections(path: string): Promise<Sections | undefined> {
  for (let attempt = 1; ; attempt++) {
    const manifest = await readManifest(path)
    if (!manifest) return undefined
    const { files, failed } = await openAll(manifest.files.map((name) => join(dirname(path), name)))
    if (failed === undefined) return sectionsOf(path, manifest, files)
    await closeAll(files)
    const isReplaced = JSON.stringify(await readManifest(path)) !== JSON.stringify(manifest)
    if (!isReplaced || attempt === openAttempts) throw failed
  }
}

function sectionsOf(path: string, { parts }: Manifest, files: readonly FileHandle[]): Sections {
  function rangesOf(name: string): readonly PieceRange[] {
    const ranges = Object.hasOwn(parts, name) ? parts[name] : undefined
    if (!ranges) throw new Error(`${path} has no part ${name}.`)
    return ranges
  }

  async function read(name: string, [file, offset, length, checksum]: PieceRange, target: Uint8Array) {
    if (target.length !== length) throw new Error(`${path} has other pieces in its part ${name}.`)
    let sum = 0
    for (let done = 0; done < length; ) {
      const size = Math.min(length - done, chunkBytes)
      const count = (await files[file]?.read(target, done, size, offset + done))?.bytesRead ?? 0
      if (count === 0) throw new Error(`${path} is cut off in its part ${name}.`)
      sum = crc32(target.subarray(done, done + count), sum)
      done += count
    }
    if (sum !== checksum) throw new Error(`${path} is damaged in its part ${name}.`)
  }

  async function fill(name: string, targets: Iterable<Uint8Array>): Promise<void> {
    let rest: Iterator<PieceRange> | undefined
    for (const target of targets) {
      rest ??= rangesOf(name).values()
      const { value } = rest.next()
      if (!value) throw new Error(`${path} has fewer pieces in its part ${name}.`)
      await read(name, value, target)
    }
  }

  async function bufferOf(name: string): Promise<ArrayBuffer> {
    const ranges = rangesOf(name)
    const buffer = new ArrayBuffer(ranges.reduce((sum, [, , length]) => sum + length, 0))
    let start = 0
    await fill(
      name,
      ranges.values().map(([, , length]) => {
        start += length
        return new Uint8Array(buffer, start - length, length)
      }),
    )
    return buffer
  }

  async function* texts(name: string): AsyncGenerator<string> {
    const decoder = new TextDecoder()
    for (const range of rangesOf(name)) {
      const bytes = new Uint8Array(range[2])
      await read(name, range, bytes)
      yield decoder.decode(bytes)
    }
  }

  return {
    text: async (name) => new TextDecoder().decode(await bufferOf(name)),
    texts,
    integers: async (name) => new Uint32Array(await bufferOf(name)),
    doubles: async (name) => new Float64Array(await bufferOf(name)),
    fill,
    [Symbol.asyncDispose]: () => closeAll(files),
  }
}

/** Appends pieces to files; disposing it removes them unless they are to be kept. */
class PieceWriter implements AsyncDisposable {
  readonly #path: string
  readonly #max_file_bytes: number
  readonly #id = crypto.randomUUID()
  readonly #names: string[] = []
  readonly #parts: Record<string, PieceRange[]> = {}
  readonly #chunk = new Uint8Array(chunkBytes)
  #chunked = 0
  #file: FileHandle | undefined
  /** Bytes of the current file, those in the chunk included. */
  #length = 0
  #isKept = false

  constructor(path: string, max_file_bytes: number) {
    this.#path = path
    this.#max_file_bytes = max_file_bytes
  }

  async add(name: string, piece: Piece): Promise<void> {
    const bytes = bytesOf(piece)
    if (!this.#file || (this.#length > 0 && this.#length + bytes.length > this.#max_file_bytes))
      await this.#startFile()
    const start = this.#length
    let sum = 0
    for (let done = 0; done < bytes.length; ) {
      if (this.#chunked === chunkBytes) await this.#flush()
      const size = Math.min(bytes.length - done, chunkBytes - this.#chunked)
      const copy = this.#chunk.subarray(this.#chunked, this.#chunked + size)
      // What is summed is what is written, also where a scan changes its notes in shared memory meanwhile.
      copy.set(bytes.subarray(done, done + size))
      sum = crc32(copy, sum)
      this.#chunked += size
      done += size
    }
    this.#length += bytes.length
    this.#parts[name] ??= []
    this.#parts[name].push([this.#names.length - 1, start, bytes.length, sum])
  }

  async finish(): Promise<Manifest> {
    await this.#closeFile()
    return { files: this.#names, parts: this.#parts }
  }

  keep(): void {
    this.#isKept = true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file?.close()
    if (this.#isKept) return
    const folder = dirname(this.#path)
    for (const name of this.#names) await rm(join(folder, name), { force: true }).catch(() => {})
  }

  async #startFile(): Promise<void> {
    await this.#closeFile()
    const path = `${this.#path}.${this.#id}.${this.#names.length}`
    this.#file = await open(path, 'wx', privateFile)
    this.#names.push(basename(path))
    this.#length = 0
  }

  async #closeFile(): Promise<void> {
    await this.#flush()
    await this.#file?.close()
    this.#file = undefined
  }

  async #flush(): Promise<void> {
    for (let done = 0; done < this.#chunked; ) {
      const written = await this.#file?.write(this.#chunk, done, this.#chunked - done)
      done += written?.bytesWritten ?? this.#chunked
    }
    this.#chunked = 0
  }
}

/** Undefined if there is none, or one of an earlier version. */
async function readManifest(path: string): Promise<Manifest | undefined> {
  const size = await stat(path).then((found) => found.size, undefinedIfAbsent)
  if (size === undefined || size > maxManifestBytes) return undefined
  const content = await readFile(path, 'utf8')
  if (content.startsWith(earlierForm)) return undefined
  const end = content.indexOf('\n')
  const text = content.slice(end + 1)
  if (content.slice(0, Math.max(0, end)) !== String(crc32(text)))
    throw new Error(`${path} is damaged: what it held is derived again.`)
  return JSON.parse(text)
}

async function openAll(paths: readonly string[]): Promise<{ files: FileHandle[]; failed?: unknown }> {
  const files: FileHandle[] = []
  try {
    for (const path of paths) files.push(await open(path))
    return { files }
  } catch (failed) {
    return { files, failed }
  }
}

async function closeAll(files: readonly FileHandle[]): Promise<void> {
  for (const file of files) await file.close()
}

/** Removes the files of the snapshot before, and those that a process left behind when it ended. */
async function clean(path: string, current: readonly string[], before: readonly string[]): Promise<void> {
  const folder = dirname(path)
  const prefix = `${basename(path)}.`
  for (const name of await readdir(folder)) {
    if (!name.startsWith(prefix) || current.includes(name)) continue
    if (before.includes(name) || (await isAbandoned(join(folder, name))))
      await rm(join(folder, name), { force: true }).catch(() => {})
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }))
  return mtimeMs < Date.now() - abandonedMilliseconds
}

function undefinedIfAbsent(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
  throw error
}

function bytesOf(piece: Piece): Uint8Array {
  if (typeof piece === 'string') return new TextEncoder().encode(piece)
  return new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength)
}

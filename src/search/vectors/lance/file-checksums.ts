import { createReadStream, statSync } from 'node:fs'
import { readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { crc32 } from 'node:zlib'
import { privateFile } from '../../../common/private-file.ts'
import { DamageError } from './damage-error.ts'

interface Checksum {
  readonly size: number
  readonly crc: number
}

interface DatedChecksum extends Checksum {
  /** Time of the file's last change, its metadata included. */
  readonly changed: number
}

const listName = 'sums'

/** Checksums of files that never change after they are written; LanceDB itself has none. */
export class FileChecksums {
  /** True if a process ended before it sealed its files. */
  hasUnsealedFiles = false
  readonly #folder: string
  #sealed = new Map<string, DatedChecksum>()

  private constructor(folder: string) {
    this.#folder = folder
  }

  /** Creates the checksums of a new folder. */
  static async start(folder: string): Promise<FileChecksums> {
    const sums = new FileChecksums(folder)
    await sums.seal()
    return sums
  }

  /** Throws DamageError unless every sealed file is unchanged. Reading the table finds missing files. */
  static async verified(folder: string, checked_bytes: number): Promise<FileChecksums> {
    const sums = new FileChecksums(folder)
    const listed = await readList(folder)
    const bytes = [...listed.values()].reduce((total, { size }) => total + size, 0)
    for (const name of await sums.#names()) {
      const expected = listed.get(name)
      const seen = await sums.#checksum(name, bytes > checked_bytes ? expected?.crc : undefined)
      if (!seen) continue
      sums.#sealed.set(name, seen)
      if (!expected) sums.hasUnsealedFiles = true
      else if (!isSame(seen, expected)) throw new DamageError(`The file ${name} has changed.`)
    }
    return sums
  }

  /** Adds checksums of new files and writes the list. */
  async seal(): Promise<void> {
    const sealed = new Map<string, DatedChecksum>()
    for (const name of await this.#names()) {
      const seen = this.#sealed.get(name) ?? (await this.#checksum(name))
      if (seen) sealed.set(name, seen)
    }
    this.#sealed = sealed
    const list = JSON.stringify([...sealed].map(([name, { size, crc }]) => [name, size, crc]))
    const path = join(this.#folder, listName)
    const draft = `${path}-${crypto.randomUUID()}`
    await writeFile(draft, `${crc32(list)}\n${list}`, { mode: privateFile })
    await rename(draft, path)
  }

  /** Throws DamageError if a sealed file has changed; reads only files with a new date. */
  async verifyUntouched(): Promise<void> {
    for (const [name, sealed] of this.#sealed) {
      const changed = this.#changed(name)
      if (changed === undefined || changed === sealed.changed) continue
      const seen = await this.#checksum(name)
      if (!seen) continue
      if (!isSame(seen, sealed)) throw new DamageError(`The file ${name} has changed.`)
      this.#sealed.set(name, seen)
    }
  }

  async #names(): Promise<string[]> {
    const files = await readdir(this.#folder, { recursive: true, withFileTypes: true })
    return files
      .filter((file) => file.isFile() && !isPassing(file.name))
      .map(({ parentPath, name }) => relative(this.#folder, join(parentPath, name)).replaceAll(sep, '/'))
      .filter((name) => name.includes('/'))
  }

  /** Undefined if the file is missing. */
  async #checksum(name: string, crc?: number): Promise<DatedChecksum | undefined> {
    const path = join(this.#folder, name)
    try {
      // The date is read before the content, so that a change during the read is noticed later.
      const { size, ctimeMs } = await stat(path)
      return { size, changed: ctimeMs, crc: crc ?? (await sumOf(path)) }
    } catch (error) {
      if (isAbsence(error)) return undefined
      throw error
    }
  }

  #changed(name: string): number | undefined {
    return statSync(join(this.#folder, name), { throwIfNoEntry: false })?.ctimeMs
  }
}

async function sumOf(path: string): Promise<number> {
  let crc = 0
  for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20 })) crc = crc32(chunk, crc)
  return crc
}

/** Empty if the list is damaged. */
async function readList(folder: string): Promise<Map<string, Checksum>> {
  const text = await readFile(join(folder, listName), 'utf8').catch(() => '')
  const [sum, list] = text.split('\n', 2)
  if (list === undefined || sum !== String(crc32(list))) return new Map()
  const files: [string, number, number][] = JSON.parse(list)
  return new Map(files.map(([name, size, crc]) => [name, { size, crc }]))
}

/** True for files that every commit rewrites as a hint, or that are read only to resolve conflicts of commits. */
function isPassing(name: string): boolean {
  return name === 'latest_version_hint.json' || name.endsWith('.txn')
}

function isSame(left: Checksum, right: Checksum): boolean {
  return left.size === right.size && left.crc === right.crc
}

function isAbsence(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

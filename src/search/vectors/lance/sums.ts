import { createReadStream, statSync } from 'node:fs'
import { readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { crc32 } from 'node:zlib'
import { Damage } from './damage-error.ts'

interface Sum {
  readonly size: number
  readonly crc: number
}

interface Seen extends Sum {
  /** When anything about the file last changed. */
  readonly changed: number
}

const listName = 'sums'

/** Checksums of files that never change once they are there; LanceDB itself has none. */
export class Sums {
  /** Were there files that a process wrote and did not live to seal? */
  hasStrangers = false
  readonly #folder: string
  #known = new Map<string, Seen>()

  private constructor(folder: string) {
    this.#folder = folder
  }

  /** For a folder that has just been made. */
  static async start(folder: string): Promise<Sums> {
    const sums = new Sums(folder)
    await sums.seal()
    return sums
  }

  /** Throws Damage unless every sealed file is as it was. Files that are gone are not missed: reading shows that. */
  static async verified(folder: string, checked_bytes: number): Promise<Sums> {
    const sums = new Sums(folder)
    const listed = await readList(folder)
    const bytes = [...listed.values()].reduce((total, { size }) => total + size, 0)
    for (const name of await sums.#names()) {
      const wanted = listed.get(name)
      const seen = await sums.#look(name, bytes > checked_bytes ? wanted?.crc : undefined)
      if (!seen) continue
      sums.#known.set(name, seen)
      if (!wanted) sums.hasStrangers = true
      else if (!isSame(seen, wanted)) throw new Damage(`The file ${name} has changed.`)
    }
    return sums
  }

  /** Takes what is new for right, and writes down what is there. */
  async seal(): Promise<void> {
    const known = new Map<string, Seen>()
    for (const name of await this.#names()) {
      const seen = this.#known.get(name) ?? (await this.#look(name))
      if (seen) known.set(name, seen)
    }
    this.#known = known
    const list = JSON.stringify([...known].map(([name, { size, crc }]) => [name, size, crc]))
    const path = join(this.#folder, listName)
    const draft = `${path}-${crypto.randomUUID()}`
    await writeFile(draft, `${crc32(list)}\n${list}`)
    await rename(draft, path)
  }

  /** Throws Damage where something has written to a file since it was summed; reads only what has a new date. */
  async verifyUntouched(): Promise<void> {
    for (const [name, known] of this.#known) {
      const changed = this.#changed(name)
      if (changed === undefined || changed === known.changed) continue
      const seen = await this.#look(name)
      if (!seen) continue
      if (!isSame(seen, known)) throw new Damage(`The file ${name} has changed.`)
      this.#known.set(name, seen)
    }
  }

  async #names(): Promise<string[]> {
    const files = await readdir(this.#folder, { recursive: true, withFileTypes: true })
    return files
      .filter((file) => file.isFile() && !isPassing(file.name))
      .map(({ parentPath, name }) => relative(this.#folder, join(parentPath, name)).replaceAll(sep, '/'))
      .filter((name) => name.includes('/'))
  }

  /** Undefined where the file is gone. */
  async #look(name: string, crc?: number): Promise<Seen | undefined> {
    const path = join(this.#folder, name)
    try {
      // In this order, so that a change while it is read is noticed later.
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

/** Nothing where the list is not whole. */
async function readList(folder: string): Promise<Map<string, Sum>> {
  const text = await readFile(join(folder, listName), 'utf8').catch(() => '')
  const [sum, list] = text.split('\n', 2)
  if (list === undefined || sum !== String(crc32(list))) return new Map()
  const files: [string, number, number][] = JSON.parse(list)
  return new Map(files.map(([name, size, crc]) => [name, { size, crc }]))
}

/** Rewritten at every commit and no more than a hint, or read only to settle commits that clash. */
function isPassing(name: string): boolean {
  return name === 'latest_version_hint.json' || name.endsWith('.txn')
}

function isSame(one: Sum, other: Sum): boolean {
  return one.size === other.size && one.crc === other.crc
}

function isAbsence(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

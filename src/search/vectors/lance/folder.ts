import { link, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { privateFile, privateFolder } from '../../../common/private-file.ts'

/** Incremented when the format of rows changes; folders of another format are ignored. */
const format = 1
const pointerName = 'current'
const recentMilliseconds = 10 * 60_000

/** A folder that holds a folder for each generation of a store, and a file that names the current generation. */
export class Folder {
  readonly #path: string
  readonly #prefix: string

  constructor(path: string, dimensions: number) {
    this.#path = path
    this.#prefix = `GENERATION-${format}-${dimensions}-`
  }

  pathOf(generation: string): string {
    return join(this.#path, generation)
  }

  /** The current generation; undefined if none has this format and number of dimensions. */
  async current(): Promise<string | undefined> {
    const name = await readFile(join(this.#path, pointerName), 'utf8').catch(() => '')
    return name.startsWith(this.#prefix) && /^[\w-]+$/.test(name) ? name : undefined
  }

  /** Creates the folder of a new generation, without making it current. */
  async add(): Promise<string> {
    const name = this.#prefix + crypto.randomUUID()
    await mkdir(this.pathOf(name), { recursive: true, mode: privateFolder })
    return name
  }

  /**
   * Makes a generation current instead of `before`, unless another process was faster. Returns the current generation.
   */
  async swap(generation: string, before: string | undefined): Promise<string> {
    const pointer = join(this.#path, pointerName)
    const draft = `${pointer}-${crypto.randomUUID()}`
    await writeFile(draft, generation, { mode: privateFile, flush: true })
    const now = await this.current()
    if (now !== undefined && now !== before) {
      await rm(draft)
      return now
    }
    // Only the creation of a link fails if another process was faster.
    if (now === undefined) {
      await rm(pointer, { force: true, recursive: true })
      const isFirst = await linked(draft, pointer)
      if (!isFirst) {
        const other = await this.current()
        if (other !== undefined) {
          await rm(draft)
          return other
        }
      }
    }
    await rename(draft, pointer)
    return generation
  }

  /**
   * Removes all other generations, except those that another process may be creating. Ignores errors of the removal.
   */
  async clean(generation: string, replaced?: string): Promise<void> {
    for (const name of await readdir(this.#path)) {
      const isOurs = name.startsWith('GENERATION-') || name.startsWith(`${pointerName}-`)
      if (!isOurs || name === generation) continue
      if (name !== replaced && (await this.#isRecent(name))) continue
      await rm(this.pathOf(name), { recursive: true, force: true }).catch(() => undefined)
    }
  }

  async #isRecent(name: string): Promise<boolean> {
    const { mtimeMs } = await stat(this.pathOf(name)).catch(() => ({ mtimeMs: 0 }))
    return mtimeMs > Date.now() - recentMilliseconds
  }
}

function linked(draft: string, pointer: string): Promise<boolean> {
  return link(draft, pointer).then(
    () => true,
    () => false,
  )
}

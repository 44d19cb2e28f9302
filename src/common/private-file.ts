import { randomUUID } from 'node:crypto'
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { link, unlink, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Mode of files with data: only their owner reads and writes them. */
export const privateFile = 0o600
/** Mode of folders with data. */
export const privateFolder = 0o700

/**
 * Creates a folder of mode 700, with the folders above it. The `recursive` option of Node never ends where the system
 * refuses a folder as missing, as in /proc.
 */
export function makePrivateFolder(path: string): void {
  if (existsSync(path)) return
  if (dirname(path) !== path) makePrivateFolder(dirname(path))
  try {
    mkdirSync(path, { mode: privateFolder })
  } catch (fault) {
    // Another process may have created it in the meantime.
    if (!existsSync(path)) throw fault
  }
}

/** Creates an empty file with mode 600 if there is none: SQLite would create it with the mode of the umask. */
export function ensurePrivateFile(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, 'a', privateFile))
}

/**
 * Writes a file of mode 600, with its folder, unless it exists. Several processes may do so at once: linking gives the
 * complete file its name in one step, and the first process wins.
 */
export async function writePrivateFileOnce(path: string, text: string): Promise<void> {
  makePrivateFolder(dirname(path))
  const draft = `${path}.${randomUUID()}`
  await writeFile(draft, text, { flag: 'wx', mode: privateFile, flush: true })
  try {
    await link(draft, path)
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code !== 'EEXIST') throw fault
  } finally {
    await unlink(draft)
  }
}

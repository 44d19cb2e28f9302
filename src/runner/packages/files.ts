import { constants } from 'node:fs'
import { chmod, open, realpath, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '../../../schemas/failure.ts'

/**
 * Writes a file that the sandbox reads without the rights of root, whatever the umask of this process. A job in the
 * sandbox may have left a link or a pipe of this name, which is never followed.
 */
export async function writeShared(path: string, content: string | Uint8Array): Promise<void> {
  await rm(path, { recursive: true, force: true })
  await writeFile(path, content, { flag: 'wx' })
  await chmod(path, 0o644)
}

/** Reads the first bytes of a file that a job in the sandbox may have written. Throws Failure `not_installable`. */
async function readStart(folder: string, path: string, max_bytes: number): Promise<Buffer> {
  const refused = (what: string) => new Failure('not_installable', `The file ${path} of the package ${what}.`)
  const [root, real] = await Promise.all([realpath(folder), realpath(join(folder, path)).catch(() => '')])
  if (real === '') throw refused('does not exist')
  if (!real.startsWith(`${root}/`)) throw refused('leads out of it')
  // Opening a pipe would wait for its writer.
  await using file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  if (!(await file.stat()).isFile()) throw refused('is no file')
  const { buffer, bytesRead } = await file.read(Buffer.alloc(max_bytes), 0, max_bytes, 0)
  return buffer.subarray(0, bytesRead)
}

/** A text file of an installation. Throws Failure `not_installable` for one that is larger, no file, or elsewhere. */
export async function readInstalled(folder: string, path: string, max_bytes: number): Promise<string> {
  const content = await readStart(folder, path, max_bytes + 1)
  if (content.length <= max_bytes) return content.toString('utf8')
  throw new Failure('not_installable', `The file ${path} of the package has more than ${max_bytes} bytes.`)
}

/** The first line of a file of an installation; empty for one that cannot be read. */
export async function firstLine(folder: string, path: string): Promise<string> {
  const content = await readStart(folder, path, 1024).catch(() => Buffer.alloc(0))
  return content.toString('utf8').split('\n', 1)[0] ?? ''
}

/** JSON of an installation. Throws Failure `not_installable`. */
export async function readInstalledJson(folder: string, path: string, max_bytes: number): Promise<unknown> {
  const text = await readInstalled(folder, path, max_bytes)
  try {
    return JSON.parse(text) as unknown
  } catch (thrown) {
    throw new Failure('not_installable', `The file ${path} of the package is not JSON.`, {}, thrown)
  }
}

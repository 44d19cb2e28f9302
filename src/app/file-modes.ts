import { chmod, lstat, readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '../../schemas/failure.ts'
import { isRecord } from '../../schemas/json.ts'
import { type Config, keysPath } from './config.ts'

/** A file or folder that other users of the machine may read, and whose mode this process does not change. */
interface ExposedFile {
  readonly path: string
  /** In octal digits. */
  readonly mode: string
}

/** Bits of a mode that give anything to others than the owner. */
const forOthers = 0o077
const sticky = 0o1000
/** The data that the gateway writes into its folder. */
const data = /^(?:keys|index|vectors|dragoman\.json|server\.json|registry\.sqlite(?:-wal|-shm|-journal)?)$/
/** Other names that may be in a folder that is the gateway's alone. */
const beside = new Set(['extras', 'lost+found'])

/**
 * Restricts the files of the data folder to their owner: mode 600, folders 700. Reports the others to `onError`. Throws
 * Failure `not_configured` if others may read the keys, and as `assertOwnData` does. On Windows it does nothing: there a
 * mode says nothing about other users.
 */
export async function protectFiles(config: Config, onError: (fault: Error) => void): Promise<void> {
  const exposed = await exposedFiles(config)
  const keys = join(keysPath(config), '..')
  const key = exposed.find(({ path }) => path.startsWith(keys))
  if (key) throw keyExposed(key)
  await assertOwnData(config)
  for (const file of exposed) onError(new Error(`${describeExposed(file)} ${remedy(file)}`))
}

/** Restricts the modes of the files that belong to this user; returns the others. */
export async function exposedFiles(config: Pick<Config, 'data'>): Promise<readonly ExposedFile[]> {
  if (process.platform === 'win32') return []
  const names = await namesIn(config.data)
  if (!names) return []
  const isOwnFolder = names.every((name) => data.test(name) || beside.has(name))
  const folder = isOwnFolder ? await restrict(await realpath(config.data)) : []
  const files = await Promise.all(
    names.filter((name) => data.test(name)).map((name) => walk(config.data, name)),
  )
  return [...folder, ...files.flat()]
}

/**
 * Throws Failure `not_configured` if root is to work on the data of another user, whose gateway could not read what root
 * writes there, such as a new key or the index.
 */
export async function assertOwnData(config: Pick<Config, 'data'>): Promise<void> {
  if (process.getuid?.() !== 0) return
  const path = keysPath(config)
  const { uid = 0 } = (await stat(path).catch(() => undefined)) ?? {}
  if (uid === 0) return
  throw new Failure('not_configured', `${path} belongs to the user ${uid}, not to root.`, {
    hint: `The gateway of that user could not read what root writes there. Run the command as that user: sudo -u '#${uid}' …`,
  })
}

export function describeExposed({ path, mode }: ExposedFile): string {
  return `Others may read ${path} (mode ${mode}), and the gateway does not change that mode.`
}

async function walk(folder: string, name: string): Promise<ExposedFile[]> {
  const path = join(folder, name)
  const own = await restrict(path)
  // Keys may be kept elsewhere; other links are not followed.
  const names = name !== 'keys' && (await isLink(path)) ? [] : ((await namesIn(path)) ?? [])
  return [...own, ...(await Promise.all(names.map((inner) => walk(path, inner)))).flat()]
}

/** The target of a symbolic link is checked and not changed. */
async function restrict(path: string): Promise<ExposedFile[]> {
  const found = await stat(path).catch(() => undefined)
  if (!found || (found.mode & forOthers) === 0) return []
  const isOurs = found.uid === process.getuid?.() && (found.mode & sticky) === 0
  if (isOurs && !(await isLink(path))) await chmod(path, found.mode & 0o7700).catch(() => {})
  // Some disks accept a change of a mode and do not store it; another process may have removed the file.
  const { mode = 0 } = (await stat(path).catch(() => undefined)) ?? {}
  return (mode & forOthers) === 0 ? [] : [{ path, mode: (mode & 0o7777).toString(8) }]
}

async function isLink(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isSymbolicLink() ?? false
}

/** Undefined for what is not a folder, or is not there. */
async function namesIn(path: string): Promise<readonly string[] | undefined> {
  try {
    return await readdir(path)
  } catch (fault) {
    const code = isRecord(fault) ? fault.code : undefined
    if (code === 'ENOTDIR' || code === 'ENOENT' || code === 'EACCES') return undefined
    throw fault
  }
}

function keyExposed(file: ExposedFile): Failure {
  return new Failure('not_configured', describeExposed(file), {
    hint: `Keys sign tokens and decrypt stored credentials. ${remedy(file)}`,
  })
}

function remedy({ path }: ExposedFile): string {
  return `Run as its owner or as root: chmod go-rwx ${path}. On a disk without modes, set DRAGOMAN_DATA to another disk.`
}

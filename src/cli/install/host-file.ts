import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { access, lstat, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { Failure } from '../../../schemas/failure.ts'
import type { ConfigFile } from '../../../schemas/install.ts'
import type { UserFolders } from '../../app/user-folders.ts'
import { privateFile } from '../../common/private-file.ts'

/** A configuration file of a host as it is; `text` is empty if there is none yet. */
export interface HostFile {
  readonly path: string
  readonly text: string
  readonly mode: number | undefined
  readonly owner: { readonly uid: number; readonly gid: number } | undefined
}

const maxBytes = 32 * 1024 * 1024
const systems: Partial<Record<NodeJS.Platform, ConfigFile['system']>> = { darwin: 'macos', win32: 'windows' }

/** The path of a host's file for this user and this system; undefined if the host has none of this scope. */
export function pathOf(
  files: readonly ConfigFile[],
  scope: ConfigFile['scope'],
  folders: UserFolders,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  const system = systems[platform] ?? 'linux'
  const file = files.find(
    (candidate) => candidate.scope === scope && [system, 'all'].includes(candidate.system),
  )
  if (!file) return undefined
  if (scope === 'project') return resolve(file.path)
  const path = file.path.replaceAll('\\', '/')
  const bases: [string, string | undefined][] = [
    ['~/.config/', folders.config],
    ['~/.codex/', folders.codex],
    ['~/.claude.json', folders.claude && join(folders.claude, '.claude.json')],
    ['%APPDATA%/', folders.roaming],
    ['~/', folders.home],
  ]
  for (const [prefix, base] of bases) {
    if (base !== undefined && path.startsWith(prefix)) return join(base, path.slice(prefix.length))
  }
  return resolve(path)
}

/**
 * Reads a file that may be changed. Throws Failure `conflict` for a symbolic link, which would lead the change
 * elsewhere, for a file that is read-only, and for one that is not text.
 */
export async function readHostFile(path: string, scope: ConfigFile['scope']): Promise<HostFile> {
  if (scope === 'project') await refuseLink(dirname(path))
  const found = await refuseLink(path)
  if (!found) return { path, text: '', mode: undefined, owner: undefined }
  if (!found.isFile()) throw refused(path, 'is not a file.')
  if (found.size > maxBytes) throw refused(path, 'is too large for a configuration.')
  const isWritable = await access(path, constants.W_OK).then(
    () => (found.mode & 0o222) !== 0,
    () => false,
  )
  if (!isWritable) throw refused(path, 'is read-only.', 'Make it writable first: chmod u+w.')
  const bytes = await readFile(path)
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return { path, text, mode: found.mode & 0o7777, owner: { uid: found.uid, gid: found.gid } }
  } catch (fault) {
    throw refused(path, 'is not text in UTF-8.', undefined, fault)
  }
}

async function refuseLink(path: string) {
  const found = await lstat(path).catch((fault: NodeJS.ErrnoException) => {
    if (fault.code === 'ENOENT') return undefined
    throw refused(path, `cannot be read (${fault.code}).`, undefined, fault)
  })
  if (found?.isSymbolicLink()) {
    throw refused(
      path,
      'is a symbolic link, which is not followed.',
      'Change the file that it names by hand.',
    )
  }
  return found
}

/**
 * Writes the new text in one step and keeps the old one beside it. The mode and the owner stay. Throws Failure
 * `conflict` if the file has changed since it was read. Resolves to the path of the backup, or null for a new file.
 */
export async function writeHostFile(file: HostFile, text: string): Promise<string | null> {
  const { path, mode } = file
  try {
    await mkdir(dirname(path), { recursive: true })
    const part = `${path}.${randomUUID()}.part`
    const backup = `${path}.dragoman-backup`
    const copy = `${backup}.${randomUUID()}.part`
    await using _lock = await lockOf(path)
    try {
      await writePart(part, text, file)
      const now = await readFile(path, 'utf8').catch(() => undefined)
      if (now !== (mode === undefined ? undefined : file.text)) {
        throw refused(path, 'has changed in the meantime.', 'Run the command again.')
      }
      if (mode !== undefined) {
        await writePart(copy, file.text, file)
        await rename(copy, backup)
      }
      await rename(part, path)
      return mode === undefined ? null : backup
    } finally {
      await rm(part, { force: true })
      await rm(copy, { force: true })
    }
  } catch (fault) {
    if (fault instanceof Failure) throw fault
    const { code } = fault as NodeJS.ErrnoException
    throw refused(path, `cannot be written (${code}).`, undefined, fault)
  }
}

/** Two commands at once would each write what they have read, and the change of the first would be lost. */
async function lockOf(path: string): Promise<AsyncDisposable> {
  const lock = `${path}.dragoman-lock`
  const handle = await open(lock, 'wx', privateFile).catch((fault: NodeJS.ErrnoException) => {
    if (fault.code !== 'EEXIST') throw fault
    throw refused(
      path,
      'is being changed by another command.',
      `Run the command again. If no other one runs, delete ${lock} first.`,
      fault,
    )
  })
  await handle.close()
  return { [Symbol.asyncDispose]: () => rm(lock, { force: true }) }
}

async function writePart(path: string, text: string, { mode, owner }: HostFile): Promise<void> {
  await using handle = await open(path, 'wx', privateFile)
  await handle.writeFile(text)
  if (owner && owner.uid !== process.getuid?.()) await handle.chown(owner.uid, owner.gid)
  if (mode !== undefined) await handle.chmod(mode)
  await handle.sync()
}

function refused(path: string, why: string, hint?: string, cause?: unknown): Failure {
  return new Failure('conflict', `${path} ${why}`, hint === undefined ? {} : { hint }, cause)
}

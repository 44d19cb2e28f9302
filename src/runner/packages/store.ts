import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { counted } from '../../../schemas/counted.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { InstalledPackage, InstallOptions, ResolvedPackage } from '../runner.ts'
import { diskUsage } from '../sandbox/usage.ts'
import type { Ecosystem, Installation, InstalledProgram } from './ecosystem.ts'
import { readInstalled, writeShared } from './files.ts'

/** An installation and how it starts. */
interface StoredPackage extends InstalledPackage {
  readonly program: InstalledProgram
}

interface StoredLock {
  readonly text: string
  readonly dependencies: number
  readonly as_of: string | null
}

/** Publishers release the packages of one release within a day. */
const release_ms = 24 * 3600_000
const maxLock = 32 * 1024 ** 2

/** Locks and installations below a folder, by their hashes. */
interface PackageStore {
  /** The installation, or undefined. */
  find(lock: string, scripts: boolean): Promise<StoredPackage | undefined>
  folderOf(lock: string, scripts: boolean): string
  install(
    ecosystem: Ecosystem,
    resolved: ResolvedPackage,
    options: InstallOptions,
    installation: Installation,
    progress: (text: string) => void,
  ): Promise<StoredPackage>
}

export function openPackageStore(folder: string): PackageStore {
  const installs = join(folder, 'installs')
  const locks = join(folder, 'locks')
  const entryOf = (lock: string, scripts: boolean) => join(installs, scripts ? `${lock}-scripts` : lock)

  async function find(lock: string, scripts: boolean): Promise<StoredPackage | undefined> {
    return await readJson<StoredPackage>(join(entryOf(lock, scripts), 'package.json'))
  }

  /** The approved lock, else the lock of an earlier installation, else a new lock. */
  async function lockOf(
    ecosystem: Ecosystem,
    resolved: ResolvedPackage,
    options: InstallOptions,
    installation: Installation,
  ): Promise<StoredLock> {
    const { source, integrity } = resolved
    const key = hashOf(
      [source.registry_type, source.identifier, source.version, integrity, String(options.scripts)].join(
        '\n',
      ),
    )
    const approved =
      options.lock === undefined ? undefined : await readJson<StoredLock>(join(locks, `${options.lock}.json`))
    const stored = approved ?? (await readJson<StoredLock>(join(locks, `${key}.json`)))
    const lock = stored ?? (await makeLock(ecosystem, resolved, installation))
    if (options.lock !== undefined && hashOf(lock.text) !== options.lock) {
      throw new Failure(
        'precondition_failed',
        `The dependencies of ${source.identifier} ${source.version} differ from the approved ones.`,
        {
          hint: 'Approve the package again.',
        },
      )
    }
    if (!stored) await mkdir(locks, { recursive: true })
    if (!stored)
      for (const name of [key, hashOf(lock.text)]) await writeAside(join(locks, `${name}.json`), lock)
    return lock
  }

  return {
    find,
    folderOf: (lock, scripts) => join(entryOf(lock, scripts), 'files'),
    async install(ecosystem, resolved, options, installation, progress) {
      const usable = async (lock: string): Promise<StoredPackage | undefined> => {
        const found = await find(lock, options.scripts)
        return found && (await (ecosystem.isPresent?.(found.program) ?? true)) ? found : undefined
      }
      const present = options.lock === undefined ? undefined : await usable(options.lock)
      if (present) return present
      progress('Locks the dependencies')
      const lock = await lockOf(ecosystem, resolved, options, installation)
      const hash = hashOf(lock.text)
      const same = await usable(hash)
      if (same) return same
      progress(`Installs ${counted(lock.dependencies + 1, 'package')}`)
      const { work } = installation
      await writeShared(join(work.package, ecosystem.lockFile), lock.text)
      await ecosystem.install(resolved, installation)
      const stored: StoredPackage = {
        resolved,
        lock: hash,
        dependencies: lock.dependencies,
        bytes: await diskUsage(work.package),
        as_of: lock.as_of,
        program: await ecosystem.program(resolved, work.package, installation.registry.path),
      }
      const aside = join(work.root, 'entry')
      await mkdir(aside, { mode: 0o700 })
      await rename(work.package, join(aside, 'files'))
      await writeFile(join(aside, 'package.json'), JSON.stringify(stored))
      await mkdir(installs, { recursive: true })
      await rename(aside, entryOf(hash, options.scripts)).catch(async (thrown: NodeJS.ErrnoException) => {
        // Another process was faster with the same installation.
        if (thrown.code !== 'ENOTEMPTY' && thrown.code !== 'EEXIST') throw thrown
      })
      return stored
    },
  }
}

/** Locks as of the publication; dependencies that were published later count only where it does not work without them. */
async function makeLock(
  ecosystem: Ecosystem,
  resolved: ResolvedPackage,
  installation: Installation,
): Promise<StoredLock> {
  const published = resolved.published_at === null ? Number.NaN : Date.parse(resolved.published_at)
  const times = Number.isNaN(published) ? [null] : [new Date(published + release_ms).toISOString(), null]
  let problem = ''
  for (const as_of of times) {
    const result = await ecosystem.lock(resolved, as_of, installation)
    if (!('problem' in result)) {
      const text = await readInstalled(installation.work.package, ecosystem.lockFile, maxLock)
      return { text, dependencies: result.dependencies, as_of }
    }
    problem ||= result.problem
  }
  const { identifier, version } = resolved.source
  throw new Failure(
    'not_installable',
    `The dependencies of ${identifier} ${version} cannot be resolved: ${problem}`,
  )
}

async function readJson<T>(path: string): Promise<T | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined)
  return text === undefined ? undefined : (JSON.parse(text) as T)
}

async function writeAside(path: string, value: unknown): Promise<void> {
  const aside = `${path}.${randomUUID()}`
  try {
    await writeFile(aside, JSON.stringify(value), { mode: 0o600 })
    await rename(aside, path)
  } finally {
    await rm(aside, { force: true })
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { Failure } from '../../schemas/failure.ts'
import type { Dump } from './dump-restore.ts'
import { databaseAddress } from './postgres/redact-url.ts'
import type { AboutPostgres } from './postgres/server-info.ts'
import type { PostgresOptions } from './postgres/store.ts'
import type { Store } from './store.ts'

interface StoreLocation {
  /** Path of the embedded database. */
  readonly path: string
  /** URL of the PostgreSQL database that replaces it. */
  readonly url?: string | undefined
}

/** The location for operators, without secrets. */
export function nameOf({ path, url }: StoreLocation): string {
  return url === undefined ? `SQLite in ${path}` : `PostgreSQL at ${databaseAddress(url)}`
}

/** What can be learned of a store without opening it. */
type AboutStore = Pick<AboutPostgres, 'version'> &
  Partial<AboutPostgres> & {
    /** What is damaged in the file of SQLite, which is read as a whole. */
    readonly damage?: readonly string[]
  }

/** The version of SQLite and the damage of its file, or the server of the store. Throws as opening the store does. */
export async function aboutStore({ path, url }: StoreLocation): Promise<AboutStore> {
  if (url === undefined) {
    const { damageOf } = await import('./sqlite/integrity.ts')
    return { version: process.versions.sqlite ?? '', damage: existsSync(path) ? damageOf(path) : [] }
  }
  const { askPostgres } = await import('./postgres/server-info.ts')
  return await askPostgres(url)
}

/** The shared counts of several gateways over one database. */
export async function openRates(url: string, onError: (fault: unknown) => void) {
  const { openSharedRates } = await import('./postgres/shared-rates.ts')
  return openSharedRates(url, onError)
}

/** Opens the store. SQLite needs the clock and the observer alone. */
export async function openStore({ path, url }: StoreLocation, options: PostgresOptions): Promise<Store> {
  if (url === undefined) {
    const { openSqliteStore } = await import('./sqlite/store.ts')
    return await openSqliteStore(path, options.clock, options.observer)
  }
  const { openPostgresStore } = await import('./postgres/store.ts')
  return await openPostgresStore(url, options)
}

/**
 * Opens the store to dump it, on a disk that is mounted read-only too. Throws Failure `not_found` if there is no
 * database: a backup of an empty one, which opening would make, would look like a success.
 */
export async function openDump(
  location: StoreLocation,
  options: PostgresOptions,
): Promise<Dump & AsyncDisposable> {
  if (location.url === undefined && !existsSync(location.path)) throw noRegistry(location)
  try {
    const store = await openStore(location, options)
    return { dump: store.dumpRestore.dump, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() }
  } catch (fault) {
    const { isReadOnly } = await import('./sqlite/faults.ts')
    if (!isReadOnly(fault)) throw fault
    const { openReadOnlyDump } = await import('./sqlite/read-only.ts')
    return await openReadOnlyDump(location.path)
  }
}

function noRegistry({ path }: StoreLocation): Failure {
  return new Failure('not_found', `There is no registry in ${dirname(path)}.`, {
    hint: 'Name the data folder of the gateway in DRAGOMAN_DATA, or its database in DATABASE_URL. `dragoman doctor` shows those that commands use.',
  })
}

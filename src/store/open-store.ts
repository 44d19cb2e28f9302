import { existsSync } from 'node:fs'
import { databaseAddress } from './postgres/redact-url.ts'
import type { AboutPostgres } from './postgres/server-info.ts'
import type { Store } from './store.ts'
import type { StoreObserver } from './store-health.ts'

interface StoreLocation {
  /** Path of the embedded database. */
  readonly path: string
  /** URL of the PostgreSQL database that replaces it. */
  readonly url?: string | undefined
  /** Characters of the entries of the PostgreSQL database that are kept in memory. */
  readonly cached_characters?: number | undefined
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

/**
 * Opens the store; `onError` is called for broken connections, `clock` is in milliseconds since the epoch. `start_ms`:
 * maximum time for which this waits for a server that does not answer; some seconds when absent. `signal` ends the wait
 * for a server that answers no more.
 */
export async function openStore(
  { path, url, cached_characters }: StoreLocation,
  clock: () => number,
  onError: (fault: unknown) => void,
  observer: StoreObserver = {},
  start_ms?: number,
  signal?: AbortSignal,
): Promise<Store> {
  if (url === undefined) {
    const { openSqliteStore } = await import('./sqlite/store.ts')
    return await openSqliteStore(path, clock, observer)
  }
  const { openPostgresStore } = await import('./postgres/store.ts')
  return await openPostgresStore(url, {
    clock,
    onError,
    observer,
    cached_characters,
    signal,
    ...(start_ms !== undefined && { start_ms }),
  })
}

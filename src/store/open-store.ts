import { databaseAddress } from './postgres/redact-url.ts'
import type { AboutPostgres } from './postgres/server-info.ts'
import type { Store, StoreObserver } from './store.ts'

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

/** The server of the store; for SQLite its version alone. Throws as opening the store does. */
export async function aboutStore({
  url,
}: StoreLocation): Promise<Pick<AboutPostgres, 'version'> & Partial<AboutPostgres>> {
  if (url === undefined) return { version: process.versions.sqlite ?? '' }
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
 * maximum time for which this waits for a server that does not answer; some seconds when absent.
 */
export async function openStore(
  { path, url }: StoreLocation,
  clock: () => number,
  onError: (fault: unknown) => void,
  observer: StoreObserver = {},
  start_ms?: number,
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
    ...(start_ms !== undefined && { start_ms }),
  })
}

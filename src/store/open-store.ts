import { placeOf } from './postgres/redact-url.ts'
import type { AboutPostgres } from './postgres/server-info.ts'
import { openSqliteStore } from './sqlite/store.ts'
import type { Store } from './store.ts'

interface StorePlace {
  /** Of the embedded database. */
  readonly path: string
  /** Of the PostgreSQL database that takes its place. */
  readonly url?: string | undefined
}

/** As an operator may be told, without what is secret. */
export function nameOf({ path, url }: StorePlace): string {
  return url === undefined ? `SQLite in ${path}` : `PostgreSQL at ${placeOf(url)}`
}

/** What serves the store there: for SQLite its version alone. Throws as its opening does. */
export async function aboutStore({
  url,
}: StorePlace): Promise<Pick<AboutPostgres, 'version'> & Partial<AboutPostgres>> {
  if (url === undefined) return { version: process.versions.sqlite ?? '' }
  const { askPostgres } = await import('./postgres/server-info.ts')
  return await askPostgres(url)
}

/** Where several gateways over one database count calls together. */
export async function openRates(url: string, onError: (fault: unknown) => void) {
  const { openSharedRates } = await import('./postgres/shared-rates.ts')
  return openSharedRates(url, onError)
}

/** Opens the store there; `failed` hears of connections that broke, `clock` is in milliseconds since the epoch. */
export async function openStore(
  { path, url }: StorePlace,
  clock: () => number,
  onError: (fault: unknown) => void,
): Promise<Store> {
  if (url === undefined) return await openSqliteStore(path, clock)
  const { openPostgresStore } = await import('./postgres/store.ts')
  return await openPostgresStore(url, { clock, onError })
}

import { openSqliteStore } from './sqlite/store.ts'
import type { Store } from './store.ts'

export interface StorePlace {
  /** Of the embedded database. */
  readonly path: string
  /** Of the PostgreSQL database that takes its place. */
  readonly url?: string | undefined
}

/** Opens the store there; `failed` hears of connections that broke, `clock` is in milliseconds since the epoch. */
export async function openStore(
  { path, url }: StorePlace,
  clock: () => number,
  failed: (fault: unknown) => void,
): Promise<Store> {
  if (url === undefined) return await openSqliteStore(path, clock)
  const { openPostgresStore } = await import('./postgres/store.ts')
  return await openPostgresStore(url, { clock, failed })
}

import { openPostgresStore } from '../../src/store/postgres/store.ts'
import type { Store } from '../../src/store/store.ts'
import { type StoreHome, storeTime } from './contract.ts'

/** A home whose database is reached by its URL. */
export interface PostgresHome extends StoreHome {
  readonly url: string
}

/** Opens a store over the database at `url`, without retries and without an error callback. */
export function openPlain(url: string): Promise<Store> {
  return openPostgresStore(url, { clock: () => storeTime, onError: () => {}, start_ms: 0 })
}

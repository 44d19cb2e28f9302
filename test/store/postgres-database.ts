import { openPostgresStore } from '../../src/store/postgres/store.ts'
import type { Store } from '../../src/store/store.ts'
import { type StoreHome, storeTime } from './contract.ts'

/** A home whose database others may reach by its address. */
export interface PostgresHome extends StoreHome {
  readonly url: string
}

/** A store over the database at `url`, whose loss of connections nobody hears, at once or not at all. */
export function openPlain(url: string): Promise<Store> {
  return openPostgresStore(url, { clock: () => storeTime, onError: () => {}, start_ms: 0 })
}

import { Failure } from '../../schemas/failure.ts'
import { readConfig, storeLocation } from '../app/config.ts'
import { startFailure } from '../app/start-failure.ts'
import { openStore } from '../store/open-store.ts'
import type { Store } from '../store/store.ts'
import { say } from './output.ts'

/** Opens the store of this machine's configuration without a gateway. */
export async function openOwnStore(): Promise<Store> {
  const config = readConfig()
  if (config.DRAGOMAN_URL) {
    throw new Failure(
      'invalid_request',
      'A registry is exported and imported directly in its store, not through a gateway.',
      {
        hint: 'Unset DRAGOMAN_URL, and set DRAGOMAN_DATA or DATABASE_URL.',
      },
    )
  }
  try {
    return await openStore(storeLocation(config), Date.now, (fault) => say(String(fault)))
  } catch (fault) {
    throw startFailure(fault, config)
  }
}

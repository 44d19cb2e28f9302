import { Failure } from '../../schemas/failure.ts'
import { readConfig, storeLocation } from '../app/config.ts'
import { assertOwnData } from '../app/file-modes.ts'
import { runningServer } from '../app/running-server.ts'
import { startFailure } from '../app/start-failure.ts'
import { openStore } from '../store/open-store.ts'
import type { Store } from '../store/store.ts'
import { say } from './output.ts'

/**
 * Opens the store of this machine's configuration without a gateway; `alone`, to fill it: only if no gateway runs over it,
 * and it is not in the data folder of another user.
 */
export async function openOwnStore({ alone = false } = {}): Promise<Store> {
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
  if (alone) await assertOwnData(config)
  const running = alone && (await runningServer(config))
  if (running) {
    throw new Failure('conflict', `A gateway runs over this store, at ${running.url}.`, {
      hint: 'Stop every gateway of this store, then import again.',
    })
  }
  try {
    return await openStore(storeLocation(config), { clock: Date.now, onError: (fault) => say(String(fault)) })
  } catch (fault) {
    throw startFailure(fault, config)
  }
}

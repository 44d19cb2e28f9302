import { Failure } from '../../schemas/failure.ts'
import { type Config, readConfig, storeLocation } from '../app/config.ts'
import { assertOwnData } from '../app/file-modes.ts'
import { runningServer } from '../app/running-server.ts'
import { startFailure } from '../app/start-failure.ts'
import type { Dump } from '../store/dump-restore.ts'
import { openDump, openStore } from '../store/open-store.ts'
import type { Store } from '../store/store.ts'
import { say } from './output.ts'

/**
 * Opens the store of this machine's configuration without a gateway; `alone`, to change it: only if no gateway runs over it,
 * and it is not in the data folder of another user.
 */
export async function openOwnStore({ alone = false } = {}): Promise<Store> {
  const config = ownConfig()
  if (alone) await assertOwnData(config)
  const running = alone && (await runningServer(config))
  if (running) {
    throw new Failure('conflict', `A gateway runs over this store, at ${running.url}.`, {
      hint: 'Stop every gateway of this store, then run the command again.',
    })
  }
  return await opened(config, openStore)
}

/** Opens the store of this machine's configuration to dump it. */
export async function openOwnDump(): Promise<Dump & AsyncDisposable> {
  return await opened(ownConfig(), openDump)
}

function ownConfig(): Config {
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
  return config
}

async function opened<T>(
  config: Config,
  open: (...args: Parameters<typeof openStore>) => Promise<T>,
): Promise<T> {
  try {
    return await open(storeLocation(config), { clock: Date.now, onError: (fault) => say(String(fault)) })
  } catch (fault) {
    throw startFailure(fault, config)
  }
}

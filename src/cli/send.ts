import { codes, Failure } from '../../schemas/failure.ts'
import type { Json, JsonObject } from '../../schemas/json.ts'
import type { AgentPage } from '../../schemas/search.ts'
import { readConfig } from '../app/config.ts'
import { findServer } from '../app/running-server.ts'
import { ask, openClient } from './client.ts'
import { showWaiting } from './progress.ts'

/** Asks the registry for one action. */
export async function askRegistry<Output = Json>(action: string, params: object = {}): Promise<Output> {
  using _waiting = showWaiting()
  await using client = await openClient()
  return await ask(client, action, params)
}

/**
 * Asks the gateway that runs over the data folder, if there is one, with the rights of the operator. Its settings say
 * which agents it reaches; those of this command may be others.
 */
export async function askRunning<Output>(action: string, params: object): Promise<Output> {
  const config = readConfig()
  const server = config.DRAGOMAN_URL ? undefined : await findServer(config)
  if (server === undefined) return await askRegistry(action, params)
  using _waiting = showWaiting()
  const { operatorToken } = await import('./token.ts')
  const DRAGOMAN_TOKEN = await operatorToken(config)
  await using client = await openClient({ ...config, DRAGOMAN_URL: server, DRAGOMAN_TOKEN })
  return await ask(client, action, params)
}

/**
 * Searches what everybody may find, without the rights of the operator: by a server that runs over the data folder if
 * there is one, which has the index in memory, else in the data folder.
 */
export async function searchPublic(params: JsonObject): Promise<AgentPage> {
  const config = readConfig()
  if (config.DRAGOMAN_URL) return await askRegistry('search_agents', params)
  using _waiting = showWaiting()
  const server = await findServer(config)
  if (server !== undefined) {
    try {
      await using client = await openClient({ ...config, DRAGOMAN_URL: server, DRAGOMAN_TOKEN: '' })
      return await ask(client, 'search_agents', params)
    } catch (fault) {
      // The server may stop now, or count the calls of this address.
      if (!(fault instanceof Failure) || !codes[fault.code].retryable) throw fault
    }
  }
  const { searchDataFolder } = await import('../app/public-search.ts')
  const found = await searchDataFolder(config, params)
  if (found) return found
  await using client = await openClient(config, null)
  return await ask(client, 'search_agents', params)
}

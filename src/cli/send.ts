import type { EntryDetail } from '../../schemas/card.ts'
import { codes, Failure } from '../../schemas/failure.ts'
import type { Json, JsonObject } from '../../schemas/json.ts'
import { readConfig } from '../app/config.ts'
import { findServer } from '../app/running-server.ts'
import { openClient } from './client.ts'
import { showWaiting } from './progress.ts'

/** Asks the registry for one action. */
export async function askRegistry(action: string, params: object): Promise<Json> {
  using _waiting = showWaiting()
  await using client = await openClient()
  return await client.send({ to: 'svc.registry', action, params: params as JsonObject })
}

/**
 * Reads what everybody may read, without the rights of the operator: from a server that runs over the data folder if
 * there is one, which has the index in memory, else from the data folder.
 */
export async function readPublic(action: string, params: object): Promise<Json> {
  const envelope = { to: 'svc.registry', action, params: params as JsonObject }
  const config = readConfig()
  if (config.DRAGOMAN_URL) return await askRegistry(action, params)
  using _waiting = showWaiting()
  const server = await findServer(config)
  if (server !== undefined) {
    try {
      await using client = await openClient({ ...config, DRAGOMAN_URL: server, DRAGOMAN_TOKEN: undefined })
      return await client.send(envelope)
    } catch (fault) {
      // The server may stop now, or count the calls of this address.
      if (!(fault instanceof Failure) || !codes[fault.code].retryable) throw fault
    }
  }
  await using client = await openClient(config, null)
  return await client.send(envelope)
}

/** Changes one entry, or reads it. */
export async function askForEntry(action: string, params: object): Promise<EntryDetail> {
  return (await askRegistry(action, params)) as unknown as EntryDetail
}

import type { EntryDetail } from '../../schemas/card.ts'
import type { Json, JsonObject } from '../../schemas/json.ts'
import { openClient } from './client.ts'

/** Asks the registry for one action. */
export async function askRegistry(action: string, params: object): Promise<Json> {
  await using client = await openClient()
  return await client.send({ to: 'svc.registry', action, params: params as JsonObject })
}

/** Changes one entry, or reads it. */
export async function askForEntry(action: string, params: object): Promise<EntryDetail> {
  return (await askRegistry(action, params)) as unknown as EntryDetail
}

import { Failure } from '../../schemas/failure.ts'
import { readConfig } from '../app/config.ts'
import { openGateway } from '../app/gateway.ts'
import { engineLocation } from '../search/elasticsearch/client.ts'
import { print } from './output.ts'
import { showWaiting } from './progress.ts'

/**
 * Fills new indexes of the search engine from the database, beside those that serve, and makes them serve. Throws Failure
 * `conflict` while another process does so.
 */
export async function rebuildIndex(json: boolean): Promise<void> {
  const config = readConfig()
  if (config.DRAGOMAN_URL)
    throw new Failure(
      'invalid_request',
      'A search index is rebuilt from its database, not through a gateway.',
      {
        hint: 'Unset DRAGOMAN_URL, and set DATABASE_URL and DRAGOMAN_SEARCH.',
      },
    )
  if (!engineLocation(config.DRAGOMAN_SEARCH))
    throw new Failure('invalid_request', 'DRAGOMAN_SEARCH does not name an index of a search engine.', {
      hint: 'To rebuild an index in memory, stop the gateway, delete the folder DATA/index, and start it again.',
    })
  await using gateway = await openGateway(config, { rebuild_index: true })
  const revision = await rebuilt()
  print(json ? { revision } : `the new index serves, filled up to revision ${revision}`)

  async function rebuilt(): Promise<number> {
    using _ = showWaiting()
    return await gateway.rebuilt()
  }
}

import type { JsonObject } from '../../schemas/json.ts'
import { registryName } from '../../schemas/names.ts'
import { type AgentPage, SearchInput } from '../../schemas/search.ts'
import { input } from '../../schemas/shape.ts'
import { createViews } from '../registry/entry/view.ts'
import { IndexTailer } from '../registry/indexing/index-tailer.ts'
import { changesWorthStopping } from '../registry/indexing/vector-index.ts'
import { createLivenessCache } from '../registry/liveness/liveness-cache.ts'
import { SearchService } from '../registry/queries/search-service.ts'
import { openStore } from '../store/open-store.ts'
import { version } from './assets.ts'
import { type Config, storeLocation, unconfiguredAgents } from './config.ts'
import { protectFiles } from './file-modes.ts'
import { createOutbound } from './outbound.ts'
import { retryStart } from './retry-start.ts'
import { createRuntime } from './runtime.ts'
import { openSearch } from './search.ts'

const shape = input(SearchInput)

/**
 * Searches the data folder once, as a caller without a token, with the store and the index alone: some 60 % of the CPU
 * time of a search by a whole gateway. Undefined if it takes a gateway: this version has not listed its own agents yet,
 * other registries are asked too, or the brief form is wanted.
 */
export async function searchDataFolder(config: Config, params: JsonObject): Promise<AgentPage | undefined> {
  const { detail, federation: _, ...query } = shape.parse(params)
  if (config.DRAGOMAN_FEDERATION.length > 0 || detail === 'brief') return undefined
  const { stack, queries } = await retryStart(async (opening) => ({
    stack: opening,
    queries: await openQueries(opening, config),
  }))
  await using _opened = stack
  return await queries?.search(query, null, new AbortController().signal)
}

/** The parts of a gateway that a search uses; undefined if a gateway of this version has to list its agents first. */
async function openQueries(stack: AsyncDisposableStack, config: Config): Promise<SearchService | undefined> {
  const runtime = createRuntime(stack, config, {})
  const { clock, site, onErrorOf } = runtime
  await protectFiles(config, onErrorOf('files'))
  const store = stack.use(
    await openStore(storeLocation(config), { clock, onError: onErrorOf('store', 'warn'), start_ms: 0 }),
  )
  const own = await store.read.entry({ package_name: registryName })
  if (own?.version !== version) return undefined
  const { index, listed, vectors, tailing, saveSnapshot } = await openSearch(
    runtime,
    store,
    createOutbound(runtime),
  )
  const livenessCache = createLivenessCache(store.liveness, unconfiguredAgents(config))
  // Once the tailer has stopped.
  stack.defer(() => saveSnapshot(changesWorthStopping(index.applied_revision)))
  const tailer = stack.use(
    new IndexTailer(store, listed.index, onErrorOf('index'), { livenessCache, ...tailing }),
  )
  await livenessCache.sweep()
  const views = createViews(site, livenessCache)
  return new SearchService({ reader: store.read, index, tailer, vectors, views, livenessCache })
}

import { Failure } from '../../schemas/failure.ts'
import { storeAt } from '../registry/indexing/snapshot.ts'
import { Lease } from '../registry/lease.ts'
import {
  createEngine,
  type EngineFetch,
  type EngineLocation,
  type EngineObserver,
  engineLocation,
} from '../search/elasticsearch/client.ts'
import type { EngineUse, TailedIndex } from '../search/elasticsearch/tailed-index.ts'
import type { QueryReaderOptions } from '../search/index/query-reader.ts'
import type { SearchIndex } from '../search/search-index.ts'
import type { VectorStore } from '../search/vectors/vector-store.ts'
import type { Store } from '../store/store.ts'
import { Outage } from './outage.ts'
import type { Outbound } from './outbound.ts'
import type { Runtime } from './runtime.ts'

/** Time that the search engine may take to answer, in milliseconds; a search has less. */
const engineTimeout = 60_000

/** Milliseconds between two questions to an engine that does not answer. */
const probeMilliseconds = 10_000

/** The index and the vectors of the configured engine. */
export interface SearchEngine {
  createIndex(options: QueryReaderOptions): SearchIndex
  createVectors(model: string, dimensions: number, onError: (fault: unknown) => void): VectorStore
  /** Makes the indexes that a rebuild has filled serve, and deletes those that served. */
  takeOver(): Promise<void>
  /** Deletes what a rebuild that was killed has left, unless one runs now. */
  removeLeftovers(): Promise<void>
}

/**
 * Opens the engine that the configuration names, if it names one; its code is loaded only then. With `rebuild_index`,
 * new indexes are filled beside those that serve, and deleted at the end unless they took over. Throws Failure
 * `conflict` while another process does so.
 */
export async function openSearchEngine(
  runtime: Runtime,
  store: Store,
  outbound: Outbound,
  onLost: () => void,
): Promise<SearchEngine | undefined> {
  const { stack, config, options, clock, createId, onErrorOf } = runtime
  const location = engineLocation(config.DRAGOMAN_SEARCH)
  if (!location) return undefined
  const [{ createElasticIndex }, { createElasticVectors }] = await Promise.all([
    import('../search/elasticsearch/elastic-index.ts'),
    import('../search/elasticsearch/elastic-vectors.ts'),
  ])
  const opened = new Set<TailedIndex>()
  const isBeside = options.rebuild_index === true
  const fetch = outbound.fetchFrom([new URL(location.url).origin], engineTimeout)
  const use: EngineUse = {
    location,
    fetch,
    observer: observeEngine(runtime, location, fetch),
    // What was purged after a revision must not come back from an index that has not seen it.
    async originAt(revision: number) {
      const pruned = await store.retention.prunedRevision()
      return await storeAt(store, revision < pruned ? `before ${pruned}` : '', revision)
    },
    latest: () => store.read.latest(),
    onLost,
    opened,
    isBeside,
  }
  /** One process at a time fills indexes beside those that serve. */
  const turn = new Lease({
    leases: store.leases,
    name: 'search_index_rebuild',
    holder: createId(),
    clock,
  })
  const removeOthers = async () => {
    for (const index of opened) await index.removeOthers()
  }
  if (isBeside) {
    const held = await turn.hold(onErrorOf('index'))
    if (!held) throw busy()
    stack.use(held)
    stack.defer(() => removeOthers().catch(onErrorOf('index')))
  }
  return {
    createIndex: (options) => createElasticIndex({ ...use, ...options }),
    createVectors: (model, dimensions, onError) =>
      createElasticVectors({ ...use, model, dimensions, onError }),
    async takeOver() {
      if (!(await turn.take())) throw busy()
      for (const index of opened) await index.takeOver()
    },
    async removeLeftovers() {
      await using held = await turn.hold(onErrorOf('index'))
      if (held) await removeOthers()
    },
  }
}

/**
 * Keeps for the log and for `/readyz` whether the engine answers and takes changes; while it does not answer, asks, since
 * callers may not.
 */
export function observeEngine(
  { stack, health, log, clock, wait }: Pick<Runtime, 'stack' | 'health' | 'log' | 'clock' | 'wait'>,
  location: EngineLocation,
  fetch: EngineFetch,
): EngineObserver {
  const outage = new Outage('the search engine', log, clock)
  const closing = new AbortController()
  stack.defer(() => closing.abort())
  let isProbing = false
  /** The indexes that refuse changes. */
  const refusing = new Set<string>()
  const observer: EngineObserver = {
    onAnswer() {
      outage.end()
      if (!outage.lasts) health.delete('search_unavailable')
    },
    onFault(fault) {
      outage.note(fault)
      health.add('search_unavailable')
      if (!isProbing) void probe()
    },
    onWrite(index, fault) {
      if (refusing.has(index) === (fault !== undefined)) return
      if (fault) {
        refusing.add(index)
        health.add('search_read_only')
        const reason = fault.cause instanceof Error ? fault.cause.message : fault.message
        return log.error({ index, reason }, 'the search engine takes no changes')
      }
      refusing.delete(index)
      if (refusing.size === 0) health.delete('search_read_only')
      log.warn({ index }, 'the search engine takes changes again')
    },
  }
  const engine = createEngine(location, fetch, observer)

  async function probe(): Promise<void> {
    const { signal } = closing
    isProbing = true
    while (outage.lasts && !signal.aborted) {
      await wait(probeMilliseconds, signal).catch(() => {})
      await engine('GET', `${location.index}-*/_count`, undefined, { signal }).catch(() => {})
    }
    isProbing = false
  }

  return observer
}

function busy() {
  return new Failure('conflict', 'Another process rebuilds the search index.', {
    hint: 'Wait for its end. If it was killed, try again in ten seconds.',
  })
}

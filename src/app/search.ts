import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { attributeFields, indexedFields } from '../../schemas/entry-fields.ts'
import type { IndexTailerOptions } from '../registry/indexing/index-tailer.ts'
import { type Listed, watchListed } from '../registry/indexing/listed-watcher.ts'
import { createKeep, createSnapshot, type Keep, restoreFrom } from '../registry/indexing/snapshot.ts'
import { type InTurn, takingTurns } from '../registry/indexing/turns.ts'
import { createVectorIndex, type VectorIndex } from '../registry/indexing/vector-index.ts'
import { openVectorIndexSwitch, type VectorIndexSwitch } from '../registry/indexing/vector-index-switch.ts'
import { Lease } from '../registry/lease.ts'
import type { Embedder } from '../search/embedders/embedder.ts'
import { createMemoryIndex } from '../search/index/memory-index.ts'
import { readIdioms } from '../search/query/idioms.ts'
import { readProductNames } from '../search/query/product-names.ts'
import { readSynonyms } from '../search/query/synonyms.ts'
import type { SearchIndex } from '../search/search-index.ts'
import { createDictionary } from '../search/spelling/dictionary.ts'
import { createVectorsInMemory, openVectorsOnDisk } from '../search/vector-stores.ts'
import type { Store } from '../store/store.ts'
import {
  englishWordsFile,
  idiomsFile,
  productNamesFile,
  synonymsFile,
  vectorsWorker,
  version,
} from './assets.ts'
import { agentsWithSettings } from './config.ts'
import { configuredModel, type ModelSettings, openEmbedder, standby } from './embedder.ts'
import { extrasFolder, placeOf } from './extras.ts'
import type { Outbound } from './outbound.ts'
import type { Runtime } from './runtime.ts'
import { openSearchEngine, type SearchEngine } from './search-engine.ts'

/** The search index and its vectors, before their synchronisation with the store starts. */
export interface Search {
  readonly index: SearchIndex
  /** The index that changes are applied to. It notifies listeners of agents that become listed or unlisted. */
  readonly listed: Listed
  readonly vectors: VectorIndexSwitch
  /** How changes are applied to the index. */
  readonly tailing: IndexTailerOptions
  /** Writes a snapshot of the index if at least the given number of changes was applied since the last snapshot. */
  readonly saveSnapshot: Keep
  /** The engine that has the index; undefined if it is in memory. */
  readonly engine?: SearchEngine
}

/** An index of the engine is filled in larger pages, and callers do not wait while it is away. */
const tailingVectorsElsewhere = { page_size: 1000, waits: 'without fault' } as const

const tailingElsewhere: IndexTailerOptions = {
  applied_anew: agentsWithSettings,
  ...tailingVectorsElsewhere,
  onEntryFault: 'wait',
}

/** Opens the search of the configuration. Throws Failure if its model cannot be loaded. */
export async function openSearch(runtime: Runtime, store: Store, outbound: Outbound): Promise<Search> {
  const { stack, config } = runtime
  const onError = runtime.onErrorOf('index')
  const onLost = noteLoss(runtime)
  const engine = await openSearchEngine(runtime, store, outbound, onLost)
  const snapshot = createSnapshot(
    join(config.data, 'index', 'words'),
    `${version}/20 ${attributeFields}`,
    store,
    onError,
    onLost,
  )
  const [opening, reading] = await Promise.allSettled([
    openVectors(runtime, store, outbound, engine),
    engine ? undefined : snapshot.read(),
  ])
  const saved = reading.status === 'fulfilled' ? reading.value : undefined
  if (opening.status === 'rejected') {
    await saved?.[Symbol.asyncDispose]()
    throw opening.reason
  }
  const vectors = stack.use(opening.value)
  if (reading.status === 'rejected') throw reading.reason
  const synonyms = readSynonyms([synonymsFile, config.DRAGOMAN_SYNONYMS].filter((path) => path !== undefined))
  const idioms = readIdioms(idiomsFile)
  const names = readProductNames(productNamesFile)
  const restate = (text: string) => idioms(names(text))
  const dictionary = createDictionary(() => readFileSync(englishWordsFile, 'utf8'))
  const options = { meaning: () => vectors.meaning, synonyms, restate, dictionary, onError }
  if (engine) {
    const index = stack.use(engine.createIndex(options))
    return {
      index,
      listed: watchListed(index),
      vectors,
      tailing: { ...tailingElsewhere, onLost },
      saveSnapshot: async () => {},
      engine,
    }
  }
  const index = stack.use(createMemoryIndex(options))
  // The port opens meanwhile: an index of 100,000 entries takes two seconds to read.
  const restoring = restoreFrom(saved, index, onError)
  return {
    index,
    listed: watchListed(index),
    vectors,
    tailing: { applied_anew: agentsWithSettings, restoring, onLost },
    saveSnapshot: createKeep(snapshot, index, restoring),
  }
}

/** Keeps for `/readyz` that the store lacks changes that an index of this process has. */
function noteLoss({ health }: Pick<Runtime, 'health'>): () => void {
  return () => void health.add('store_behind_index')
}

function openVectors(
  runtime: Runtime,
  store: Store,
  outbound: Outbound,
  engine: SearchEngine | undefined,
): Promise<VectorIndexSwitch> {
  const { config } = runtime
  const onError = runtime.onErrorOf('index')

  async function open(settings: ModelSettings): Promise<VectorIndex> {
    const embedder = await openEmbedder(settings, runtime, outbound)
    // The built-in model embeds a text in less time than a turn takes.
    const inTurn = settings.embedder === 'static' ? undefined : embeddingTurns(runtime, store, embedder.model)
    try {
      if (engine && config.DRAGOMAN_VECTORS === 'auto') {
        const vectors = engine.createVectors(fileName(embedder.model), embedder.dimensions, onError)
        return createVectorIndex(store, embedder, vectors, onError, {
          ...tailingVectorsElsewhere,
          onLost: noteLoss(runtime),
          inTurn,
        })
      }
      const onDisk = await isOnDisk(runtime, store, embedder.model)
      return onDisk ? await openOnDisk(embedder, inTurn) : await openInMemory(embedder, inTurn)
    } catch (fault) {
      await embedder[Symbol.asyncDispose]()
      throw fault
    }
  }

  async function openInMemory(embedder: Embedder, inTurn: InTurn | undefined): Promise<VectorIndex> {
    const { model, dimensions } = embedder
    const path = join(config.data, 'index', `vectors-${fileName(model)}`)
    const format = `${version}/8 ${indexedFields} ${model}`
    const snapshot = createSnapshot(path, format, store, onError, noteLoss(runtime))
    const vectors = createVectorsInMemory({ dimensions, worker: vectorsWorker })
    const restoring = restoreFrom(await snapshot.read(), vectors, onError)
    const keep = createKeep(snapshot, vectors, restoring)
    return createVectorIndex(store, embedder, vectors, onError, { keep, restoring, inTurn })
  }

  /** LanceDB is loaded only here. */
  async function openOnDisk(embedder: Embedder, inTurn: InTurn | undefined): Promise<VectorIndex> {
    const { model, dimensions } = embedder
    let index: VectorIndex | undefined
    const folder = join(config.data, 'vectors', fileName(model))
    const options = {
      folder,
      dimensions,
      extras: extrasFolder(config),
      on_rebuild(cause: unknown) {
        onError(cause)
        // Derives the damaged vectors again, from the first change on.
        void index?.tailer.caughtUp(Number.MAX_SAFE_INTEGER)
      },
    }
    let vectors = await openVectorsOnDisk(options)
    // Vectors of entries that were purged since then must go too.
    if (vectors.applied_revision < (await store.retention.prunedRevision())) {
      await vectors[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
      vectors = await openVectorsOnDisk(options)
    }
    index = createVectorIndex(store, embedder, vectors, onError, { inTurn })
    return index
  }

  const configured = configuredModel(config)
  // A rebuild fills the index of the configured model alone.
  const fallback = runtime.options.rebuild_index ? configured : standby
  const onAlone = (model: string) => removeOtherVectors(config.data, model)
  return openVectorIndexSwitch({ store, configured, standby: fallback, open, onAlone, onError })
}

/** Turns of the processes of a store to embed texts by a model. */
function embeddingTurns({ clock, createId, wait, onErrorOf }: Runtime, store: Store, model: string): InTurn {
  const name = `embeddings:${fileName(model)}`
  const lease = new Lease({ leases: store.leases, name, holder: createId(), clock })
  return takingTurns(lease, wait, onErrorOf('index'))
}

/** With `auto`, an index of more vectors than this is on disk: in memory they take 1 KB each, and 4 GB at most. */
const maxInMemory = 3_000_000

async function isOnDisk({ config, log }: Runtime, store: Store, model: string): Promise<boolean> {
  if (config.DRAGOMAN_VECTORS !== 'auto') return config.DRAGOMAN_VECTORS === 'lance'
  if (!(await store.embeddings.exceed(model, maxInMemory))) return false
  if (placeOf('lance', extrasFolder(config)) !== undefined) return true
  log.warn('more vectors than fit well in memory: dragoman extras add lance, and start again')
  return false
}

/** Removes the vectors of models that served before: a version may ship another table. */
async function removeOtherVectors(data: string, model: string): Promise<void> {
  const own = fileName(model)
  const [index, onDisk] = [join(data, 'index'), join(data, 'vectors')]
  const others = [
    ...(await namesIn(index))
      .filter((name) => name.startsWith('vectors-') && !name.startsWith(`vectors-${own}`))
      .map((name) => join(index, name)),
    ...(await namesIn(onDisk)).filter((name) => name !== own).map((name) => join(onDisk, name)),
  ]
  for (const path of others) await rm(path, { recursive: true, force: true })
}

/** None if there is no such folder. */
function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => [])
}

function fileName(model: string): string {
  return hash('sha256', model).slice(0, 12)
}

import { hash } from 'node:crypto'
import { join } from 'node:path'
import { Failure } from '../../schemas/failure.ts'
import type { Fetch } from '../net/fetch/fetch.ts'
import { createKeep, createSnapshot, restored } from '../registry/indexing/snapshot.ts'
import { createVectorIndex, type VectorIndex } from '../registry/indexing/vector-index.ts'
import { openVectorIndexSwitch, type VectorIndexSwitch } from '../registry/indexing/vector-index-switch.ts'
import type { Embedder } from '../search/embedders/embedder.ts'
import { createStaticEmbedder } from '../search/embedders/static/static-embedder.ts'
import { createMemoryVectorStore } from '../search/vectors/memory/memory-vector-store.ts'
import type { Store } from '../store/store.ts'
import { embedderWorker, staticModel, vectorsWorker, version } from './assets.ts'
import type { Config } from './config.ts'

/** Which model, as it is remembered from one start to the next: no secrets. */
type Settings =
  | { readonly embedder: 'static' }
  | { readonly embedder: 'transformers'; readonly folder: string }
  | { readonly embedder: 'http'; readonly url: string; readonly model: string }

/** A fetch that may reach these origins, whose servers may be silent for so many milliseconds. */
type Outside = (allowed: readonly string[], idle_ms: number) => Fetch

/** A model on an ordinary processor thinks for a while before it answers. */
const patience = 60_000

const standby: Settings = { embedder: 'static' }

/** Opens the dense arm that the configuration asks for. Throws Failure where its model cannot be had. */
export function openDense(
  config: Config,
  store: Store,
  outside: Outside,
  onError: (fault: unknown) => void,
): Promise<VectorIndexSwitch> {
  async function open(settings: Settings): Promise<VectorIndex> {
    const embedder = await openEmbedder(settings, config, outside)
    try {
      const onDisk = await wantsDisk(config, store, embedder.model)
      return onDisk ? await openOnDisk(embedder) : await openInMemory(embedder)
    } catch (fault) {
      await embedder[Symbol.asyncDispose]()
      throw fault
    }
  }

  async function openInMemory(embedder: Embedder): Promise<VectorIndex> {
    const { model, dimensions } = embedder
    const path = join(config.data, 'index', `vectors-${fileName(model)}`)
    const snapshot = createSnapshot(path, `${version}/1 ${model}`, store, onError)
    const vectors = restored(
      await snapshot.read(),
      (saved) => createMemoryVectorStore({ dimensions, worker: vectorsWorker, saved }),
      onError,
    )
    return createVectorIndex(store, embedder, vectors, onError, createKeep(snapshot, vectors))
  }

  /** LanceDB is loaded only here. */
  async function openOnDisk(embedder: Embedder): Promise<VectorIndex> {
    const { model, dimensions } = embedder
    const { openLanceVectorStore } = await import('../search/vectors/lance/lance-vector-store.ts')
    const folder = join(config.data, 'vectors', fileName(model))
    let arm: VectorIndex | undefined
    const vectors = await openLanceVectorStore({
      folder,
      dimensions,
      on_rebuild(cause) {
        onError(cause)
        // What was thrown away is derived anew, from the first change on.
        void arm?.follower.caughtUp(Number.MAX_SAFE_INTEGER)
      },
    })
    arm = createVectorIndex(store, embedder, vectors, onError)
    return arm
  }

  return openVectorIndexSwitch({ store, wanted: settingsOf(config), standby, open, onError })
}

/** More vectors than this are kept on disk, unless told otherwise. */
const mostInMemory = 300_000

async function wantsDisk(config: Config, store: Store, model: string): Promise<boolean> {
  if (config.DRAGOMAN_VECTORS !== 'auto') return config.DRAGOMAN_VECTORS === 'lance'
  return (await store.embeddings.count(model)) > mostInMemory
}

function fileName(model: string): string {
  return hash('sha256', model).slice(0, 12)
}

function settingsOf(config: Config): Settings {
  const { DRAGOMAN_EMBEDDER, DRAGOMAN_MODEL, DRAGOMAN_EMBEDDINGS_URL } = config
  if (DRAGOMAN_EMBEDDER === 'static') return standby
  const model = needed('DRAGOMAN_MODEL', DRAGOMAN_MODEL, DRAGOMAN_EMBEDDER)
  if (DRAGOMAN_EMBEDDER === 'transformers') return { embedder: 'transformers', folder: model }
  const url = needed('DRAGOMAN_EMBEDDINGS_URL', DRAGOMAN_EMBEDDINGS_URL, DRAGOMAN_EMBEDDER)
  return { embedder: 'http', url, model }
}

function needed(name: string, value: string | undefined, embedder: string): string {
  if (value !== undefined) return value
  throw new Failure('not_configured', `The ${embedder} embedder needs ${name}.`, { hint: `Set ${name}.` })
}

/** The optional embedders load their code only where they are asked for. */
async function openEmbedder(settings: Settings, config: Config, outside: Outside): Promise<Embedder> {
  if (settings.embedder === 'static') return createStaticEmbedder(staticModel)
  if (settings.embedder === 'transformers') {
    const { createTransformersEmbedder } = await import(
      '../search/embedders/transformers/transformers-embedder.ts'
    )
    const extras = config.DRAGOMAN_EXTRAS ?? join(config.data, 'extras')
    return createTransformersEmbedder({ folder: settings.folder, worker: embedderWorker, extras })
  }
  const { createHttpEmbedder } = await import('../search/embedders/http/http-embedder.ts')
  const { url, model } = settings
  const { DRAGOMAN_EMBEDDINGS_KEY: key, DRAGOMAN_EMBEDDINGS_DIMENSIONS: dimensions } = config
  const fetch = outside(URL.canParse(url) ? [new URL(url).origin] : [], patience)
  return createHttpEmbedder({ url, model, key, dimensions, fetch, timeout_ms: patience })
}

import type { Embedder } from '../../search/embedders/embedder.ts'
import { createMeaning, type Meaning } from '../../search/index/meaning.ts'
import type { VectorStore } from '../../search/vectors/vector-store.ts'
import type { Store } from '../../store/store.ts'
import { IndexTailer, type IndexTailerOptions } from './index-tailer.ts'
import type { Keep } from './snapshot.ts'
import type { InTurn } from './turns.ts'
import { createVectorFeed } from './vector-feed.ts'

/** The vectors of every entry by one model, synchronised with the store, and the search over them. */
export interface VectorIndex extends AsyncDisposable {
  readonly model: string
  readonly meaning: Meaning
  readonly tailer: IndexTailer
  /**
   * Resolves once the index holds all changes that were committed at the start, or has failed: searches by words do
   * not wait for it.
   */
  readonly ready: Promise<void>
  /** Texts embedded since the start. */
  readonly embedded: number
  /** Writes its snapshot if at least that many changes were applied since the last one. */
  readonly saveSnapshot: Keep
}

/** Maximum time for which a write waits for its vectors, in milliseconds; shorter than that for its words. */
const write_wait_ms = 1000

/** From this number of changes on, a snapshot saves more time than writing it costs. */
export const changesWorthKeeping = 500

/**
 * From this number of changes on, a stop writes a snapshot: writing a large index takes longer than the next start takes
 * to apply a few changes again, beside the open port.
 */
export function changesWorthStopping(revision: number): number {
  return Math.max(1, Math.min(5000, Math.floor(revision / 100)))
}

interface VectorIndexOptions extends IndexTailerOptions {
  /** Writes its snapshots; without it, the vectors keep themselves. */
  readonly keep?: Keep
  /** With it, each text is embedded by one of the processes of a store alone. */
  readonly inTurn?: InTurn | undefined
}

/** Owns the embedder and the vectors: disposing the index disposes them. */
export function createVectorIndex(
  store: Store,
  embedder: Embedder,
  vectors: VectorStore,
  onError: (fault: unknown) => void,
  { keep = async () => {}, inTurn, ...tailing }: VectorIndexOptions = {},
): VectorIndex {
  const stop = new AbortController()
  const { promise: inTrouble, resolve: giveUp } = Promise.withResolvers<void>()
  const feed = createVectorFeed({
    embeddings: store.embeddings,
    embedder,
    vectors,
    signal: stop.signal,
    onError,
    inTurn,
  })
  const onFault = (fault: unknown) => {
    onError(fault)
    giveUp()
  }
  const tailer = new IndexTailer(store, feed, onFault, {
    onEntryFault: 'wait',
    write_wait_ms,
    ...tailing,
  })
  return {
    model: embedder.model,
    meaning: createMeaning(embedder, vectors),
    saveSnapshot: keep,
    tailer,
    ready: Promise.race([tailer.ready.then(() => keep(changesWorthKeeping).catch(onError)), inTrouble]),
    get embedded() {
      return feed.embedded
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await tailer[Symbol.asyncDispose]()
      await feed[Symbol.asyncDispose]()
      await keep(changesWorthStopping(vectors.applied_revision)).catch(onError)
      await vectors[Symbol.asyncDispose]()
      await embedder[Symbol.asyncDispose]()
    },
  }
}

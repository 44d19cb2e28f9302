import type { Embedder } from '../../search/embedders/embedder.ts'
import { createMeaning, type Meaning } from '../../search/index/meaning.ts'
import type { VectorStore } from '../../search/vectors/vector-store.ts'
import type { Store } from '../../store/store.ts'
import { IndexTailer } from './index-tailer.ts'
import type { Keep } from './snapshot.ts'
import { createVectorFeed } from './vector-feed.ts'

/** One model at work: its vectors of every entry, kept in step with the truth, and what queries mean to it. */
export interface VectorIndex extends AsyncDisposable {
  readonly model: string
  readonly meaning: Meaning
  readonly follower: IndexTailer
  /** Resolves once it knows everything that was committed at the start, or is in trouble: words wait for nobody. */
  readonly ready: Promise<void>
  /** Texts embedded since the start. */
  readonly embedded: number
}

/** A write waits less for meaning than for words. */
const write_wait_ms = 1000

/** So many changes cost the next start more than writing them down costs this one. */
export const changesWorthKeeping = 500

/** Takes over the embedder and the vectors: disposing the arm disposes them. */
export function createVectorIndex(
  store: Store,
  embedder: Embedder,
  vectors: VectorStore,
  onError: (fault: unknown) => void,
  keep: Keep = async () => {},
): VectorIndex {
  const stop = new AbortController()
  const { promise: inTrouble, resolve: giveUp } = Promise.withResolvers<void>()
  const feed = createVectorFeed(store.embeddings, embedder, vectors, stop.signal, onError)
  const onFault = (fault: unknown) => {
    onError(fault)
    giveUp()
  }
  const follower = new IndexTailer(store, feed, onFault, { trouble: 'wait', write_wait_ms })
  return {
    model: embedder.model,
    meaning: createMeaning(embedder, vectors),
    follower,
    ready: Promise.race([follower.ready.then(() => keep(changesWorthKeeping).catch(onError)), inTrouble]),
    get embedded() {
      return feed.embedded
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await follower[Symbol.asyncDispose]()
      await feed[Symbol.asyncDispose]()
      await keep(1).catch(onError)
      await vectors[Symbol.asyncDispose]()
      await embedder[Symbol.asyncDispose]()
    },
  }
}

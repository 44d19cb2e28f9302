import type { Embeddings } from '../../store/record-stores.ts'

type Vectors = ReadonlyMap<string, Float32Array>

/**
 * Stores the vectors of one model in batches, after a short delay: a commit for each page of changes would cost more
 * than embedding. Vectors lost in a crash are embedded again at the next start. Disposing it stores the queued
 * vectors.
 */
interface VectorKeep extends AsyncDisposable {
  /** Vectors that are stored or queued, by content hash. */
  find(hashes: readonly string[]): Promise<Vectors>
  /** Resolves at once unless the queue is long. */
  add(vectors: Vectors): Promise<void>
  /** Stores the queued vectors. */
  flush(): Promise<void>
}

const maxBatch = 200
const latestMilliseconds = 250

/** `onError` is called for vectors that could not be stored. */
export function createVectorKeep(
  embeddings: Embeddings,
  model: string,
  onError: (fault: unknown) => void,
): VectorKeep {
  let waiting = new Map<string, Float32Array>()
  let leaving: Vectors = waiting
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    writing = writing.then(async () => {
      leaving = waiting
      waiting = new Map()
      if (leaving.size > 0) await embeddings.keep(model, leaving).catch(onError)
    })
    return writing
  }

  return {
    async find(hashes) {
      const found = new Map<string, Float32Array>()
      for (const hash of hashes) {
        const vector = waiting.get(hash) ?? leaving.get(hash)
        if (vector) found.set(hash, vector)
      }
      const rest = hashes.filter((hash) => !found.has(hash))
      return rest.length === 0 ? found : new Map([...found, ...(await embeddings.find(model, rest))])
    },
    async add(vectors) {
      for (const [hash, vector] of vectors) waiting.set(hash, vector)
      if (waiting.size >= maxBatch) return await flush()
      timer ??= setTimeout(flush, latestMilliseconds).unref()
    },
    flush,
    [Symbol.asyncDispose]: flush,
  }
}

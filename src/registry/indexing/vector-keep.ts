import type { Embeddings } from '../../store/store.ts'

type Vectors = ReadonlyMap<string, Float32Array>

/**
 * Keeps the vectors of one model a moment later, many at once: a commit for each page of changes would cost more than
 * embedding does. What a crash loses is embedded again at the next start. Disposing it keeps what is left.
 */
interface VectorKeep extends AsyncDisposable {
  /** Those that are kept, or are to be, by content hash. */
  find(hashes: readonly string[]): Promise<Vectors>
  /** Resolves at once, unless many wait already. */
  add(vectors: Vectors): Promise<void>
}

const most = 200
const latestMilliseconds = 250

/** `failed` hears of what could not be kept. */
export function createVectorKeep(
  embeddings: Embeddings,
  model: string,
  onError: (fault: unknown) => void,
): VectorKeep {
  let waiting = new Map<string, Float32Array>()
  let leaving: Vectors = waiting
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  function write(): Promise<void> {
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
      if (waiting.size >= most) return await write()
      timer ??= setTimeout(write, latestMilliseconds).unref()
    },
    [Symbol.asyncDispose]: write,
  }
}

import type { Embedder, TextEmbedding } from '../../../src/search/embedders/embedder.ts'
import type { Filter, SearchDocument } from '../../../src/search/search-index.ts'
import type {
  Near,
  VectorChange,
  VectorEntry,
  VectorStore,
} from '../../../src/search/vectors/vector-store.ts'
import { documentOf } from './documents.ts'
import { meets } from './oracle.ts'

/** Axes of a small language: each word has a direction, and texts are sums of their words. */
const meanings: Readonly<Record<string, readonly number[]>> = {
  weather: [1, 0, 0],
  forecast: [0.9, 0.1, 0],
  umbrella: [0.8, 0.2, 0],
  mail: [0, 1, 0],
  letter: [0.1, 0.9, 0],
  price: [0, 0, 1],
  stocks: [0, 0.1, 0.9],
}

/** An embedder with predictable vectors. Counts the texts it embeds; fails on request. */
export function tinyEmbedder(model = 'tiny') {
  const state = { embedded: 0, failing: false, disposed: false }
  const embedder: Embedder = {
    model,
    dimensions: 3,
    async embed(texts, _as, signal) {
      signal.throwIfAborted()
      if (state.failing) throw new Error('The model is asleep.')
      state.embedded += texts.length
      return texts.map(embeddingOf)
    },
    async [Symbol.asyncDispose]() {
      state.disposed = true
    },
  }
  return { embedder, state }
}

function embeddingOf(text: string): TextEmbedding {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  const axes = words.flatMap((word) => (meanings[word] ? [meanings[word]] : []))
  const sum = [0, 1, 2].map((axis) => axes.reduce((total, values) => total + (values[axis] ?? 0), 0))
  const length = Math.hypot(...sum)
  const vector = Float32Array.from(sum, (value) => (length === 0 ? 0 : value / length))
  return { vector, coverage: words.length === 0 ? 0 : axes.length / words.length }
}

/** A vector store that compares everything, straight from the contract. */
export function plainVectors(): VectorStore & { readonly entries: Map<string, VectorEntry> } {
  const entries = new Map<string, VectorEntry>()
  let applied_revision = 0

  function nearOf(vector: Float32Array, id: string, { vectors }: VectorEntry): Near {
    const [own = 0, ...rest] = vectors.map((values) =>
      values.reduce((sum, value, at) => sum + value * (vector[at] ?? 0), 0),
    )
    if (rest.length === 0) return { id, similarity: own, capability: null }
    const best = Math.max(...rest)
    return { id, similarity: (own + best) / 2, capability: rest.indexOf(best) }
  }

  return {
    entries,
    get applied_revision() {
      return applied_revision
    },
    async apply(changes: readonly VectorChange[], revision: number) {
      for (const { id, entry } of changes) {
        if (entry) entries.set(id, entry)
        else entries.delete(id)
      }
      applied_revision = revision
    },
    async nearest(vector: Float32Array, filter: Filter, limit: number) {
      return [...entries]
        .filter(([id, { attributes }]) =>
          meets(documentOf({ id, ...(attributes as Partial<SearchDocument>) }), filter),
        )
        .map(([id, entry]) => nearOf(vector, id, entry))
        .sort((left, right) => right.similarity - left.similarity || (left.id < right.id ? -1 : 1))
        .slice(0, limit)
    },
    async compare(vector: Float32Array, ids: readonly string[]) {
      return ids.flatMap((id) => {
        const entry = entries.get(id)
        return entry ? [nearOf(vector, id, entry)] : []
      })
    },
    async [Symbol.asyncDispose]() {},
  }
}

import { vectorsWorker } from '../../src/app/assets.ts'
import type { Embedder } from '../../src/search/embedders/embedder.ts'
import { createMeaning } from '../../src/search/index/meaning.ts'
import { createMemoryIndex } from '../../src/search/index/memory-index.ts'
import { createMemoryVectorStore } from '../../src/search/vectors/memory/memory-vector-store.ts'
import { type Corpus, dimensions } from './corpus.ts'
import { depth, type Engine, type Question } from './engine.ts'

const page = 1000

/** The product's index and vector store. The vectors of the synthetic questions replace those of an embedder. */
export async function openProduct(
  corpus: Corpus,
): Promise<Engine & { complete(text: string): Promise<readonly string[]> }> {
  const started = performance.now()
  const vectors = createMemoryVectorStore({ dimensions, worker: vectorsWorker })
  const meaning = createMeaning(embedderOf(corpus), vectors)
  const index = createMemoryIndex({ meaning: () => meaning })
  for (let at = 0; at < corpus.size; at += page) {
    const documents = corpus.documents.slice(at, at + page)
    await index.apply(
      documents.map((document) => ({ id: document.id, document })),
      at + documents.length,
    )
    const changes = documents.map((document, slot) => {
      const start = (at + slot) * dimensions
      const entry = { attributes: document, vectors: [corpus.vectors.subarray(start, start + dimensions)] }
      return { id: document.id, entry }
    })
    await vectors.apply(changes, at + documents.length)
  }
  const { signal } = new AbortController()
  return {
    name: 'Dragoman',
    build_ms: performance.now() - started,
    async scan({ vector }: Question) {
      return (await vectors.nearest(vector, {}, depth, signal)).map(({ id }) => id)
    },
    async hybrid({ text }: Question, category?: string) {
      const filter = { state: 'ACTIVE', ...(category !== undefined && { category }) } as const
      const { hits } = await index.search({ text, filter, limit: depth, sort: 'relevance' }, signal)
      return hits.map(({ id }) => id)
    },
    complete: (text) => index.complete(text, 16),
    async [Symbol.asyncDispose]() {
      await index[Symbol.asyncDispose]()
      await vectors[Symbol.asyncDispose]()
    },
  }
}

function embedderOf(corpus: Corpus): Embedder {
  const vectors = new Map(corpus.questions.map(({ text, vector }) => [text, vector]))
  return {
    model: 'synthetic',
    dimensions,
    embed: async (texts) =>
      texts.map((text) => ({ vector: vectors.get(text) ?? new Float32Array(dimensions), coverage: 1 })),
    async [Symbol.asyncDispose]() {},
  }
}

import { hash } from 'node:crypto'
import type { Embedder } from '../../search/embedders/embedder.ts'
import { documentTexts, documentVectors } from '../../search/index/document-texts.ts'
import type { SearchDocument } from '../../search/search-index.ts'
import type { VectorChange, VectorStore } from '../../search/vectors/vector-store.ts'
import type { Embeddings } from '../../store/record-stores.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import type { Derived } from './index-tailer.ts'
import { toDocument } from './search-document.ts'
import type { InTurn } from './turns.ts'
import { createVectorKeep } from './vector-keep.ts'

/** Texts by the hash of their content. */
type Texts = ReadonlyMap<string, string>
/** Vectors of texts, by the same hash. */
type Vectors = ReadonlyMap<string, Float32Array>

interface VectorFeed extends Derived, AsyncDisposable {
  /** Texts embedded since the start, because their vectors were not stored. */
  readonly embedded: number
}

interface VectorFeedOptions {
  readonly embeddings: Embeddings
  readonly embedder: Embedder
  readonly vectors: VectorStore
  readonly signal: AbortSignal
  readonly onError: (fault: unknown) => void
  /** With it, one process at a time embeds new texts, and the others find what it has stored. */
  readonly inTurn: InTurn | undefined
}

/** Feeds a vector store with the vectors of entries: stored ones, and new ones for new texts, which it stores. */
export function createVectorFeed(options: VectorFeedOptions): VectorFeed {
  const { embeddings, embedder, vectors, signal, onError, inTurn } = options
  const keep = createVectorKeep(embeddings, embedder.model, onError)
  let embedded = 0

  /** The vector of each text, by its hash. */
  async function vectorsOf(texts: Texts): Promise<Vectors> {
    const keys = [...texts.keys()]
    const stored = await keep.find(keys)
    if (stored.size === texts.size) return stored
    if (!inTurn) return await embedMissing(texts, stored)
    return await inTurn(async () => {
      const all = await embedMissing(texts, await keep.find(keys))
      await keep.flush()
      return all
    }, signal)
  }

  async function embedMissing(texts: Texts, stored: Vectors): Promise<Vectors> {
    const missing = [...texts].filter(([key]) => !stored.has(key))
    if (missing.length === 0) return stored
    const made = await embedder.embed(
      missing.map(([, text]) => text),
      'document',
      signal,
    )
    const fresh = new Map(missing.map(([key], at) => [key, made[at]?.vector ?? none]))
    await keep.add(fresh)
    embedded += fresh.size
    return new Map([...stored, ...fresh])
  }

  return {
    get embedded() {
      return embedded
    },
    get applied_revision() {
      return vectors.applied_revision
    },
    async apply(changes, revision) {
      const keyed = changes.map(({ id, document }) => ({
        id,
        document,
        keys: document ? keysOf(document) : [],
      }))
      const found = await vectorsOf(new Map(keyed.flatMap(({ keys }) => keys)))
      const next = keyed.map(({ id, document, keys }): VectorChange => {
        const entry = document && {
          attributes: document,
          vectors: documentVectors(keys.map(([key]) => found.get(key) ?? none)),
        }
        return { id, entry }
      })
      await vectors.apply(next, revision)
    },
    ...(vectors.discard && { discard: () => vectors.discard?.() ?? Promise.resolve() }),
    [Symbol.asyncDispose]: () => keep[Symbol.asyncDispose](),
  }
}

const none = new Float32Array(0)

/** The content hashes of the texts of an entry. */
export function textHashes(entry: StoredEntry): string[] {
  return keysOf(toDocument(entry)).map(([key]) => key)
}

/** Each text of an entry, keyed by the hash of its content. */
function keysOf(document: SearchDocument): [string, string][] {
  return documentTexts(document).map((text) => [hash('sha256', text, 'base64url'), text])
}

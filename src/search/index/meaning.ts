import { LRUCache } from 'lru-cache'
import type { Embedder, TextEmbedding } from '../embedders/embedder.ts'
import { createModelWords, type ModelWords } from '../spelling/model-words.ts'
import type { AttributeFilter } from '../vectors/attributes.ts'
import type { Near, VectorStore } from '../vectors/vector-store.ts'
import { createWordVectors, type WordVectors } from './words/word-vectors.ts'

/** Similarities of entries to a query, by id. */
export interface Likeness {
  /** The model's understanding of the query, 0 to 1: the weight of its similarities. */
  readonly trust: number
  readonly near: ReadonlyMap<string, Near>
}

/** The search by meaning over vectors. */
export interface Meaning {
  /** The text with its words of other languages in English, as far as the model can tell, and without those of `without`. */
  inEnglish(text: string, without: ReadonlySet<string>): Promise<string>
  /** The words that the model knows, where they are at hand. */
  readonly words?: ModelWords | undefined
  /** The vectors of single words, where the model has them at hand. */
  readonly wordVectors?: WordVectors | undefined
  /**
   * Similarities of the entries nearest to the query among those that meet the filter, and of the entries `named`.
   * Undefined if the model does not understand the query.
   */
  compare(
    text: string,
    filter: AttributeFilter,
    named: readonly string[],
    signal: AbortSignal,
  ): Promise<Likeness | undefined>
}

/** Number of nearest entries: 50 give no better ranking, and cost a fifth more (docs/search-quality.md). */
const depth = 32
const rememberedQueries = 1000
const maxCharacters = 1000

/** Letters of scripts without spaces, on which models that know no other languages mislead. */
const unspaced = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}]/gu
const letters = /[\p{L}\p{N}]/gu
const maxUnspacedShare = 0.3
/** Below the first coverage a query counts as not understood; from the second on it has full trust. */
const leastCoverage = 0.4
const enoughCoverage = 0.7

export function createMeaning(embedder: Embedder, vectors: VectorStore): Meaning {
  let wordVectors: WordVectors | undefined
  const remembered = new LRUCache<string, readonly TextEmbedding[]>({ max: rememberedQueries })

  /** Returns the query's own embedding, then the embeddings of its clauses. */
  async function embed(text: string, signal: AbortSignal): Promise<readonly TextEmbedding[]> {
    const cached = remembered.get(text)
    if (cached) return cached
    const embeddings = await embedder.embed([text, ...clausesOf(text)], 'query', signal)
    remembered.set(text, embeddings)
    return embeddings
  }

  return {
    async inEnglish(text, without) {
      return (await embedder.inEnglish?.(text.slice(0, maxCharacters), without)) ?? text
    },
    words: createModelWords(embedder),
    get wordVectors() {
      wordVectors ??= createWordVectors(embedder)
      return wordVectors
    },
    async compare(text, filter, named, signal) {
      const query = text.slice(0, maxCharacters)
      if (!embedder.inEnglish && unspacedShare(query) > maxUnspacedShare) return undefined
      const [whole, ...clauses] = await embed(query, signal)
      if (!whole || whole.coverage < leastCoverage) return undefined

      const near = byId(await vectors.nearest(whole.vector, filter, depth, signal))
      const missing = named.filter((id) => !near.has(id))
      for (const entry of await vectors.compare(whole.vector, missing, signal)) near.set(entry.id, entry)

      const ids = [...near.keys()]
      const parts: Near[] = []
      for (const { vector } of clauses) parts.push(...(await vectors.compare(vector, ids, signal)))
      for (const [id, part] of bestById(parts)) near.set(id, meanOf(near.get(id) ?? part, part))
      return { trust: Math.min(1, whole.coverage / enoughCoverage), near }
    },
  }
}

function byId(all: readonly Near[]): Map<string, Near> {
  return new Map(all.map((entry) => [entry.id, entry]))
}

function bestById(all: readonly Near[]): Map<string, Near> {
  const best = new Map<string, Near>()
  for (const entry of all) {
    if (entry.similarity > (best.get(entry.id)?.similarity ?? Number.NEGATIVE_INFINITY))
      best.set(entry.id, entry)
  }
  return best
}

/**
 * The similarity of an entry to a query of several parts: the mean of its similarity to the whole and to its best
 * part.
 */
function meanOf(whole: Near, part: Near): Near {
  const { capability } = part.similarity > whole.similarity ? part : whole
  return { id: whole.id, similarity: (whole.similarity + part.similarity) / 2, capability }
}

function unspacedShare(text: string): number {
  const all = text.match(letters)?.length ?? 0
  return all === 0 ? 0 : (text.match(unspaced)?.length ?? 0) / all
}

const ends = /(?<=[.!?;])\s+|[,;\n]|\b(?:and|then|also)\b/i
const minWords = 3
const maxClauses = 4

/**
 * The parts of a query that asks for several things, at most 4: the texts between sentence ends, commas, "and", "then"
 * and "also" that have at least 3 words. Empty if there is only one part.
 */
export function clausesOf(text: string): string[] {
  const parts = text.split(ends).map((part) => part.trim())
  const clauses = parts.filter((part) => part.split(/\s+/).length >= minWords)
  return clauses.length > 1 ? clauses.slice(0, maxClauses) : []
}

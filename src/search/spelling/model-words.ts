import type { Embedder } from '../embedders/embedder.ts'
import { isSpellable, WordList } from './word-list.ts'

/** What a model knows of words. */
export interface ModelWords {
  /** The words of its vocabulary; the count of each is `maxRank` for the most frequent one, and 1 for the rarest. */
  readonly list: WordList
  /** Similarity of each word to a text in meaning. */
  closeness(text: string, words: readonly string[], signal: AbortSignal): Promise<readonly number[]>
}

export const maxRank = 1000

/** Undefined for a model without a vocabulary at hand, which also takes longer for a word. */
export function createModelWords(embedder: Embedder): ModelWords | undefined {
  if (!embedder.words) return undefined
  let list: WordList | undefined
  return {
    get list() {
      list ??= listOf(embedder.words?.() ?? [])
      return list
    },
    async closeness(text, words, signal) {
      const [whole, ...others] = await embedder.embed([text, ...words], 'query', signal)
      return others.map(({ vector }) =>
        vector.reduce((sum, value, at) => sum + value * (whole?.vector[at] ?? 0), 0),
      )
    },
  }
}

function listOf(words: readonly string[]): WordList {
  const list = new WordList()
  for (const [rank, word] of words.entries()) {
    const id = isSpellable(word) ? list.add(word) : undefined
    const share = 1 - rank / words.length
    if (id !== undefined) list.count(id, 1 + Math.floor((maxRank - 1) * share))
  }
  return list
}

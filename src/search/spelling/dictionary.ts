import { type NearWord, WordList } from './word-list.ts'

/** Words that are right although neither an entry nor the model has them. */
export interface Dictionary {
  has(word: string): boolean
  /** The words whose difference to `written` costs at most `limit`. */
  near(written: string, limit: number): readonly NearWord[]
}

/** Reads the words, one a line, at the first question: most starts, and most searches, ask none. */
export function createDictionary(read: () => string): Dictionary {
  let words: WordList | undefined
  const list = () => {
    words ??= listOf(read().split('\n'))
    return words
  }
  return {
    has: (word) => list().countOf(word) > 0,
    near: (written, limit) => list().near(written, limit),
  }
}

function listOf(words: readonly string[]): WordList {
  const list = new WordList()
  for (const word of words) {
    const id = list.add(word)
    if (id !== undefined) list.count(id, 1)
  }
  return list
}

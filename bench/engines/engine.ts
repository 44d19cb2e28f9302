import type { Corpus } from './corpus.ts'

export type Question = Corpus['questions'][number]

/** A search engine, with the measurements of its build. */
export interface Engine extends AsyncDisposable {
  readonly name: string
  readonly build_ms: number
  /**
   * Ids of the 10 entries nearest to the question's vector among all; undefined if the engine does not support this
   * search.
   */
  scan?(question: Question): Promise<readonly string[]>
  /** Ids of the 10 best ACTIVE entries by words and vector; with `category`, only entries of that category. */
  hybrid?(question: Question, category?: string): Promise<readonly string[]>
}

export const depth = 10

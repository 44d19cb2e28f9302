import type { Corpus } from './corpus.ts'

export type Question = Corpus['questions'][number]

/** A way to search, with what was measured while it was built. */
export interface Engine extends AsyncDisposable {
  readonly name: string
  readonly build_ms: number
  /** Ids of the 10 best for the question's vector among all; undefined where the engine has no such search. */
  scan?(question: Question): Promise<readonly string[]>
  /** Ids of the 10 best by words and vector among the ACTIVE ones; with `category`, of that category. */
  hybrid?(question: Question, category?: string): Promise<readonly string[]>
}

export const depth = 10

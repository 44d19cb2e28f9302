/** The meaning of a text as a unit vector; all zeros if the model knows no word of the text. */
export interface TextEmbedding {
  readonly vector: Float32Array
  /** Share of the text that the model's vocabulary covers, 0 to 1. */
  readonly coverage: number
}

/** Computes vectors of texts; their cosine is the similarity of the meanings. */
export interface Embedder extends AsyncDisposable {
  /** Identifies the model and its content: vectors with different names are not comparable. */
  readonly model: string
  readonly dimensions: number
  /** The words of the model's vocabulary, the most frequent first; absent if they are not at hand. */
  words?(): readonly string[]
  /**
   * The vector of one word, whose length grows with what the word tells about a text; zeros for an unknown word. Absent
   * from models that take long for a word.
   */
  wordVector?(word: string): Float32Array
  /** One embedding a text, in order. Throws Failure, or the signal's reason when it has aborted. */
  embed(
    texts: readonly string[],
    as: 'query' | 'document',
    signal: AbortSignal,
  ): Promise<readonly TextEmbedding[]>
  /**
   * The text with its words of other languages in English, as far as the model can tell, and without those that are in
   * `without`, folded; models may lack this.
   */
  inEnglish?(text: string, without?: ReadonlySet<string>): Promise<string>
}

/** What a text means, as a unit vector; all zeros where the model knows nothing of it. */
export interface TextEmbedding {
  readonly vector: Float32Array
  /** How much of the text the model's vocabulary covers, 0 to 1. */
  readonly coverage: number
}

/** Turns texts into vectors whose cosine says how alike they are in meaning. */
export interface Embedder extends AsyncDisposable {
  /** Names the model and its content: vectors of another name do not compare. */
  readonly model: string
  readonly dimensions: number
  /** One embedding a text, in order. Throws Failure, or the signal's reason when it has aborted. */
  embed(
    texts: readonly string[],
    as: 'query' | 'document',
    signal: AbortSignal,
  ): Promise<readonly TextEmbedding[]>
}

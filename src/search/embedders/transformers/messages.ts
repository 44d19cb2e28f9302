/** What the thread of the embedder is started with. */
export interface Setup {
  /** Of the model. */
  readonly folder: string
  /** A folder whose node_modules may hold the package. */
  readonly extras: string | undefined
  /** That one computation may use. */
  readonly threads: number
}

/** The model that the thread has loaded. */
export interface LoadedModel {
  readonly name: string
  readonly dimensions: number
}

/** What the thread is told: texts to embed, or that nothing more will come. */
export type Order = readonly string[] | null

/**
 * What the thread says: first that its model is there or why not, then of each list of texts their vectors, one
 * after another in one array, or why there are none.
 */
export type ThreadAnswer =
  | { readonly model: LoadedModel }
  | { readonly refused: { readonly message: string; readonly hint?: string; readonly cause: string } }
  | { readonly vectors: Float32Array }
  | { readonly error: string }

/** The data with which the embedder's thread starts. */
export interface Setup {
  /** Folder of the model. */
  readonly folder: string
  /** A folder whose node_modules may hold the package. */
  readonly extras: string | undefined
  /** Threads that one computation may use. */
  readonly threads: number
}

/** The model that the thread has loaded. */
export interface LoadedModel {
  readonly name: string
  readonly dimensions: number
}

/** A message to the thread: texts to embed, or null to end the thread. */
export type Order = readonly string[] | null

/**
 * A message of the thread. The first one reports that the model is loaded, or the error. Each later one holds the
 * vectors of one list of texts, concatenated in one array, or the error.
 */
export type ThreadAnswer =
  | { readonly model: LoadedModel }
  | { readonly refused: { readonly message: string; readonly hint?: string; readonly cause: string } }
  | { readonly vectors: Float32Array }
  | { readonly error: string }

interface Limits {
  readonly texts: number
  readonly characters: number
}

/**
 * Splits a list of texts into batches within the limits, in order. A text longer than the limit is a separate batch.
 */
export function batchesOf(texts: readonly string[], limits: Limits): readonly (readonly string[])[] {
  const batches: string[][] = []
  let batch: string[] = []
  let characters = 0
  for (const text of texts) {
    const isFull = batch.length === limits.texts || characters + text.length > limits.characters
    if (batch.length === 0 || isFull) {
      batch = []
      characters = 0
      batches.push(batch)
    }
    batch.push(text)
    characters += text.length
  }
  return batches
}

/** About 500 word pieces of English: more than the smaller models read, and within what they accept. */
const maxCharacters = 2_000

/** The text up to the limit. A surrogate cut in half would make some servers refuse the whole batch. */
export function cut(text: string): string {
  return text.slice(0, maxCharacters).toWellFormed()
}

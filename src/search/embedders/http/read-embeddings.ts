/** The answer of an embeddings endpoint is not valid. */
export class InvalidEmbeddings extends Error {
  override readonly name = 'BadAnswer'
}

/**
 * Reads the answer to `count` texts: a vector for each text, in the order in which they were sent, of length 1, or
 * zeros if the model gave zeros. Throws InvalidEmbeddings; its message names the defect and quotes no part of the
 * answer.
 */
export function readEmbeddings(body: Uint8Array, count: number): readonly Float32Array[] {
  const rows = rowsOf(parse(body))
  if (rows.length !== count) throw new InvalidEmbeddings(`has ${rows.length} vectors for ${count} texts`)
  const vectors: Float32Array[] = []
  for (const row of rows) {
    const { index, embedding } = fieldsOf(row)
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count) {
      throw new InvalidEmbeddings('has a vector without the index of a text')
    }
    if (vectors[index]) throw new InvalidEmbeddings(`has two vectors of index ${index}`)
    vectors[index] = unitVector(embedding)
  }
  if (vectors.some(({ length }) => length !== vectors[0]?.length)) {
    throw new InvalidEmbeddings('has vectors of different dimensions')
  }
  return vectors
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body))
  } catch {
    throw new InvalidEmbeddings('is not JSON')
  }
}

function rowsOf(answer: unknown): readonly unknown[] {
  const { data } = fieldsOf(answer)
  if (!Array.isArray(data)) throw new InvalidEmbeddings('has no list of vectors')
  return data
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function unitVector(embedding: unknown): Float32Array {
  if (!Array.isArray(embedding) || embedding.length === 0)
    throw new InvalidEmbeddings('has no vector in a row')
  const vector = new Float64Array(embedding.length)
  let squares = 0
  for (const [index, value] of embedding.entries()) {
    if (typeof value !== 'number')
      throw new InvalidEmbeddings('has a vector with values that are not numbers')
    vector[index] = value
    squares += value * value
  }
  if (!Number.isFinite(squares)) throw new InvalidEmbeddings('has a vector that is not finite')
  const factor = squares === 0 ? 0 : 1 / Math.sqrt(squares)
  return Float32Array.from(vector, (value) => value * factor)
}

import { type Corpus, dimensions } from './corpus.ts'
import { depth, type Engine, type Question } from './engine.ts'

/**
 * Compares every vector in plain JavaScript over 32-bit floats: the baseline that a library must beat, and the exact
 * result.
 */
export function openBruteForce(corpus: Corpus): Engine {
  const { vectors, documents } = corpus

  async function scan({ vector }: Question): Promise<readonly string[]> {
    const best: { similarity: number; at: number }[] = []
    for (let at = 0; at < corpus.size; at++) {
      const start = at * dimensions
      let similarity = 0
      for (let axis = 0; axis < dimensions; axis++)
        similarity += (vectors[start + axis] ?? 0) * (vector[axis] ?? 0)
      if (best.length === depth && similarity <= (best.at(-1)?.similarity ?? 0)) continue
      best.push({ similarity, at })
      best.sort((left, other) => other.similarity - left.similarity)
      if (best.length > depth) best.pop()
    }
    return best.map(({ at }) => documents[at]?.id ?? '')
  }
  return { name: 'brute force in JavaScript', build_ms: 0, scan, async [Symbol.asyncDispose]() {} }
}

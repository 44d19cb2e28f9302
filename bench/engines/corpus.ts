import type { SearchDocument } from '../../src/search/search-index.ts'
import { documentOf } from '../../test/search/support/documents.ts'

export interface Corpus {
  readonly size: number
  readonly documents: readonly SearchDocument[]
  /** Unit vectors, one for each document, concatenated. */
  readonly vectors: Float32Array
  readonly questions: readonly {
    readonly text: string
    readonly vector: Float32Array
    readonly category: string
  }[]
}

export const dimensions = 256
const clusters = 256
const latent = 24
const vocabulary = 20_000
const wordsEach = 30
const categories = 12
const tags = 400
const questionCount = 300

/**
 * `size` synthetic agents, the same at every call: some 30 words whose frequencies fall as in natural language
 * (Zipf), vectors in 256 clusters of 24 latent dimensions with noise, 1 to 4 of 400 tags, 12 categories, a tenth in
 * STAGE; and 300 questions of 2 to 4 words, each with a vector near that of an agent.
 */
export function createCorpus(size: number): Corpus {
  const random = generator(11)
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  const basis = Float32Array.from({ length: latent * dimensions }, normal)
  const centres = Float32Array.from({ length: clusters * latent }, normal)

  function fillVector(target: Float32Array, cluster: number, spread: number): void {
    const point = Float32Array.from(
      { length: latent },
      (_, at) => (centres[cluster * latent + at] ?? 0) + spread * normal(),
    )
    let squares = 0
    for (let axis = 0; axis < dimensions; axis++) {
      let sum = 0.6 * normal()
      for (let at = 0; at < latent; at++) sum += (point[at] ?? 0) * (basis[at * dimensions + axis] ?? 0)
      target[axis] = sum
      squares += sum * sum
    }
    const length = Math.sqrt(squares)
    for (let axis = 0; axis < dimensions; axis++) target[axis] = (target[axis] ?? 0) / length
  }

  const word = () => `w${Math.floor(vocabulary ** random())}`
  const vectors = new Float32Array(size * dimensions)
  const documents = Array.from({ length: size }, (_, at) => {
    const cluster = Math.floor(random() * clusters)
    fillVector(vectors.subarray(at * dimensions, (at + 1) * dimensions), cluster, 0.5)
    return documentOf({
      id: `01900000-0000-7000-8000-${at.toString(16).padStart(12, '0')}`,
      package_name: `com.example.agent-${at}`,
      name: `${word()} ${word()}`,
      description: Array.from({ length: wordsEach }, word).join(' '),
      tags: [
        ...new Set(
          Array.from({ length: 1 + Math.floor(random() * 4) }, () => `t${Math.floor(random() * tags)}`),
        ),
      ],
      category: `c${Math.floor(random() * categories)}`,
      state: random() < 0.1 ? 'STAGE' : 'ACTIVE',
      created_at: new Date(Date.UTC(2026, 0, 1) + at * 1000).toISOString(),
    })
  })
  const questions = Array.from({ length: questionCount }, () => {
    const vector = new Float32Array(dimensions)
    fillVector(vector, Math.floor(random() * clusters), 0.7)
    const text = Array.from({ length: 2 + Math.floor(random() * 3) }, word).join(' ')
    return { text, vector, category: `c${Math.floor(random() * categories)}` }
  })
  return { size, documents, vectors, questions }
}

function generator(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state ^= state << 13
    state >>>= 0
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state / 4294967296
  }
}

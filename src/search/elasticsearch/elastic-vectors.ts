import { LRUCache } from 'lru-cache'
import type { JsonObject } from '../../../schemas/json.ts'
import { compareAscii } from '../../common/compare.ts'
import {
  type AttributeFilter,
  attributeNames,
  checkFilter,
  conditionsOf,
  valuesOf,
} from '../vectors/attributes.ts'
import { checkChange, checkVector } from '../vectors/check.ts'
import type { Near, VectorEntry, VectorStore } from '../vectors/vector-store.ts'
import { type EngineHit, type EngineUse, noState, TailedIndex } from './tailed-index.ts'

interface ElasticVectorsOptions extends EngineUse {
  /** The name of the model in the name of its index. */
  readonly model: string
  readonly dimensions: number
  readonly onError: (fault: unknown) => void
}

/** The rows of an entry. */
interface Stored {
  readonly rows: string
  readonly is_able: boolean
}

interface Rows {
  readonly rows: Float32Array
  /** True if each row is that of a capability. */
  readonly isAble: boolean
}

/** Changes with the form of the documents or the mapping. */
const format = '2'
/** Entries whose rows are compared as floats for each that is asked for: the engine compares bytes. */
const excess = 2
const minNearest = 64
/** The engine compares so many before it answers, at most. */
const maxCompared = 10_000
const comparedForEach = 4
const maxCachedBytes = 16 * 1024 * 1024

/**
 * Vectors in Elasticsearch. The similarity of an entry is the largest product of the query and one of its rows: its
 * own vector, or for each capability the mean of both. So one search finds the nearest entries, of which the best are
 * compared again as floats.
 */
export function createElasticVectors(options: ElasticVectorsOptions): VectorStore {
  return new ElasticVectors(options)
}

class ElasticVectors implements VectorStore {
  readonly #index: TailedIndex
  readonly #dimensions: number
  /** Every node sees each change, so that no row is outdated. */
  readonly #cache = new LRUCache<string, Rows>({
    maxSize: maxCachedBytes,
    sizeCalculation: ({ rows }) => rows.byteLength + 100,
  })

  constructor({ model, dimensions, ...use }: ElasticVectorsOptions) {
    this.#dimensions = dimensions
    const form = `vectors-${model}-${format}`
    this.#index = new TailedIndex({
      ...use,
      form,
      properties: propertiesOf(dimensions),
      unread: ['rows', 'values'],
    })
  }

  get applied_revision(): number {
    return this.#index.applied_revision
  }

  async apply(
    changes: readonly { readonly id: string; readonly entry: VectorEntry | null }[],
    revision: number,
  ): Promise<void> {
    for (const change of changes) checkChange(change, this.#dimensions)
    const sources = changes.map(({ id, entry }) => ({ id, source: () => entry && toSource(entry) }))
    try {
      await this.#index.apply(sources, revision)
    } finally {
      for (const { id } of changes) this.#cache.delete(id)
    }
  }

  async discard(): Promise<void> {
    await this.#index.discard()
    this.#cache.clear()
  }

  async nearest(
    vector: Float32Array,
    filter: AttributeFilter,
    limit: number,
    signal: AbortSignal,
  ): Promise<readonly Near[]> {
    checkVector(vector, this.#dimensions)
    checkFilter(filter)
    signal.throwIfAborted()
    const k = Math.min(maxCompared, Math.max(minNearest, limit * excess))
    const conditions = conditionsOf(filter).map(([name, value]) => ({ term: { [`values.${name}`]: value } }))
    const body = {
      knn: {
        field: 'rows.vector',
        query_vector: [...vector],
        k,
        num_candidates: Math.min(maxCompared, k * comparedForEach),
        filter: { bool: { must_not: [noState], filter: conditions } },
      },
      size: k,
      _source: false,
    }
    const { hits } = await this.#index.search(body as unknown as JsonObject, signal)
    const ids = hits.hits.map(({ _id }: EngineHit<unknown>) => _id)
    const near = [...(await this.compare(vector, ids, signal))]
    near.sort((left, right) => right.similarity - left.similarity || compareAscii(left.id, right.id))
    return near.slice(0, limit)
  }

  async compare(vector: Float32Array, ids: readonly string[], signal: AbortSignal): Promise<readonly Near[]> {
    checkVector(vector, this.#dimensions)
    signal.throwIfAborted()
    const rows = await this.#rowsOf(ids, signal)
    return ids.flatMap((id) => {
      const own = rows.get(id)
      return own ? nearOf(id, vector, own) : []
    })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#index[Symbol.asyncDispose]()
  }

  async #rowsOf(ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Rows>> {
    const found = new Map<string, Rows>()
    for (const id of ids) {
      const cached = this.#cache.get(id)
      if (cached) found.set(id, cached)
    }
    const missing = [...new Set(ids)].filter((id) => !found.has(id))
    if (missing.length === 0) return found
    const revision = this.applied_revision
    const body = {
      query: { bool: { must_not: [noState], filter: [{ ids: { values: missing } }] } },
      size: missing.length,
      _source: ['stored'],
    }
    const { hits } = await this.#index.search(body, signal)
    for (const { _id, _source } of hits.hits as unknown as EngineHit<{ readonly stored: Stored }>[]) {
      const rows = { rows: floatsOf(_source.stored.rows), isAble: _source.stored.is_able }
      found.set(_id, rows)
      if (revision === this.applied_revision) this.#cache.set(_id, rows)
    }
    return found
  }
}

function propertiesOf(dims: number): JsonObject {
  const vector = {
    type: 'dense_vector',
    dims,
    index: true,
    // The rows are no unit vectors.
    similarity: 'max_inner_product',
    index_options: { type: 'int8_hnsw' },
  }
  return {
    rows: { type: 'nested', properties: { vector } },
    values: { properties: Object.fromEntries(attributeNames.map((name) => [name, { type: 'keyword' }])) },
    stored: { type: 'object', enabled: false },
  }
}

function toSource({ attributes, vectors }: VectorEntry): JsonObject {
  const [own = new Float32Array(0), ...capabilities] = vectors
  const rows =
    capabilities.length === 0
      ? [own]
      : capabilities.map((vector) => own.map((value, at) => (value + (vector[at] ?? 0)) / 2))
  const values: Record<string, string[]> = {}
  for (const [name, value] of valuesOf(attributes)) {
    const list = values[name] ?? []
    values[name] = list
    list.push(value)
  }
  const bytes = Buffer.concat(
    rows.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength)),
  )
  return {
    rows: rows.map((row) => ({ vector: [...row] })),
    values,
    stored: { rows: bytes.toString('base64'), is_able: capabilities.length > 0 },
  }
}

function floatsOf(base64: string): Float32Array {
  const bytes = Uint8Array.from(Buffer.from(base64, 'base64'))
  return new Float32Array(bytes.buffer)
}

function nearOf(id: string, vector: Float32Array, { rows, isAble }: Rows): Near {
  const { length } = vector
  let best = Number.NEGATIVE_INFINITY
  let capability = 0
  for (let row = 0; row * length < rows.length; row++) {
    let product = 0
    for (let at = 0; at < length; at++) product += (vector[at] ?? 0) * (rows[row * length + at] ?? 0)
    if (product <= best) continue
    best = product
    capability = row
  }
  return { id, similarity: best, capability: isAble ? capability : null }
}

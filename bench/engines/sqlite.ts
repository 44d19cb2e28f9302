import { DatabaseSync } from 'node:sqlite'
import { getLoadablePath } from 'sqlite-vec'
import { type Corpus, dimensions } from './corpus.ts'
import { depth, type Engine, type Question } from './engine.ts'

const candidates = 50
const smoothing = 60

/**
 * SQLite FTS5 and sqlite-vec in one database in memory; both rankings are fused by reciprocal ranks, as in the guides
 * of sqlite-vec.
 */
export function openSqlite(corpus: Corpus): Engine {
  const started = performance.now()
  const database = new DatabaseSync(':memory:', { allowExtension: true })
  database.loadExtension(getLoadablePath())
  database.exec(
    `create virtual table vectors using vec0(embedding float[${dimensions}] distance_metric=cosine, state text, category text)`,
  )
  database.exec('create virtual table texts using fts5(body, state unindexed, category unindexed)')
  const addVector = database.prepare(
    'insert into vectors(rowid, embedding, state, category) values (?, ?, ?, ?)',
  )
  const addText = database.prepare('insert into texts(rowid, body, state, category) values (?, ?, ?, ?)')
  database.exec('begin')
  corpus.documents.forEach(({ name, description, state, category }, at) => {
    const vector = corpus.vectors.subarray(at * dimensions, (at + 1) * dimensions)
    addVector.run(BigInt(at + 1), bytesOf(vector), state, category)
    addText.run(BigInt(at + 1), `${name} ${description}`, state, category)
  })
  database.exec('commit')

  const nearest = database.prepare(
    `select rowid as at from vectors where embedding match ? and k = ${candidates} and state = 'ACTIVE' order by distance`,
  )
  const nearestOf = database.prepare(
    `select rowid as at from vectors where embedding match ? and k = ${candidates} and state = 'ACTIVE' and category = ? order by distance`,
  )
  const all = database.prepare(
    `select rowid as at from vectors where embedding match ? and k = ${depth} order by distance`,
  )
  const found = database.prepare(
    `select rowid as at from texts where texts match ? and state = 'ACTIVE' order by rank limit ${candidates}`,
  )
  const foundOf = database.prepare(
    `select rowid as at from texts where texts match ? and state = 'ACTIVE' and category = ? order by rank limit ${candidates}`,
  )
  const idAt = (row: number) => corpus.documents[row - 1]?.id ?? ''

  return {
    name: 'SQLite FTS5 + sqlite-vec',
    build_ms: performance.now() - started,
    async scan({ vector }: Question) {
      return all.all(bytesOf(vector)).map((row) => idAt(Number(row.at)))
    },
    async hybrid({ text, vector }: Question, category?: string) {
      const words = text
        .split(' ')
        .map((word) => `"${word}"`)
        .join(' OR ')
      const near =
        category === undefined ? nearest.all(bytesOf(vector)) : nearestOf.all(bytesOf(vector), category)
      const worded = category === undefined ? found.all(words) : foundOf.all(words, category)
      return fuse([near, worded].map((rows) => rows.map((row) => Number(row.at)))).map(idAt)
    },
    async [Symbol.asyncDispose]() {
      database.close()
    },
  }
}

/** Reciprocal rank fusion (Cormack, Clarke and Büttcher 2009). */
function fuse(rankings: readonly (readonly number[])[]): number[] {
  const scores = new Map<number, number>()
  for (const ranking of rankings) {
    ranking.forEach((row, rank) => {
      scores.set(row, (scores.get(row) ?? 0) + 1 / (smoothing + rank))
    })
  }
  return [...scores]
    .sort((left, other) => other[1] - left[1])
    .slice(0, depth)
    .map(([row]) => row)
}

function bytesOf(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)
}

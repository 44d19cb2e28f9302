import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Corpus, dimensions } from './corpus.ts'
import { depth, type Engine, type Question } from './engine.ts'

const candidates = 50
const batch = 10_000

/**
 * LanceDB with an HNSW index and its own full-text search, fused by its own ranker. The database is built once and
 * reused.
 */
export async function openLance(corpus: Corpus): Promise<Engine> {
  process.env.LANCE_LOG ??= 'error'
  // With one thread per core, LanceDB 0.31 hangs on two cores while it builds its full-text index of 100,000
  // rows.
  Object.assign(process.env, { LANCE_CPU_THREADS: '4', TOKIO_WORKER_THREADS: '8', LANCE_IO_THREADS: '8' })
  const { connect, Index, rerankers } = await import('@lancedb/lancedb')
  const folder = join(tmpdir(), 'dragoman-bench-lance')
  await mkdir(folder, { recursive: true })
  const name = `agents_${corpus.size}`
  const connection = await connect(folder)
  const started = performance.now()
  const isBuilt = existsSync(join(folder, `${name}.ready`))
  if (!isBuilt) await build()
  const build_ms = isBuilt ? Number.NaN : performance.now() - started
  const table = await connection.openTable(name)
  const ranker = await rerankers.RRFReranker.create(60)

  async function build(): Promise<void> {
    const rows = (start: number) =>
      corpus.documents
        .slice(start, start + batch)
        .map(({ id, name: called, description, state, category }, index) => ({
          id,
          text: `${called} ${description}`,
          state,
          category: category ?? '',
          vector: Array.from(
            corpus.vectors.subarray((start + index) * dimensions, (start + index + 1) * dimensions),
          ),
        }))
    const made = await connection.createTable(name, rows(0), { mode: 'overwrite' })
    for (let start = batch; start < corpus.size; start += batch) await made.add(rows(start))
    await made.createIndex('text', { config: Index.fts() })
    await made.createIndex('state', { config: Index.bitmap() })
    await made.createIndex('category', { config: Index.bitmap() })
    await made.createIndex('vector', { config: Index.hnswSq({ distanceType: 'cosine' }) })
    await mkdir(join(folder, `${name}.ready`))
  }

  return {
    name: 'LanceDB HNSW',
    build_ms,
    async scan({ vector }: Question) {
      const rows = await table
        .query()
        .nearestTo(vector)
        .ef(100)
        .select(['id', '_distance'])
        .limit(depth)
        .toArray()
      return rows.map((row) => String(row.id))
    },
    async hybrid({ text, vector }: Question, category?: string) {
      const where =
        category === undefined ? "state = 'ACTIVE'" : `state = 'ACTIVE' AND category = '${category}'`
      const rows = await table
        .query()
        .nearestTo(vector)
        .ef(100)
        .fullTextSearch(text, { columns: ['text'] })
        .rerank(ranker)
        .where(where)
        .limit(candidates)
        .toArray()
      return rows.slice(0, depth).map((row) => String(row.id))
    },
    async [Symbol.asyncDispose]() {
      table.close()
      connection.close()
    },
  }
}

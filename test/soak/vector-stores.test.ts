import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { openLanceVectorStore } from '../../src/search/vectors/lance/lance-vector-store.ts'
import { createMemoryVectorStore } from '../../src/search/vectors/memory/memory-vector-store.ts'
import { vectorStoreContract } from '../search/vectors/contract.ts'
import { hostileFilters } from '../search/vectors/hostile-filters.ts'

/** The contract of every vector store; `npm test` checks it of the stores that start no thread and write no files. */
const rounds = Number(process.env.SOAK_ROUNDS ?? 20)
const worker = new URL('../../src/search/vectors/memory/worker.ts', import.meta.url)

const root = await mkdtemp(join(tmpdir(), 'dragoman-vectors-'))
afterAll(() => rm(root, { recursive: true, force: true }))

const openLance = async (dimensions: number) =>
  openLanceVectorStore({ folder: await mkdtemp(join(root, 'store-')), dimensions })

vectorStoreContract('memory', async (dimensions) => createMemoryVectorStore({ dimensions }), {
  runs: 150 * rounds,
  share: 1,
})
vectorStoreContract(
  'memory, scanned in a thread',
  async (dimensions) => createMemoryVectorStore({ dimensions, worker, worker_rows: 0 }),
  { runs: 15 * rounds, share: 1 },
)
vectorStoreContract(
  'lance, with an index',
  async (dimensions) => {
    const folder = await mkdtemp(join(root, 'store-'))
    return openLanceVectorStore({ folder, dimensions, exact_rows: 2000 })
  },
  { runs: rounds, share: 0.3 },
)
// Without an index a search of few rows is exact.
vectorStoreContract('lance', openLance, { runs: 5 * rounds, share: 0.3, many: false })
hostileFilters('lance', openLance, { runs: 10 * rounds })

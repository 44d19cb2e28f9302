import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { openLanceVectorStore } from '../../../src/search/vectors/lance/lance-vector-store.ts'
import { vectorStoreContract } from './contract.ts'

let root: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'dragoman-lance-'))
})
afterAll(() => rm(root, { recursive: true, force: true }))

vectorStoreContract(
  'lance',
  async (dimensions) => openLanceVectorStore({ folder: await mkdtemp(join(root, 'store-')), dimensions }),
  { runs: 4, share: 0.3 },
)

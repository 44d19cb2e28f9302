import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import type { Store } from '../../src/store/store.ts'
import { temporaryFolder } from '../support/command.ts'
import { postgresFolder, startPostgres } from '../support/postgres.ts'
import { expectAgreement, expectApplied, expectLog } from './agreement.ts'
import { type Nodes, startNodes } from './nodes.ts'
import { startWriters } from './writers.ts'

const changes = process.env.SOAK_ROUNDS === undefined ? 10_000 : Number(process.env.SOAK_ROUNDS) * 150
const writers = 6

/** `changes` writes, with a node killed after a third of them and whatever else happens after two thirds. */
async function prove(nodes: Nodes, store: Store, trouble: () => Promise<void>): Promise<void> {
  const before = await store.read.latest()
  const { book, done } = startWriters(nodes, writers, changes)
  const killed = book.reached(changes / 3).then(async () => {
    await nodes.kill(1)
    await nodes.restart(1)
  })
  const disturbed = book.reached((2 * changes) / 3).then(trouble)
  await Promise.all([done, killed, disturbed])

  const last = await expectLog(store, book, before)
  await expectApplied(nodes, last)
  await expectAgreement(nodes, book)
  expect(book.acknowledged.length).toBeGreaterThanOrEqual(changes)
  expect(book.read_elsewhere).toBeGreaterThan(changes / 2)
  console.log(`${changes} writes: ${book.unsure.length} unsure, ${book.read_elsewhere} reads elsewhere`)
}

describe('three nodes under six writers, one node killed and restarted, see all of it once and alike', () => {
  test.skipIf(!postgresFolder)('over one PostgreSQL, which is restarted', async () => {
    await using postgres = await startPostgres()
    await using folders = await temporaryFolder()
    const DATABASE_URL = await postgres.createDatabase()
    const paths = ['a', 'b', 'c'].map((name) => join(folders.path, name))
    await Promise.all(paths.map((folder) => mkdir(folder)))
    await using nodes = await startNodes(paths, { DATABASE_URL })
    await using store = await openPostgresStore(DATABASE_URL, { clock: Date.now, onError: () => {} })
    await prove(nodes, store, async () => {
      await postgres.stop()
      await postgres.start()
    })
  })

  test('over one data folder with SQLite', async () => {
    await using folder = await temporaryFolder()
    await using nodes = await startNodes([folder.path, folder.path, folder.path])
    await using store = await openSqliteStore(join(folder.path, 'registry.sqlite'))
    await prove(nodes, store, async () => {})
  })
})

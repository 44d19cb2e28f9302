import { chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import type { Store } from '../../src/store/store.ts'
import { temporaryFolder } from '../support/command.ts'
import { postgresFolder, postgresUser, startPostgres } from '../support/postgres.ts'
import { publication } from '../support/registry.ts'
import { mountSmallDisk, type SmallDisk } from '../support/small-disk.ts'
import { ask, expectAnswered, type Nodes, startNodes } from './nodes.ts'

const refusedWrites = 20
const maxUntilFull = 5000

/** Publishes while the disk is filled and freed; refused writes must be absent, and all others present. */
async function prove(nodes: Nodes, disk: SmallDisk, openStore: () => Promise<Store>): Promise<void> {
  const { token } = nodes
  const acknowledged: string[] = []
  const refused: string[] = []
  const gateway = () => nodes.up()[0] ?? expect.fail('There is no gateway.')

  async function publish(): Promise<number> {
    const name = `com.soak.full-${acknowledged.length}-${refused.length}`
    const body = publication(name, { description: `Holds much. ${'x'.repeat(2000)}` })
    const answer = await expectAnswered(gateway(), 'POST', '/api/agents/publish', { token, body })
    if (answer.status === 201) acknowledged.push(name)
    else {
      expect(answer).toMatchObject({ status: 507, json: { code: 'storage_full' } })
      refused.push(name)
    }
    return answer.status
  }

  async function expectReads(): Promise<void> {
    expect(await ask(gateway(), 'GET', '/readyz')).toMatchObject({ status: 200 })
    for (const path of ['/public/agents', '/api/agents?mine=true&limit=1', '/api/agents?mine=true&q=much']) {
      expect(await ask(gateway(), 'GET', path, { token })).toMatchObject({ status: 200 })
    }
    const mine = await expectAnswered(gateway(), 'GET', '/api/agents?mine=true&limit=1', { token })
    expect(mine.json.total).toBe(acknowledged.length)
  }

  for (let number = 0; number < 5; number++) expect(await publish()).toBe(201)
  await disk.fill()
  for (let number = 0; refused.length === 0 && number < maxUntilFull; number++) await publish()
  while (refused.length < refusedWrites && acknowledged.length < maxUntilFull) await publish()
  expect(refused.length).toBe(refusedWrites)
  await expectReads()
  for (const name of acknowledged.slice(-20)) {
    expect(await ask(gateway(), 'GET', `/api/agents/${name}`, { token })).toMatchObject({ status: 200 })
  }

  await disk.free()
  await vi.waitFor(async () => expect(await publish()).toBe(201), { timeout: 60_000, interval: 100 })
  await expectReads()
  await nodes.kill(0)
  await nodes.restart(0)
  await expectReads()

  await using store = await openStore()
  const log = await store.changes(0, 1_000_000)
  expect(log.map(({ revision }) => revision)).toEqual(log.map((_, at) => at + 1))
  const entries = await store.read.entries(log.map((change) => change.entry_id))
  const names = entries.map((entry) => entry.package_name).filter((name) => name.startsWith('com.soak.'))
  expect(names).toEqual(acknowledged)
}

describe('a disk that fills up refuses writes whole, lets reads go on, and takes writes again once there is room', () => {
  test('under SQLite and all else of the data folder', async ({ skip }) => {
    await using disk = await mountSmallDisk(8)
    if (!disk) return skip('No small disk can be mounted here.')
    const data = join(disk.path, 'data')
    await mkdir(data)
    await using nodes = await startNodes([data])
    await prove(nodes, disk, () => openSqliteStore(join(data, 'registry.sqlite')))
  })

  test.skipIf(!postgresFolder)('under the tables of PostgreSQL', async ({ skip }) => {
    await using disk = await mountSmallDisk(24)
    if (!disk) return skip('No small disk can be mounted here.')
    await using postgres = await startPostgres()
    await using folder = await temporaryFolder()
    const DATABASE_URL = await postgres.createDatabase()
    const tables = join(disk.path, 'tables')
    await mkdir(tables)
    if (postgresUser) await chown(tables, postgresUser.uid, postgresUser.gid)
    const server = DATABASE_URL.replace(/\/test_\d+/, '/postgres')
    const database = new URL(DATABASE_URL).pathname.slice(1)
    await postgres.query(server, `create tablespace small location '${tables}'`)
    await postgres.query(server, `alter database ${database} set tablespace small`)
    await using nodes = await startNodes([folder.path], { DATABASE_URL })
    await prove(nodes, disk, () => openPostgresStore(DATABASE_URL, { clock: Date.now, onError: () => {} }))
  })
})

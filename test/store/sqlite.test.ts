import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { temporaryFolder } from '../support/command.ts'
import { sampleEntry } from '../support/entries.ts'
import { run } from '../support/processes.ts'
import { type StoreHome, storeContract, storeTime } from './contract.ts'

const fixture = resolve(import.meta.dirname, 'elsewhere.ts')

async function openHome(): Promise<StoreHome & { readonly path: string }> {
  const stack = new AsyncDisposableStack()
  const folder = stack.use(await temporaryFolder())
  const path = join(folder.path, 'registry.sqlite')
  const another = async () => stack.use(await openSqliteStore(path, () => storeTime))
  return {
    path,
    store: await another(),
    another,
    async elsewhere(prefix, count) {
      const { code, stdout, stderr } = await run(process.execPath, [fixture, path, prefix, String(count)])
        .ended
      if (code !== 0) throw new Error(stderr)
      return stdout.trim().split('\n').map(Number)
    },
    async spoil(id, document) {
      const database = new DatabaseSync(path)
      database.prepare('update entry set document = ? where id = ?').run(document, id)
      database.close()
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

storeContract('SQLite', openHome)

describe('SQLite', () => {
  test('a commit in the middle of a read takes nothing out of its answer and leaves nothing stale', async () => {
    await using home = await openHome()
    const { store, path } = home
    const [known, unknown] = [sampleEntry({ name: 'Old' }), sampleEntry({ name: 'Old' })]
    await store.write(async (writer) => {
      await writer.put(known)
      await writer.put(unknown)
    })
    await store.read.entries([known.id])
    using database = new DatabaseSync(path)

    const reading = store.read.entries([known.id, unknown.id])
    for (let turn = 0; turn < 12; turn++) {
      await Promise.resolve()
      const document = JSON.stringify({ ...unknown, name: `New ${turn}`, revision: 2 })
      database.prepare('update entry set document = ? where id = ?').run(document, unknown.id)
      const again = store.read.entries([known.id, unknown.id])
      if (turn === 11) expect((await again).map((entry) => entry.name)).toEqual(['Old', 'New 11'])
    }
    expect((await reading).map((entry) => entry.id)).toEqual([known.id, unknown.id])
    expect((await store.read.entries([unknown.id]))[0]?.name).toBe('New 11')
  })

  test('four processes may open a fresh folder at once', async () => {
    await using folder = await temporaryFolder()
    const path = join(folder.path, 'fresh', 'registry.sqlite')
    const peers = ['a', 'b', 'c', 'd'].map((prefix) => run(process.execPath, [fixture, path, prefix, '2']))
    const ends = await Promise.all(peers.map((peer) => peer.ended))
    expect(ends.map(({ code, stderr }) => `${code} ${stderr}`)).toEqual(['0 ', '0 ', '0 ', '0 '])
    await using store = await openSqliteStore(path)
    expect(await store.read.revision()).toBe(8)
  })

  test('a migration that was cut off is made again from the start', async () => {
    await using folder = await temporaryFolder()
    const path = join(folder.path, 'registry.sqlite')
    await expect(openHalfMigrated(path)).rejects.toThrow('pulled the plug')
    await using store = await openSqliteStore(path)
    expect(await store.read.revision()).toBe(0)
  })
})

/** A first start whose migration ends after some of its statements. */
async function openHalfMigrated(path: string): Promise<void> {
  const prepare = DatabaseSync.prototype.prepare
  DatabaseSync.prototype.prepare = function (sql: string) {
    if (sql.includes('create table "counter"')) throw new Error('pulled the plug')
    return prepare.call(this, sql)
  }
  try {
    await using _ = await openSqliteStore(path)
  } finally {
    DatabaseSync.prototype.prepare = prepare
  }
}

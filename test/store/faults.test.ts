import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { Failure } from '../../schemas/failure.ts'
import { refusalOf, storeFailure } from '../../src/store/sqlite/faults.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { temporaryFolder } from '../support/command.ts'
import { sampleEntry } from '../support/entries.ts'
import { run } from '../support/processes.ts'
import { canMount, onSmallDisk } from '../support/small-disk.ts'

const sqliteError = (errcode: number) => Object.assign(new Error('x'), { code: 'ERR_SQLITE_ERROR', errcode })

test.each([
  [13, 'storage_full'],
  [5, 'unavailable'],
  [261, 'unavailable'],
  [8, 'unavailable'],
  [1032, 'unavailable'],
  [10, 'unavailable'],
  [778, 'unavailable'],
])("SQLite's result code %i is %s to a caller", (errcode, code) => {
  const thrown = sqliteError(errcode)
  expect(storeFailure(thrown)).toMatchObject({ code, cause: thrown })
})

test.each([
  [13, 'storage_full'],
  [8, 'read_only'],
  [1032, 'read_only'],
  [5, undefined],
  [10, undefined],
])("SQLite's result code %i concerns all writes as %s", (errcode, refusal) => {
  expect(refusalOf(sqliteError(errcode))).toBe(refusal)
})

test('a busy store says when to retry', () => {
  expect(storeFailure(sqliteError(5))).toMatchObject({ details: { retry_after_s: 1 } })
})

test.each([
  [sqliteError(1)],
  [sqliteError(19)],
  [new Error('x')],
  [new Failure('conflict', 'x')],
  [undefined],
  ['x'],
])('other errors are thrown unchanged', (thrown) => expect(storeFailure(thrown)).toBe(thrown))

test('a store that another connection has locked answers unavailable after five seconds, and then works', async () => {
  await using folder = await temporaryFolder()
  const path = join(folder.path, 'registry.sqlite')
  await using store = await openSqliteStore(path)
  using other = new DatabaseSync(path)
  other.exec('begin immediate')
  let turns = 0
  const counting = setInterval(() => {
    turns += 1
  }, 10)
  await expect(store.write((writer) => writer.put(sampleEntry()))).rejects.toMatchObject({
    code: 'unavailable',
  })
  clearInterval(counting)
  // The event loop was not blocked meanwhile.
  expect(turns).toBeGreaterThan(50)
  other.exec('rollback')
  expect((await store.write((writer) => writer.put(sampleEntry()))).revision).toBe(1)
})

test.skipIf(!canMount)('a full disk is storage_full; every acknowledged write stays readable', async () => {
  await using folder = await temporaryFolder()
  const fixture = resolve(import.meta.dirname, 'fill.ts')
  await using filling = run('unshare', onSmallDisk(folder.path, 2, fixture))
  const { stdout, stderr } = await filling.ended
  expect(stderr).toBe('')
  const seen = JSON.parse(stdout)
  expect(seen.faults).toEqual(['storage_full', 'storage_full', 'storage_full'])
  expect(seen.acknowledged).toBeGreaterThan(3)
  expect(seen.revision).toBe(seen.acknowledged)
  expect(seen.changes).toBe(seen.acknowledged)
  expect(seen.readable).toBe(seen.acknowledged)
})

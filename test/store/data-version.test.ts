import { utimesSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { watchDataVersion } from '../../src/store/sqlite/data-version.ts'
import { openDatabase } from '../../src/store/sqlite/open.ts'
import { temporaryFolder } from '../support/command.ts'

/** A reader and a writer of one database, and how often SQLite was asked. */
async function openPair() {
  const folder = await temporaryFolder()
  const path = join(folder.path, 'pair.sqlite')
  const writer = openDatabase(path)
  writer.exec('create table number (value integer); insert into number values (0)')
  const reader = openDatabase(path)
  let count = 0
  const counting = {
    prepare(sql: string) {
      const statement = reader.prepare(sql)
      return {
        get() {
          count++
          return statement.get()
        },
      }
    },
  } as unknown as DatabaseSync
  const version = watchDataVersion(counting, path)
  return {
    version,
    commit: () => writer.exec('update number set value = value + 1'),
    age: () => utimesSync(`${path}-wal`, 1_000_000_000, 1_000_000_000),
    checkpoint: () => writer.exec('pragma wal_checkpoint(truncate)'),
    asks: () => count,
    async [Symbol.asyncDispose]() {
      version[Symbol.dispose]()
      writer.close()
      reader.close()
      await folder[Symbol.asyncDispose]()
    },
  }
}

describe('the data version of a database that others write', () => {
  test('changes with each commit, however fast one follows another', async () => {
    await using pair = await openPair()
    const seen = new Set([pair.version.read()])
    for (let commit = 0; commit < 200; commit++) {
      pair.commit()
      seen.add(pair.version.read())
    }
    expect(seen.size).toBe(201)
  })

  test.skipIf(process.platform === 'win32')('is not asked of SQLite while the log rests', async () => {
    await using pair = await openPair()
    pair.age()
    const before = pair.version.read()
    const asks = pair.asks()
    for (let look = 0; look < 10; look++) expect(pair.version.read()).toBe(before)
    expect(pair.asks()).toBe(asks)
  })

  test('changes with a commit after a rest, and with one that overwrites the log', async () => {
    await using pair = await openPair()
    for (let round = 0; round < 5; round++) {
      pair.age()
      const before = pair.version.read()
      pair.commit()
      const after = pair.version.read()
      expect(after).not.toBe(before)
      pair.checkpoint()
      pair.commit()
      expect(pair.version.read()).not.toBe(after)
    }
  })
})

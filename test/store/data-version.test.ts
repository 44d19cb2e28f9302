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
  const at_s = 1_700_000_000
  const version = watchDataVersion(counting, path, () => at_s * 1000 + 50)
  return {
    version,
    commit: () => writer.exec('update number set value = value + 1'),
    /** The next commit overwrites the log, whose size stays. */
    rewind: () => writer.exec('pragma wal_checkpoint(restart)'),
    /** Gives the log a time of modification: that of the clock, as a coarse file system does, or one long before. */
    stamp: (age_s = 0) => utimesSync(`${path}-wal`, at_s - age_s, at_s - age_s),
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

  test('changes with commits that share one time and one size of the log', async () => {
    await using pair = await openPair()
    pair.rewind()
    const seen = new Set([pair.version.read()])
    for (let commit = 0; commit < 10; commit++) {
      pair.commit()
      pair.stamp()
      seen.add(pair.version.read())
      pair.rewind()
    }
    expect(seen.size).toBe(11)
  })

  test.skipIf(process.platform === 'win32')('is not asked of SQLite while the log rests', async () => {
    await using pair = await openPair()
    pair.stamp(1000)
    const before = pair.version.read()
    const asks = pair.asks()
    for (let look = 0; look < 10; look++) expect(pair.version.read()).toBe(before)
    expect(pair.asks()).toBe(asks)
  })

  test('changes with a commit after a rest, and with one that overwrites the log', async () => {
    await using pair = await openPair()
    for (let round = 0; round < 5; round++) {
      pair.stamp(1000)
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

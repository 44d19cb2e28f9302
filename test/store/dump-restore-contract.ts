import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { DumpedRow } from '../../src/store/dump-restore.ts'
import { migrationNames } from '../../src/store/migrations/index.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import type { Store } from '../../src/store/store.ts'
import { temporaryFolder } from '../support/command.ts'
import { sampleEntry } from '../support/entries.ts'
import { type StoreHome, storeTime } from './contract.ts'

const owner = { issuer: 'urn:test', subject: 'ada', namespace: 'com.ada' }

/** A registry with a row in every dumped table, and with more rows than are read at once. */
async function fill(store: Store): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await store.write(async (writer) => {
      for (let index = 0; index < 200; index++) {
        await writer.put(sampleEntry({ owner, description: `Zażółć "${round}" \u2028 ${index}` }))
      }
    })
  }
  await store.write(async (writer) => {
    await writer.put(sampleEntry({ package_name: 'com.gone', deleted: true }))
    await writer.put(sampleEntry({ package_name: 'com.staged', state: 'STAGE', version: '1.2.3' }))
  })
  await store.settings.set('a note', 'of "ours"')
  const credential = {
    owner: '["i","ada"]',
    entry_id: 'a',
    variable: '',
    origin: 'https://a.example',
    header: 'x-key',
  }
  await store.credentials.put(
    { ...credential, sealed: 'c2VhbGVk', created_at: '2026-01-01T00:00:00.000Z', sign_in: null },
    9,
  )
  const revocation = { kind: 'subject' as const, issuer: 'urn:test', name: 'eve', reason: null }
  await store.identity.revoke({ ...revocation, before: 1_900_000_000_000, expires_at: 2_000_000_000_000 }, 0)
}

async function rowsOf(store: Store): Promise<DumpedRow[]> {
  return await store.dumpRestore.dump(({ rows }) => all(rows()))
}

async function all(pages: AsyncIterable<readonly DumpedRow[]>): Promise<DumpedRow[]> {
  const rows: DumpedRow[] = []
  for await (const page of pages) rows.push(...page)
  return rows
}

function contentsOf(rows: readonly DumpedRow[], migrations = migrationNames) {
  return {
    migrations,
    async *rows() {
      for (let start = 0; start < rows.length; start += 100) yield rows.slice(start, start + 100)
    },
  }
}

async function openSqlite() {
  const stack = new AsyncDisposableStack()
  const folder = stack.use(await temporaryFolder())
  const store = stack.use(await openSqliteStore(join(folder.path, 'registry.sqlite'), () => storeTime))
  return { store, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

/** Whole registries, from every store to every other. */
export function dumpRestoreContract(name: string, open: () => Promise<StoreHome>): void {
  describe(`a registry on ${name}`, () => {
    test('is restored with every row unchanged, and continues its counters', async () => {
      await using home = await open()
      await using sqlite = await openSqlite()
      await using third = await open()
      await fill(home.store)
      const rows = await rowsOf(home.store)
      expect(rows.length).toBeGreaterThan(1200)
      expect(await sqlite.store.dumpRestore.restore(contentsOf(rows), false)).toBe(rows.length)
      expect(await rowsOf(sqlite.store)).toEqual(rows)
      await third.store.dumpRestore.restore(contentsOf(await rowsOf(sqlite.store)), false)
      expect(await rowsOf(third.store)).toEqual(rows)
      expect(await third.store.read.revision()).toBe(602)
      expect(await third.store.read.entry({ package_name: 'com.staged' })).toEqual(
        await home.store.read.entry({ package_name: 'com.staged' }),
      )
      expect((await third.store.write((writer) => writer.put(sampleEntry()))).revision).toBe(603)
    })

    test('is dumped as of one moment, whatever is written meanwhile', async () => {
      await using home = await open()
      await home.store.write((writer) => writer.put(sampleEntry()))
      const other = await home.another()
      const [revision, rows] = await home.store.dumpRestore.dump(async (contents) => {
        await other.write((writer) => writer.put(sampleEntry({ package_name: 'com.late' })))
        return [contents.revision, await all(contents.rows())] as const
      })
      expect(revision).toBe(1)
      expect(rows.filter(([table]) => table === 'entry')).toHaveLength(1)
      expect(await other.read.revision()).toBe(2)
    })

    test('is not restored into a store with rows, unless they may be replaced', async () => {
      await using home = await open()
      await home.store.write((writer) => writer.put(sampleEntry({ package_name: 'com.old' })))
      const refused = home.store.dumpRestore.restore(contentsOf([]), false)
      await expect(refused).rejects.toMatchObject({ code: 'conflict' })
      expect(await home.store.read.entry({ package_name: 'com.old' })).toBeDefined()
      await home.store.dumpRestore.restore(contentsOf([['counter', { name: 'revision', value: 7 }]]), true)
      expect((await rowsOf(home.store)).filter(([table]) => table === 'entry')).toEqual([])
      const other = await home.another()
      expect(await other.read.revision()).toBe(7)
    })

    test('leaves revoked what was revoked after the dump', async () => {
      await using home = await open()
      const { store } = home
      await store.settings.set('a note', 'before')
      const rows = await rowsOf(store)
      const revocation = { kind: 'grant' as const, issuer: '', name: 'g', before: 1, reason: null }
      await store.identity.revoke({ ...revocation, expires_at: 2_000_000_000_000 }, 0)
      await store.dumpRestore.restore(contentsOf(rows), true)
      expect(await store.identity.revocations(0)).toMatchObject([{ kind: 'grant', name: 'g' }])
    })

    test('is restored whole or not at all', async () => {
      await using home = await open()
      await home.store.write((writer) => writer.put(sampleEntry()))
      const before = await rowsOf(home.store)
      const unknown: DumpedRow = ['kysely_migration', { name: 'x' }]
      await expect(
        home.store.dumpRestore.restore(contentsOf([['note', { name: 'n', value: 'v' }], unknown]), true),
      ).rejects.toMatchObject({ code: 'invalid_request' })
      await expect(
        home.store.dumpRestore.restore(contentsOf([], ['0001-entries']), true),
      ).rejects.toMatchObject({
        code: 'conflict',
      })
      expect(await rowsOf(home.store)).toEqual(before)
    })
  })
}

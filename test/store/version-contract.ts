import { describe, expect, test } from 'vitest'
import type { StoredEntry } from '../../src/store/stored-entry.ts'
import { sampleEntry } from '../support/entries.ts'
import { type StoreHome, storeTime } from './contract.ts'

/** What every store does with the versions of an entry. */
export function versionContract(name: string, open: () => Promise<StoreHome>): void {
  describe(`${name}: a version`, () => {
    const put = (home: StoreHome, ...entries: StoredEntry[]) =>
      home.store.write(async (writer) => {
        for (const entry of entries) await writer.put(entry)
      })
    const list = async (home: StoreHome, id: string) =>
      (await home.store.versions.list(id, 0, 100)).map(({ version, revision }) => [version, revision])

    test('is made by each change of public content, and by nothing else', async () => {
      await using home = await open()
      const entry = sampleEntry({ state: 'STAGE', version: '1.0.0' })
      await put(home, entry)
      await put(home, { ...entry, description: 'Before anybody saw it.' })
      expect(await list(home, entry.id)).toEqual([])
      const live = { ...entry, state: 'ACTIVE' as const }
      await put(home, live)
      const unsaid = {
        verification_level: 'domain_verified',
        updated_at: '2026-02-02T00:00:00.000Z',
        check_at: '2026-02-02T00:00:00.000Z',
        owner: { issuer: 'i', subject: 'ada', namespace: null },
      } as const
      await put(home, { ...live, ...unsaid })
      await put(home, { ...live, suspended: { reason: 'It lied.', at: '2026-01-01T00:00:00.000Z' } })
      await put(home, live)
      await put(home, { ...live, state: 'STAGE' })
      await put(home, live)
      expect(await list(home, entry.id)).toEqual([['1.0.0', 3]])
      await put(home, { ...live, description: 'Another.' })
      expect(await list(home, entry.id)).toEqual([
        ['1.0.0', 9],
        ['1.0.0', 3],
      ])
      expect((await home.store.versions.extent(entry.id, 0)).total).toBe(2)
      expect((await home.store.versions.extent(entry.id, 3)).total).toBe(1)
    })

    test('keeps its content, whatever changes later, in every instance', async () => {
      await using home = await open()
      const entry = sampleEntry({ version: '1.0.0', description: 'One.', card: { b: 1, a: 2 } })
      await put(home, entry)
      await put(home, { ...entry, version: '2.0.0', description: 'Two.' })
      await put(home, { ...entry, deleted: true })
      const { versions } = await home.another()
      const found = await versions.find(entry.id, 0, { version: '1.0.0' })
      expect(found).toMatchObject({
        revision: 1,
        published_at: new Date(storeTime).toISOString(),
        content: { description: 'One.', version: '1.0.0', card: { b: 1, a: 2 } },
      })
      expect(await versions.find(entry.id, 0, { revision: 2 })).toMatchObject({ version: '2.0.0' })
      expect(await versions.find(entry.id, 1, { version: '1.0.0' })).toBeUndefined()
      expect(await versions.find(entry.id, 0, { version: '3.0.0' })).toBeUndefined()
      expect(await versions.find('another', 0, { revision: 1 })).toBeUndefined()
    })

    test('is listed in the order of semver, the highest first, then other versions by time', async () => {
      await using home = await open()
      const entry = sampleEntry()
      const all = ['1.10.0', 'summer', '1.2.0', null, '2.0.0-rc.1', '2.0.0-rc.1', '1.9.9', 'winter']
      for (const [at, version] of all.entries()) await put(home, { ...entry, version, description: `${at}.` })
      const ordered = [
        ['2.0.0-rc.1', 6],
        ['2.0.0-rc.1', 5],
        ['1.10.0', 1],
        ['1.9.9', 7],
        ['1.2.0', 3],
        ['winter', 8],
        [null, 4],
        ['summer', 2],
      ]
      expect(await list(home, entry.id)).toEqual(ordered)
      const paged: unknown[] = []
      for (let last: { precedence: string; revision: number } | undefined; ; ) {
        const page = await home.store.versions.list(entry.id, 0, 3, last)
        paged.push(...page.map(({ version, revision }) => [version, revision]))
        last = page.at(-1)
        if (!last) break
      }
      expect(paged).toEqual(ordered)
    })

    test('has a digest that the order of keys does not change', async () => {
      await using home = await open()
      const entry = sampleEntry({ version: '1', card: { a: 1, b: { c: 2, d: 3 } } })
      await put(home, entry)
      await put(home, { ...entry, card: { b: { d: 3, c: 2 }, a: 1 } })
      expect((await home.store.versions.extent(entry.id, 0)).total).toBe(1)
      await put(home, { ...entry, card: { a: 1, b: { c: 2, d: 4 } } })
      const { result } = await home.store.write((writer) => writer.published(entry.id, '1'))
      expect(new Set(result).size).toBe(2)
    })

    test('starts a new history for a new entry of a deleted name', async () => {
      await using home = await open()
      const entry = sampleEntry()
      await put(home, entry)
      await put(home, { ...entry, deleted: true })
      await put(home, { ...entry, versions_after: 2 })
      expect(await list(home, entry.id)).toEqual([
        [null, 3],
        [null, 1],
      ])
      expect((await home.store.versions.extent(entry.id, 2)).total).toBe(1)
    })
  })
}

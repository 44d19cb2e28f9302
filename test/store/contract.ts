import { hash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Failure } from '../../schemas/failure.ts'
import type { Store, StoreChange } from '../../src/store/store.ts'
import type { StoredEntry } from '../../src/store/stored-entry.ts'
import { sampleEntry } from '../support/entries.ts'

interface Party {
  readonly issuer: string
  readonly subject: string
}

/** A store over fresh data, and ways to reach the same data from other connections and processes. */
export interface StoreHome extends AsyncDisposable {
  readonly store: Store
  /** Another instance over the same data; disposed with the home. */
  another(): Promise<Store>
  /** A separate process that commits `count` entries named PREFIX-0, PREFIX-1 …, one a transaction. */
  elsewhere(prefix: string, count: number): Promise<readonly number[]>
  /** Waits until an instance must have seen a revision that another one committed. */
  awaitRevision(store: Store, revision: number): Promise<void>
  /** True if every read sees the earlier commits of others at once; otherwise within two seconds. */
  readonly sees_others: boolean
  /** Overwrites the entry's document behind the store's back. */
  spoil(id: string, document: string): Promise<void>
  /** Runs SQL behind the store's back. */
  execute(sql: string): Promise<void>
}

/** The store's own time in these tests, in milliseconds since the epoch. */
export const storeTime = Date.UTC(2026, 10, 1)

/** The time so many milliseconds after it. */
export const at = (after: number) => new Date(storeTime + after).toISOString()

/** Takes back the newest migrations in SQL, for a test that runs an older one again. */
export const undoNewest =
  'alter table task drop column holder; alter table task drop column agent; drop index entry_suspended; alter table entry drop column suspended_at; alter table entry drop column suspended_by'

const owner = (namespace: string | null) => ({ issuer: 'urn:test', subject: 'ada', namespace })

/** What every store must do, on every database. */
export function storeContract(name: string, open: () => Promise<StoreHome>): void {
  describe(`a store on ${name}`, () => {
    let home: StoreHome
    let store: Store
    beforeEach(async () => {
      home = await open()
      store = home.store
    })
    afterEach(() => home[Symbol.asyncDispose]())

    const put = (...entries: StoredEntry[]) =>
      store.write(async (writer) => {
        for (const entry of entries) await writer.put(entry)
      })
    const revisions = (changes: readonly StoreChange[]) => changes.map((change) => change.revision)
    const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)

    describe('identity', () => {
      const key = {
        id: 'drg_AAAAAAAA',
        sha256: 'hash',
        issuer: 'urn:test',
        subject: 'ada',
        scopes: ['agents:read' as const],
        namespaces: ['com.ada'],
        label: null,
        created_at: 5,
        expires_at: 10,
      }
      const revocation = {
        kind: 'subject',
        issuer: 'urn:test',
        name: 'ada',
        before: 5,
        expires_at: 10,
        reason: null,
      } as const

      test('keeps API keys by id and by owner, the newest first, for every instance', async () => {
        const newer = { ...key, id: 'drg_BBBBBBBB', created_at: 6 }
        const foreign = { ...key, id: 'drg_CCCCCCCC', subject: 'bob', created_at: 7 }
        for (const item of [key, newer, foreign]) expect(await store.identity.addKey(item, 9)).toBe(true)
        const other = await home.another()
        expect(await other.identity.key(key.id)).toEqual(key)
        expect(await other.identity.key('drg_DDDDDDDD')).toBeUndefined()
        expect(await other.identity.keys({ issuer: 'urn:test', subject: 'ada' })).toEqual([newer, key])
        expect(await other.identity.keys()).toEqual([foreign, newer, key])
        await expect(store.identity.addKey(key, 9)).rejects.toThrow()
      })

      test('ends a key and stores its revocation in one step, whether the key exists or not', async () => {
        await store.identity.addKey(key, 9)
        const ended = { ...revocation, kind: 'key' as const, issuer: '', name: key.id }
        await store.identity.endKey(key.id, ended, 0)
        await store.identity.endKey(key.id, ended, 0)
        expect(await store.identity.key(key.id)).toBeUndefined()
        expect(await store.identity.revocations(0)).toEqual([ended])
      })

      test('limits the keys of an owner under concurrent calls, and deletes ended ones', async () => {
        const other = await home.another()
        const foreign = { ...key, id: 'drg_CCCCCCCC', subject: 'bob', expires_at: 6 }
        await store.identity.addKey(foreign, 3)
        const wished = Array.from({ length: 8 }, (_, at) => ({ ...key, id: `drg_AAAAAAA${at}` }))
        const added = await Promise.all(
          wished.map((item, at) => (at % 2 === 0 ? store : other).identity.addKey(item, 3)),
        )
        expect(added.filter(Boolean)).toHaveLength(3)
        const later = { ...key, id: 'drg_BBBBBBBB', created_at: 10, expires_at: 20 }
        expect(await store.identity.addKey(later, 3)).toBe(true)
        expect(await store.identity.keys()).toEqual([later, foreign])
      })

      test('deletes expired revocations when a key ends, too', async () => {
        const ended = { ...revocation, kind: 'key' as const, issuer: '', name: key.id }
        await store.identity.endKey(key.id, ended, 0)
        await store.identity.endKey('drg_BBBBBBBB', { ...ended, name: 'drg_BBBBBBBB', expires_at: 40 }, 30)
        expect((await store.identity.revocations(0)).map((item) => item.name)).toEqual(['drg_BBBBBBBB'])
      })

      test('of two revocations of one thing keeps the later values, and deletes expired ones', async () => {
        await store.identity.revoke(revocation, 0)
        await store.identity.revoke({ ...revocation, before: 3, expires_at: 20, reason: 'twice' }, 0)
        const expected = { ...revocation, before: 5, expires_at: 20, reason: 'twice' }
        expect(await store.identity.revocations(0)).toEqual([expected])
        expect(await store.identity.revocations(20)).toEqual([])
        await store.identity.revoke({ ...revocation, name: 'bob', expires_at: 40 }, 30)
        expect((await store.identity.revocations(0)).map((item) => item.name)).toEqual(['bob'])
      })

      test('does not take revisions of entries', async () => {
        await store.identity.addKey(key, 9)
        await store.identity.revoke(revocation, 0)
        expect(await store.read.revision()).toBe(0)
        expect(await store.changes(0, 10)).toEqual([])
      })
    })

    describe('embeddings', () => {
      const vectors = new Map([
        ['a', Float32Array.of(0.5, -0.5, 1e-3)],
        ['b', Float32Array.of(1, 2, 3)],
      ])

      test('are found by model and content only, unchanged to the last bit', async () => {
        await store.embeddings.keep('one', vectors)
        expect(await store.embeddings.find('one', ['a', 'b', 'c'])).toEqual(vectors)
        expect(await store.embeddings.find('one', ['b'])).toEqual(new Map([['b', vectors.get('b')]]))
        expect(await store.embeddings.find('two', ['a'])).toEqual(new Map())
        expect([await store.embeddings.exceed('one', 1), await store.embeddings.exceed('one', 2)]).toEqual([
          true,
          false,
        ])
        expect(await store.embeddings.exceed('two', 0)).toBe(false)
      })

      test('stay as they are when they are stored again, and another instance sees them', async () => {
        await store.embeddings.keep('one', vectors)
        await store.embeddings.keep('one', new Map([['a', Float32Array.of(9)]]))
        const other = await home.another()
        expect(await other.embeddings.find('one', ['a', 'b'])).toEqual(vectors)
      })

      test('of a thousand texts are found in one call', async () => {
        const many = new Map(Array.from({ length: 1000 }, (_, at) => [`h${at}`, Float32Array.of(at)]))
        await store.embeddings.keep('one', many)
        expect((await store.embeddings.find('one', [...many.keys()])).size).toBe(1000)
        expect(await store.read.revision()).toBe(0)
      })
    })

    test('a setting has the value last written under its name', async () => {
      expect(await store.settings.get('model')).toBeUndefined()
      await store.settings.set('model', 'one')
      await store.settings.set('model', 'two')
      expect(await store.settings.get('model')).toBe('two')
      const other = (await home.another()).settings
      expect(await other.get('model')).toBe('two')
      expect(await other.settle('secret', 'first')).toBe('first')
      expect(await store.settings.settle('secret', 'second')).toBe('first')
    })

    describe('revisions', () => {
      test('an empty store is at revision 0 and has no changes', async () => {
        expect(await store.read.revision()).toBe(0)
        expect(await store.changes(0, 10)).toEqual([])
      })

      test('each changed entry takes the next one, in the order of the puts', async () => {
        const [first, second, third] = [sampleEntry(), sampleEntry(), sampleEntry()]
        expect((await put(first, second)).revision).toBe(2)
        expect((await put(third)).revision).toBe(3)
        expect(await store.changes(0, 10)).toEqual(
          [first, second, third].map(({ id }, index) => ({
            revision: index + 1,
            entry_id: id,
            kind: 'put',
            at: new Date(storeTime).toISOString(),
            seen: 'listed',
          })),
        )
        expect((await store.read.entry({ id: second.id }))?.revision).toBe(2)
      })

      test('an entry put twice in one transaction takes one, and the last put is stored', async () => {
        const entry = sampleEntry({ name: 'First' })
        expect((await put(entry, { ...entry, name: 'Second' })).revision).toBe(1)
        expect(await store.changes(0, 10)).toHaveLength(1)
        expect((await store.read.entry({ id: entry.id }))?.name).toBe('Second')
      })

      test('an entry put again has its newest one, and the log has both', async () => {
        const entry = sampleEntry()
        await put(entry)
        await put({ ...entry, name: 'Changed' })
        expect((await store.read.entry({ id: entry.id }))?.revision).toBe(2)
        expect(revisions(await store.changes(0, 10))).toEqual([1, 2])
      })

      test('a transaction that puts nothing takes none', async () => {
        await put(sampleEntry())
        expect(await store.write(async () => 'nothing')).toEqual({ result: 'nothing', revision: 1 })
        expect(await store.changes(0, 10)).toHaveLength(1)
      })

      test('a deletion is a change of kind delete, and the entry can still be read', async () => {
        const entry = sampleEntry()
        await put(entry)
        await put({ ...entry, deleted: true })
        expect((await store.changes(1, 10)).map(({ kind }) => kind)).toEqual(['delete'])
        expect((await store.read.entry({ package_name: entry.package_name }))?.deleted).toBe(true)
      })

      test('a change states the public visibility of its entry', async () => {
        const entry = sampleEntry({ state: 'STAGE' })
        const suspended = { at: '2026-01-01T00:00:00.000Z', reason: 'spam' }
        await put(entry)
        await put({ ...entry, state: 'ACTIVE' })
        await put({ ...entry, state: 'ACTIVE', name: 'Another' })
        await put({ ...entry, state: 'ACTIVE', suspended })
        await put({ ...entry, state: 'ACTIVE', suspended, deleted: true })
        expect((await store.changes(0, 10)).map(({ seen }) => seen)).toEqual([
          'unseen',
          'listed',
          'listed',
          'gone',
          'unseen',
        ])
      })

      test('an unreadable public entry that is removed is a change to hidden', async () => {
        const [seen, hidden] = [sampleEntry(), sampleEntry({ state: 'STAGE' })]
        await put(seen, hidden)
        for (const { id } of [seen, hidden]) await home.spoil(id, '{}')
        await put({ ...seen, deleted: true }, { ...hidden, deleted: true })
        expect((await store.changes(2, 10)).map((change) => change.seen)).toEqual(['gone', 'unseen'])
      })

      test('changes come in pages', async () => {
        await put(...Array.from({ length: 7 }, () => sampleEntry()))
        expect(revisions(await store.changes(0, 3))).toEqual([1, 2, 3])
        expect(revisions(await store.changes(3, 3))).toEqual([4, 5, 6])
        expect(revisions(await store.changes(6, 3))).toEqual([7])
        expect(await store.changes(7, 3)).toEqual([])
      })
    })

    describe('a failed transaction', () => {
      test('leaves no row, no revision and no change, and the next one works', async () => {
        const [written, refused] = [sampleEntry(), sampleEntry()]
        await put(written)
        const failing = store.write(async (writer) => {
          await writer.put({ ...written, name: 'Never' })
          await writer.put(refused)
          throw new Failure('conflict', 'No.')
        })
        await expect(failing).rejects.toMatchObject({ code: 'conflict', message: 'No.' })
        expect(await store.read.revision()).toBe(1)
        expect(await store.changes(0, 10)).toHaveLength(1)
        expect(await store.read.entry({ id: refused.id })).toBeUndefined()
        expect((await store.read.entry({ id: written.id }))?.name).toBe('Sample')
        expect((await put(refused)).revision).toBe(2)
      })

      test('results from a second entry of one name', async () => {
        const entry = sampleEntry()
        await put(entry)
        await expect(put(sampleEntry({ package_name: entry.package_name }))).rejects.toThrow()
        expect(await store.read.revision()).toBe(1)
        expect((await store.read.entry({ package_name: entry.package_name }))?.id).toBe(entry.id)
      })
    })

    describe('reads', () => {
      test('list the suspended entries, the newest suspension first, with who suspended them last', async () => {
        const at = (day: number) => `2026-01-0${day}T00:00:00.000Z`
        const suspendedOn = (day: number) => ({ reason: 'spam', at: at(day) })
        const [first, second, third, lifted] = [1, 2, 3, 4].map((day) =>
          sampleEntry({ suspended: suspendedOn(day) }),
        )
        if (!first || !second || !third || !lifted) throw new Error('There are no entries.')
        const origin = {
          source: 'official',
          kind: 'mcp-registry',
          url: 'https://registry.example/',
          name: 'com.example/gone',
          license: null,
          attribution: null,
          takedown: null,
          removed: true,
        } as const
        const removed = sampleEntry({ suspended: suspendedOn(5), origin })
        const suspend = (entry: StoredEntry, subject: string | null) =>
          store.write((writer) =>
            writer.put(entry, {
              actor: subject === null ? null : { issuer: 'urn:test', subject },
              action: 'suspend',
            }),
          )
        await suspend(third, 'eve')
        await suspend({ ...third, description: 'Again.' }, 'ada')
        await suspend(first, null)
        await put(lifted, { ...second, deleted: true }, sampleEntry(), removed)
        await put({ ...lifted, suspended: null })
        const ids = async (...query: Parameters<Store['read']['suspended']>) =>
          (await store.read.suspended(...query)).map(({ entry }) => entry.id)
        expect(await ids('admin', 10)).toEqual([third.id, second.id, first.id])
        expect(await ids('admin', 1)).toEqual([third.id])
        expect(await ids('admin', 10, { at: at(3), id: third.id })).toEqual([second.id, first.id])
        expect(await ids('source', 10)).toEqual([removed.id])
        const actors = (await store.read.suspended('admin', 10)).map(({ by }) => by)
        expect(actors).toEqual([{ issuer: 'urn:test', subject: 'ada' }, null, null])
      })

      test('list the names of listed entries by prefix, in order, and no others', async () => {
        const suspended = { reason: 'spam', at: '2026-01-01T00:00:00.000Z' }
        await put(
          sampleEntry({ package_name: 'com.b.two' }),
          sampleEntry({ package_name: 'com.b.one' }),
          sampleEntry({ package_name: 'com.b.one_a' }),
          sampleEntry({ package_name: 'com.b.one/more' }),
          sampleEntry({ package_name: 'com.b.one-a' }),
          sampleEntry({ package_name: 'com.bb' }),
          sampleEntry({ package_name: 'com.c' }),
          sampleEntry({ package_name: 'com.b.staged', state: 'STAGE' }),
          sampleEntry({ package_name: 'com.b.gone', deleted: true }),
          sampleEntry({ package_name: 'com.b.hidden', suspended }),
        )
        expect(await store.read.listedNames('com.b.', 10)).toEqual([
          'com.b.one',
          'com.b.one-a',
          'com.b.one/more',
          'com.b.one_a',
          'com.b.two',
        ])
        expect(await store.read.listedNames('com.b', 2)).toEqual(['com.b.one', 'com.b.one-a'])
        expect(await store.read.listedNames('', 10)).toHaveLength(7)
        expect(await store.read.listedNames('com.b%', 10)).toEqual([])
      })

      test('return the same entry that was put, with its revision', async () => {
        const entry = sampleEntry({
          description: '12306 火车票 \u{1F682} "\'; drop table entry; --',
          owner: owner('com.example'),
          tags: ['b', 'a'],
          capabilities: [{ name: 'do', description: 'Does.', input_schema: { type: 'object', z: 1, a: 2 } }],
          endpoints: [{ protocol: 'mcp', url: 'https://example.com/mcp', version: '1' }],
          packages: [{ registry_type: 'npm', identifier: '@a/b' }],
          card: { z: [null, { deep: true }], a: 1.5 },
        })
        await put(entry)
        const read = await store.read.entry({ id: entry.id })
        expect(read).toEqual({ ...entry, revision: 1 })
        expect(JSON.stringify(read?.card)).toBe(JSON.stringify(entry.card))
      })

      test('return entries in the order of the ids, without missing ones', async () => {
        const [first, second, third] = [sampleEntry(), sampleEntry(), sampleEntry()]
        await put(first, second, third)
        const ids = [third.id, 'nobody', first.id, third.id, second.id]
        const found = await store.read.entries(ids)
        expect(found.map((entry) => entry.id)).toEqual([third.id, first.id, third.id, second.id])
        expect(await store.read.entries([])).toEqual([])
        expect(await store.read.entry({ package_name: 'com.sample.nobody' })).toBeUndefined()
      })

      test('return more entries than one statement takes parameters', async () => {
        const many = Array.from({ length: 1201 }, () => sampleEntry())
        await put(...many)
        const found = await store.read.entries(many.map((entry) => entry.id))
        expect(found.map((entry) => entry.id)).toEqual(many.map((entry) => entry.id))
      })

      test('are served again from memory, as the same object, until the entry changes', async () => {
        const [unchanged, changed, grouped] = [sampleEntry(), sampleEntry(), sampleEntry()]
        await put(unchanged, changed, grouped)
        const ids = [unchanged.id, changed.id, grouped.id]
        const before = await store.read.entries(ids)
        await put({ ...changed, name: 'Changed' })
        await store.change(async (reads) => ({
          before: await reads.entry({ id: grouped.id }),
          entry: { ...grouped, name: 'Grouped' },
          audit: { actor: null, action: 'test' },
        }))
        await store.liveness.watch([{ entry_id: unchanged.id, place: null, active: false }])
        await store.settings.set('any', 'value')
        const [still, ...others] = await store.read.entries(ids)
        expect(still).toBe(before[0])
        expect(others.map((entry) => entry.name)).toEqual(['Changed', 'Grouped'])
        expect(await store.read.entry({ package_name: unchanged.package_name })).toBe(before[0])
      })

      test('are not kept by a pass over all entries, which takes what is kept', async () => {
        const [first, second] = [sampleEntry(), sampleEntry()]
        await put(first, second)
        const other = await home.another()
        const ids = [first.id, second.id]
        const [passed] = await other.read.entries(ids, 'pass')
        const cached = await other.read.entry({ id: first.id })
        expect(cached).toEqual(passed)
        expect(cached).not.toBe(passed)
        expect((await other.read.entries(ids, 'pass'))[0]).toBe(cached)
        const uncached = await other.read.entry({ id: second.id }, 'pass')
        expect(await other.read.entry({ id: second.id })).not.toBe(uncached)
      })

      test('are as before after a change that fails, and after one that decides to change nothing', async () => {
        const entry = sampleEntry()
        await put(entry)
        const before = await store.read.entry({ id: entry.id })
        const failing = store.write(async (writer) => {
          await writer.put({ ...entry, name: 'Lost' })
          throw new Error('Changed its mind.')
        })
        await expect(failing).rejects.toThrow('Changed its mind.')
        await store.write(async () => {})
        expect(await store.read.entry({ id: entry.id })).toBe(before)
        // It takes the revision that the failed one did not take.
        await put({ ...entry, name: 'Kept' })
        expect(await store.read.entry({ id: entry.id })).toMatchObject({ name: 'Kept', revision: 2 })
      })

      test('see a commit at once in this instance, and in another as soon as it is notified', async () => {
        const other = await home.another()
        const entry = sampleEntry()
        await put(entry)
        for (const [round, name] of ['One', 'Two', 'Three'].entries()) {
          const writing = round % 2 === 0 ? other : store
          await writing.write((writer) => writer.put({ ...entry, name }))
          for (const reading of [store, other]) {
            if (reading !== writing) await home.awaitRevision(reading, round + 2)
            expect((await reading.read.entries([entry.id]))[0]?.name).toBe(name)
            expect((await reading.read.entry({ id: entry.id }))?.name).toBe(name)
            expect(await reading.read.revision()).toBe(round + 2)
          }
        }
      })

      test.each([
        ['asks for the latest', () => store.read.latest()],
        ['reads the log', async () => (await store.changes(0, 100)).at(-1)?.revision],
      ])('a caller that %s sees everything that another instance committed before', async (_, ask) => {
        const other = await home.another()
        const entry = sampleEntry()
        await put(entry)
        for (let revision = 2; revision < 7; revision++) {
          await store.read.entry({ id: entry.id })
          await other.write((writer) => writer.put({ ...entry, name: `Name ${revision}` }))
          expect(await ask()).toBe(revision)
          expect((await store.read.entry({ id: entry.id }))?.name).toBe(`Name ${revision}`)
        }
      })

      test('are whole and never older than earlier commits, under concurrent writes', async () => {
        const other = await home.another()
        const entries = Array.from({ length: 6 }, () => sampleEntry())
        const ids = entries.map((entry) => entry.id)
        await put(...entries)
        let committed = 6

        async function write(writing: Store): Promise<void> {
          for (let round = 0; round < 40; round++) {
            const { revision } = await writing.write((writer) => writer.put(entries[round % 6]!))
            if (home.sees_others || writing === store) committed = Math.max(committed, revision)
          }
        }
        async function read(from: number): Promise<void> {
          for (let round = 0; round < 80; round++) {
            const before = committed
            const rotated = [...ids.slice((from + round) % 6), ...ids.slice(0, (from + round) % 6)]
            const found = await store.read.entries(rotated)
            expect(found.map((entry) => entry.id)).toEqual(rotated)
            expect(Math.max(...found.map((entry) => entry.revision))).toBeGreaterThanOrEqual(before)
          }
        }
        await Promise.all([write(store), write(other), read(0), read(1), read(2), read(3)])
        await home.awaitRevision(store, 86)
        expect(Math.max(...(await store.read.entries(ids)).map((entry) => entry.revision))).toBe(86)
      })

      test('throw for a document that is no entry, and do not affect other entries', async () => {
        const [intact, spoilt, torn] = [sampleEntry(), sampleEntry(), sampleEntry()]
        await put(intact, spoilt, torn)
        await home.spoil(spoilt.id, '{"id": 5}')
        await home.spoil(torn.id, '{"id": ')
        const { read } = await home.another()
        await expect(read.entry({ id: spoilt.id })).rejects.toThrow(spoilt.id)
        await expect(read.entry({ id: torn.id })).rejects.toThrow(torn.id)
        await expect(read.entries([intact.id, spoilt.id])).rejects.toThrow(spoilt.id)
        expect(await read.entries([intact.id])).toHaveLength(1)
        expect((await put({ ...spoilt, name: 'Mended' })).revision).toBe(4)
        expect((await store.read.entry({ id: spoilt.id }))?.name).toBe('Mended')
      })
    })

    describe('a writer', () => {
      test('reads its own puts before the commit, and no other reader does', async () => {
        const entry = sampleEntry()
        await store.write(async (writer) => {
          expect(await writer.entry({ package_name: entry.package_name })).toBeUndefined()
          await writer.put(entry)
          expect((await writer.entry({ package_name: entry.package_name }))?.id).toBe(entry.id)
          expect((await writer.entry({ id: entry.id }))?.package_name).toBe(entry.package_name)
        })
        expect(await store.read.revision()).toBe(1)
      })

      test('lists the claims on namespaces', async () => {
        await put(
          sampleEntry({ owner: owner('com.example') }),
          sampleEntry({ owner: owner('com.example') }),
          sampleEntry({ owner: owner('org.other') }),
          sampleEntry({ owner: owner(null) }),
        )
        const { result } = await store.write(async (writer) => [
          await writer.claims(['com', 'com.example', 'com.example.weather']),
          await writer.claims(['net']),
          await writer.claims([]),
        ])
        const { issuer, subject } = owner(null)
        const held = { namespace: 'com.example', holder: { issuer, subject }, proved: false }
        expect(result).toEqual([[held], [], []])
      })

      test('drops a claim that is given up', async () => {
        const entry = sampleEntry({ owner: owner('com.example') })
        await put(entry)
        await put({ ...entry, owner: owner(null) })
        const { result } = await store.write((writer) => writer.claims(['com.example']))
        expect(result).toEqual([])
      })
    })

    describe('the audit log of an entry', () => {
      const ada = { issuer: 'urn:test', subject: 'ada' }

      test('has each change with actor, action, time, and the fields before and after, newest first', async () => {
        const entry = sampleEntry({ name: 'One' })
        await store.write((writer) => writer.put(entry, { actor: ada, action: 'publish' }))
        await store.write((writer) =>
          writer.put(
            { ...entry, name: 'Two', updated_at: 'later' },
            { actor: null, action: 'refresh', reason: 'Why.' },
          ),
        )
        const at = new Date(storeTime).toISOString()
        const [second, first] = await store.read.audit(entry.id, 10)
        expect(second).toEqual({
          id: 2,
          at,
          action: 'refresh',
          actor: null,
          reason: 'Why.',
          revision: 2,
          before: { name: 'One' },
          after: { name: 'Two' },
        })
        expect(first).toMatchObject({ id: 1, action: 'publish', actor: ada, reason: null, before: null })
        expect(first?.after).toMatchObject({ name: 'One', package_name: entry.package_name })
      })

      test('has long values by length and hash, and short ones in full', async () => {
        const long = [{ name: 'a', description: 'b', input_schema: { description: 'x'.repeat(20_000) } }]
        const entry = sampleEntry({ name: 'One', capabilities: long })
        await put(entry)
        await put({ ...entry, name: 'Two', capabilities: [] })
        const [event] = await store.read.audit(entry.id, 1)
        expect(event?.after).toEqual({ name: 'Two', capabilities: [] })
        expect(event?.before).toEqual({
          name: 'One',
          capabilities: {
            characters: JSON.stringify(long).length,
            sha256: hash('sha256', JSON.stringify(long), 'hex'),
          },
        })
      })

      test('has no event for a check without findings', async () => {
        const [checked_at, later] = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z']
        const manifest = { status: 'ok' as const, checked_at, detail: null, findings: [] }
        const entry = sampleEntry({ manifest })
        await put(entry)
        await put({ ...entry, manifest: { ...manifest, checked_at: later }, check_at: later })
        expect(await store.read.audit(entry.id, 10)).toHaveLength(1)
        expect(await store.read.revision()).toBe(2)
      })

      test('has actions that change nothing, and the time of the last one of an actor', async () => {
        const entry = sampleEntry()
        await put(entry)
        await store.write((writer) =>
          writer.record(entry.id, { actor: ada, action: 'report', reason: 'broken' }),
        )
        const [event] = await store.read.audit(entry.id, 1)
        expect(event).toMatchObject({ action: 'report', revision: null, before: null, after: null })
        expect(await store.read.revision()).toBe(1)
        const { result } = await store.write(async (writer) => [
          await writer.lastDone(entry.id, 'report', ada),
          await writer.lastDone(entry.id, 'report', { ...ada, subject: 'bob' }),
          await writer.lastDone(entry.id, 'publish', ada),
        ])
        expect(result).toEqual([new Date(storeTime).toISOString(), undefined, undefined])
      })

      test('is paged by the id of the last event, and belongs to one entry', async () => {
        const [entry, other] = [sampleEntry(), sampleEntry()]
        for (const name of ['1', '2', '3']) await put({ ...entry, name }, { ...other, name })
        const page = await store.read.audit(entry.id, 2)
        expect(page.map(({ after }) => after?.name)).toEqual(['3', '2'])
        const next = await store.read.audit(entry.id, 2, page.at(-1)?.id)
        expect(next.map(({ after }) => after?.name)).toEqual(['1'])
      })

      test('is rolled back with a transaction that fails', async () => {
        const entry = sampleEntry()
        await expect(
          store.write(async (writer) => {
            await writer.put(entry)
            await writer.record(entry.id, { actor: ada, action: 'report' })
            throw new Error('no')
          }),
        ).rejects.toThrow('no')
        expect(await store.read.audit(entry.id, 10)).toEqual([])
      })
    })

    test('finds confusable names, without deleted ones and the name itself', async () => {
      const looking = sampleEntry({ package_name: 'com.examp1e.mail' })
      await put(
        looking,
        sampleEntry({ package_name: 'com.exarnple.mail' }),
        sampleEntry({ package_name: 'com.example.rnail', deleted: true }),
        sampleEntry({ package_name: 'com.example.mail' }),
      )
      const { result } = await store.write((writer) => writer.lookalikes('com.example.mail'))
      expect(result.map((entry) => entry.package_name).sort()).toEqual([
        'com.examp1e.mail',
        'com.exarnple.mail',
      ])
    })

    test('lists the offers that an owner made and received, by id, without deleted entries', async () => {
      const [ada, bob] = ['ada', 'bob'].map((subject) => ({ issuer: 'urn:test', subject })) as [Party, Party]
      const owner = { ...ada, namespace: null }
      const offer = { ...bob, at: '2026-01-01T00:00:00.000Z' }
      const offered = [1, 2, 3].map(() => sampleEntry({ owner, offer }))
      await put(sampleEntry({ owner }), ...offered, sampleEntry({ owner, offer, deleted: true }))
      const ids = async (...query: Parameters<Store['read']['offers']>) =>
        (await store.read.offers(...query)).map(({ id }) => id)
      const [first, second, third] = offered.map(({ id }) => id)
      expect(await ids('received', bob, 2)).toEqual([first, second])
      expect(await ids('received', bob, 2, second)).toEqual([third])
      expect(await ids('made', ada, 9)).toEqual([first, second, third])
      expect([...(await ids('made', bob, 9)), ...(await ids('received', ada, 9))]).toEqual([])
    })

    test('finds the verified entries of a display name, and makes the checks of the others due', async () => {
      const owner = { issuer: 'urn:test', subject: 'ada', namespace: null }
      const at = '2026-01-01T00:00:00.000Z'
      const times = { proved_at: at, checked_at: at, failing_since: null, failures: 0 }
      const proof = { ...times, method: 'dns', domain: 'acme.com', detail: null, card_sha256: null } as const
      const verified = { owner, proof, verification_level: 'domain_verified' } as const
      const [original, imitator] = [
        sampleEntry({ ...verified, name: 'PayPal' }),
        sampleEntry({ owner, name: 'PayPaI' }),
      ]
      const others = [
        sampleEntry({ ...verified, name: 'PayPal', deleted: true }),
        sampleEntry({ ...verified, name: 'Payroll' }),
        sampleEntry({ name: 'PayPal' }),
      ]
      await put(original, imitator, ...others)
      const { result } = await store.write((writer) => writer.verifiedNamesakes('ＰＡＹＰＡＬ'))
      expect(result.map(({ id }) => id)).toEqual([original.id])
      expect(await store.read.due('2026-01-02', '2027-01-01', 9)).toEqual([])
      const due = () => store.read.due('2026-01-02', '2027-01-01', 9)
      await store.write((writer) => writer.recheckNamesakes('Paypal', '2026-01-02', '2026-01-03'))
      expect(await due()).toEqual([imitator.id])
      await put({ ...imitator, check_at: '2026-01-04' })
      await store.write((writer) => writer.recheckNamesakes('Paypal', '2026-01-02', '2026-01-03'))
      expect(await due()).toEqual([])
    })

    test('reads the claims on namespaces, and the audit events of one action', async () => {
      const owner = { issuer: 'urn:test', subject: 'ada', namespace: 'com.claimed' }
      const entry = sampleEntry({ owner })
      await store.write((writer) => writer.put(entry, { actor: owner, action: 'publish' }))
      await store.write((writer) =>
        writer.put({ ...entry, name: 'Other' }, { actor: owner, action: 'update' }),
      )
      expect(await store.read.claims(['com', 'com.claimed'])).toMatchObject([
        { namespace: 'com.claimed', holder: { subject: 'ada' }, proved: false },
      ])
      const events = await store.read.audit(entry.id, 10, undefined, 'publish')
      expect(events.map(({ action }) => action)).toEqual(['publish'])
    })

    test('lists due checks, the longest due first, and those that a clock set back put off', async () => {
      const at = (check_at: string | null) => sampleEntry({ check_at })
      const [late, later, never, soon, distant] = [
        at('2026-01-01'),
        at('2026-01-02'),
        at(null),
        at('2026-01-05'),
        at('2036-01-01'),
      ]
      await put(later, late, never, soon, distant, { ...at('2026-01-01'), deleted: true })
      expect(await store.read.due('2026-01-03', '2026-01-09', 10)).toEqual([late.id, later.id, distant.id])
      expect(await store.read.due('2026-01-03', '2026-01-09', 1)).toEqual([late.id])
    })

    test('a lease has one holder at a time, and expires', async () => {
      const other = (await home.another()).leases
      const { leases } = store
      expect(await leases.take('job', 'a', 1000, 2000)).toBe(true)
      expect(await other.take('job', 'b', 1500, 2500)).toBe(false)
      expect(await leases.take('job', 'a', 1500, 2500)).toBe(true)
      expect(await other.take('other', 'b', 1500, 2500)).toBe(true)
      expect(await other.take('job', 'b', 2500, 3500)).toBe(true)
      await leases.release('job', 'a')
      expect(await leases.take('job', 'a', 2600, 3600)).toBe(false)
      await other.release('job', 'b')
      expect(await leases.take('job', 'a', 2600, 3600)).toBe(true)
      // The clock was a year ahead when this lease was taken.
      const year = 365 * 24 * 3_600_000
      await leases.take('job', 'a', year, year + 60_000)
      expect(await other.take('job', 'b', 2600, 3600)).toBe(true)
    })

    describe('many writers', () => {
      test('in one process lose and duplicate no change', async () => {
        const other = await home.another()
        const entries = Array.from({ length: 40 }, () => sampleEntry())
        const acknowledged = await Promise.all(
          entries.map(async (entry, index) => {
            const { revision } = await (index % 2 ? store : other).write((writer) => writer.put(entry))
            return [revision, entry.id] as const
          }),
        )
        const log = await store.changes(0, 100)
        expect(revisions(log)).toEqual(upTo(40))
        expect(new Map(log.map((change) => [change.revision, change.entry_id]))).toEqual(
          new Map(acknowledged.toSorted(([a], [b]) => a - b)),
        )
      })

      test('each see the writes of the one before, so that a counter counts', async () => {
        const entry = sampleEntry({ description: '0' })
        await put(entry)
        const count = () =>
          store.write(async (writer) => {
            const now = await writer.entry({ id: entry.id })
            await writer.put({ ...entry, description: String(Number(now?.description) + 1) })
          })
        await Promise.all(Array.from({ length: 25 }, count))
        expect((await store.read.entry({ id: entry.id }))?.description).toBe('25')
      })

      test('in three processes lose and duplicate no change', async () => {
        const acknowledged = await Promise.all(
          ['com.one', 'com.two', 'com.three'].map((prefix) => home.elsewhere(prefix, 15)),
        )
        const mine = await put(sampleEntry())
        expect(acknowledged.flat().toSorted((a, b) => a - b)).toEqual(upTo(45))
        expect(mine.revision).toBe(46)
        const log = await store.changes(0, 100)
        expect(revisions(log)).toEqual(upTo(46))
        expect(new Set(log.map((change) => change.entry_id)).size).toBe(46)
        expect(await store.read.entry({ package_name: 'com.two-14' })).toBeDefined()
      })
    })

    describe('wake', () => {
      /** Milliseconds between a commit and the wake after it. */
      async function latency(commit: () => Promise<unknown>): Promise<number> {
        const stop = new AbortController()
        const waking = store.wake(stop.signal)[Symbol.asyncIterator]()
        await waking.next()
        const woken = waking.next().then(() => performance.now())
        await commit()
        const committed = performance.now()
        const elapsed = (await woken) - committed
        stop.abort()
        expect((await waking.next()).done).toBe(true)
        return elapsed
      }

      test('comes promptly after a commit of this instance', async () => {
        expect(await latency(() => put(sampleEntry()))).toBeLessThan(450)
      })

      test('comes within two seconds of a commit of another instance', async () => {
        const other = await home.another()
        expect(await latency(() => other.write((writer) => writer.put(sampleEntry())))).toBeLessThan(2000)
      })

      test('comes within two seconds of a commit of another process', async () => {
        expect(await latency(() => home.elsewhere('com.elsewhere', 1))).toBeLessThan(2000)
      })

      test('comes for a commit made while its consumer was busy', async () => {
        const stop = new AbortController()
        const waking = store.wake(stop.signal)[Symbol.asyncIterator]()
        await waking.next()
        await put(sampleEntry())
        expect((await waking.next()).done).toBe(false)
        stop.abort()
      })

      test('ends with its signal, before and during a wait', async () => {
        expect(await store.wake(AbortSignal.abort())[Symbol.asyncIterator]().next()).toMatchObject({
          done: true,
        })
        const stop = new AbortController()
        const waking = store.wake(stop.signal)[Symbol.asyncIterator]()
        await waking.next()
        const waiting = waking.next()
        stop.abort()
        expect((await waiting).done).toBe(true)
      })
    })
  })
}

import { describe, expect, test } from 'vitest'
import { PersonalTable } from '../../schemas/personal-data.ts'
import { contentDigest } from '../../src/store/entries/version-content.ts'
import type { RetentionBounds } from '../../src/store/record-stores.ts'
import type { StoredEntry } from '../../src/store/stored-entry.ts'
import { sampleEntry } from '../support/entries.ts'
import { type StoreHome, storeTime } from './contract.ts'

const ada = { issuer: 'urn:test', subject: 'ada' }
const owner = { ...ada, namespace: null }
const admin = { actor: { issuer: 'urn:test', subject: 'root' }, action: 'purge', reason: 'A court asked.' }
const earlier = new Date(storeTime - 1).toISOString()
const later = new Date(storeTime + 1).toISOString()

/** Nothing is old. */
export const nothing: RetentionBounds = {
  now: storeTime,
  versions: earlier,
  max_versions: 100,
  audit: earlier,
  max_audit: 1000,
  changes: earlier,
  deleted: '2000-01-01T00:00:00.000Z',
  liveness: 0,
}

/** What every store does with data that is no longer needed, or must not be kept. */
export function retentionContract(name: string, open: () => Promise<StoreHome>): void {
  describe(`${name}: retention`, () => {
    const put = (home: StoreHome, ...entries: StoredEntry[]) =>
      home.store.write(async (writer) => {
        for (const entry of entries) await writer.put(entry)
      })
    const revisions = async ({ store }: StoreHome, after = 0) =>
      (await store.changes(after, 100)).map(({ revision }) => revision)

    test('removes nothing that is younger than its bound', async () => {
      await using home = await open()
      const entry = sampleEntry({ version: '1.0.0' })
      for (const description of ['One.', 'Two.', 'Three.']) await put(home, { ...entry, description })
      await put(home, { ...entry, deleted: true })
      const counts = await home.store.retention.prune(nothing)
      expect(counts).toEqual({ versions: 0, audit: 0, deleted: 0, changes: 0, liveness: 0 })
      expect(await revisions(home)).toEqual([1, 2, 3, 4])
    })

    test('ends before the next statement when its signal has aborted', async () => {
      await using home = await open()
      const entry = sampleEntry()
      for (const description of ['One.', 'Two.', 'Three.']) await put(home, { ...entry, description })
      const signal = AbortSignal.abort()
      const { retention } = home.store
      await expect(retention.prune({ ...nothing, changes: later }, signal)).rejects.toBe(signal.reason)
      await expect(retention.pruneEmbeddings(() => false, signal)).rejects.toBe(signal.reason)
      expect(await revisions(home)).toEqual([1, 2, 3])
    })

    test('keeps the digest of an old stated version and not its text, and always the newest', async () => {
      await using home = await open()
      const entry = sampleEntry({ version: '1.0.0', description: 'One.' })
      const next = { ...entry, version: '2.0.0', description: 'Two.' }
      await put(home, entry)
      await put(home, next)
      const { store } = home
      const bounds = { ...nothing, versions: later }
      expect((await store.retention.prune(bounds)).versions).toBe(1)
      expect((await store.retention.prune(bounds)).versions).toBe(0)
      expect(await store.versions.find(entry.id, 0, { version: '1.0.0' })).toBeUndefined()
      expect(await store.versions.find(entry.id, 0, { version: '2.0.0' })).toMatchObject({
        content: { description: 'Two.' },
      })
      const published = await store.write((writer) => writer.published(entry.id, '1.0.0'))
      expect(published.result).toEqual([contentDigest(entry)])
    })

    test('removes versions without a version string by age and by number', async () => {
      await using home = await open()
      const entry = sampleEntry({ version: null })
      for (let count = 1; count <= 5; count++) await put(home, { ...entry, description: `Text ${count}.` })
      const { retention, versions } = home.store
      const total = async () => (await versions.extent(entry.id, 0)).total
      expect((await retention.prune({ ...nothing, max_versions: 3 })).versions).toBe(2)
      expect(await total()).toBe(3)
      expect((await retention.prune({ ...nothing, versions: later })).versions).toBe(2)
      expect(await total()).toBe(1)
    })

    test('removes old audit events', async () => {
      await using home = await open()
      const entry = sampleEntry()
      await put(home, entry)
      expect((await home.store.retention.prune({ ...nothing, audit: later })).audit).toBe(1)
      expect(await home.store.read.audit(entry.id, 10)).toEqual([])
    })

    test('keeps so many audit events of an entry, the newest', async () => {
      await using home = await open()
      const [entry, other] = [sampleEntry(), sampleEntry()]
      await put(home, other)
      for (let count = 1; count <= 5; count++) await put(home, { ...entry, description: `Text ${count}.` })
      const { read, retention } = home.store
      expect((await retention.prune({ ...nothing, max_audit: 2 })).audit).toBe(3)
      expect((await retention.prune({ ...nothing, max_audit: 2 })).audit).toBe(0)
      const left = await read.audit(entry.id, 10)
      expect(left.map(({ after }) => after?.description)).toEqual(['Text 5.', 'Text 4.'])
      expect(await read.audit(other.id, 10)).toHaveLength(1)
    })

    test('removes changes that later ones replace, so that a reader from the beginning learns the newest state', async () => {
      await using home = await open()
      const [changed, hidden, steady] = [sampleEntry(), sampleEntry(), sampleEntry()]
      await put(home, changed)
      await put(home, hidden)
      await put(home, { ...changed, description: 'Another.' })
      await put(home, { ...hidden, state: 'STAGE' })
      await put(home, { ...hidden, state: 'STAGE', description: 'Nobody sees this.' })
      await put(home, { ...hidden, state: 'STAGE', description: 'Nor this.' })
      await put(home, steady)
      const { retention } = home.store
      expect((await retention.prune({ ...nothing, changes: later })).changes).toBe(3)
      const log = await home.store.changes(0, 100)
      expect(log.map(({ revision, seen }) => [revision, seen])).toEqual([
        [3, 'listed'],
        [4, 'gone'],
        [6, 'unseen'],
        [7, 'listed'],
      ])
      expect(await retention.prunedRevision()).toBe(0)
    })

    test('removes entries that were deleted long ago with all that belongs to them, unless they are suspended', async () => {
      await using home = await open()
      const [old, suspended, last] = [sampleEntry(), sampleEntry(), sampleEntry()]
      await put(home, old, suspended)
      await put(home, { ...old, deleted: true })
      await put(home, { ...suspended, deleted: true, suspended: { reason: 'Spam.', at: later } })
      await put(home, last)
      const { retention, read, versions } = home.store
      const bounds = { ...nothing, deleted: '2026-06-01T00:00:00.000Z', changes: later }
      expect(await retention.prune(bounds)).toMatchObject({ deleted: 1 })
      const another = await home.another()
      expect(await another.read.entry({ id: old.id })).toBeUndefined()
      expect(await another.read.entry({ id: suspended.id })).toBeDefined()
      expect((await versions.extent(old.id, 0)).total).toBe(0)
      expect(await read.revision()).toBe(5)
      // The removal of `old` is no longer in the log: a reader of revision 1 would not learn of it.
      expect(await retention.prunedRevision()).toBe(3)
      const log = await home.store.changes(0, 100)
      expect(log.some(({ entry_id }) => entry_id === old.id)).toBe(false)
    })

    test('removes what has expired from every table', async () => {
      await using home = await open()
      const { identity, leases, retention } = home.store
      const key = {
        ...{ id: 'drg_AAAAAAAA', sha256: 'hash', ...ada, scopes: [], namespaces: [], label: null },
        created_at: 5,
        expires_at: 10,
      }
      await identity.addKey(key, 10)
      await leases.take('work', 'somebody', storeTime - 20, storeTime - 10)
      await retention.prune(nothing)
      expect(await identity.key(key.id)).toBeUndefined()
      expect(await leases.take('work', 'another', storeTime - 20, storeTime)).toBe(true)
    })

    test('removes the vectors of unused texts', async () => {
      await using home = await open()
      const { embeddings, retention } = home.store
      const vectors = Array.from({ length: 1201 }, (_, at) => [`hash-${at}`, new Float32Array([at])] as const)
      await embeddings.keep('model', new Map(vectors))
      await embeddings.keep('another', new Map(vectors.slice(0, 4)))
      const used = new Set(['hash-3', 'hash-1200'])
      expect(await retention.pruneEmbeddings((hash) => used.has(hash))).toBe(1199 + 3)
      expect([...(await embeddings.find('another', ['hash-2', 'hash-3'])).keys()]).toEqual(['hash-3'])
      expect([...(await embeddings.find('model', [...used])).keys()].toSorted()).toEqual([...used].toSorted())
      expect([await embeddings.exceed('model', 1), await embeddings.exceed('model', 2)]).toEqual([
        true,
        false,
      ])
    })

    test('a purge leaves the id, the action and its reason, and frees the name', async () => {
      await using home = await open()
      const { store } = home
      const entry = sampleEntry({ owner, package_name: 'com.sample.a_b' })
      const other = sampleEntry({ owner, package_name: 'com.sample.axb' })
      await put(home, entry, other)
      await store.embeddings.keep('model', new Map([['text', new Float32Array([1])]]))
      await put(home, { ...entry, deleted: true })
      expect(await store.read.entry({ id: entry.id })).toMatchObject({ deleted: true })
      await store.retention.purge(entry, ['text'], admin)
      expect(await store.read.entry({ id: entry.id })).toBeUndefined()
      expect(await store.read.audit(entry.id, 10)).toMatchObject([
        { action: 'purge', reason: 'A court asked.', actor: admin.actor, before: null, after: null },
      ])
      expect((await store.versions.extent(entry.id, 0)).total).toBe(0)
      expect(await store.embeddings.exceed('model', 0)).toBe(false)
      await put(home, { ...sampleEntry(), package_name: entry.package_name })
      const another = await home.another()
      expect((await another.read.entry({ package_name: entry.package_name }))?.id).not.toBe(entry.id)
      expect(await another.read.entry({ id: other.id })).toBeDefined()
    })
  })

  describe(`${name}: personal data`, () => {
    test('is found in every table, and a pseudonym takes its place', async () => {
      await using home = await open()
      const { store } = home
      const entry = sampleEntry({ owner })
      const others = sampleEntry({
        owner: { ...owner, subject: 'adam' },
        taken_from: ada,
        offer: { ...ada, at: '2026-01-01T00:00:00.000Z' },
      })
      await store.write(async (writer) => {
        await writer.put(entry, { actor: ada, action: 'publish' })
        await writer.put(others, { actor: { ...ada, subject: 'adam' }, action: 'publish' })
      })
      await store.identity.addKey(
        {
          ...{ id: 'drg_AAAAAAAA', sha256: 'hash', ...ada, scopes: [], namespaces: [], label: 'mine' },
          created_at: storeTime,
          expires_at: storeTime + 10,
        },
        10,
      )
      const { personalData } = store
      expect(await personalData.entryIds(ada)).toEqual([entry.id])
      const find = async () => {
        const pages = PersonalTable.options.map(async (table) => {
          const { rows, total } = await personalData.find(ada, table, 0, 10)
          expect(rows.length).toBe(total)
          return [table, rows] as const
        })
        return Object.fromEntries(await Promise.all(pages))
      }
      const found = await find()
      expect(found).toMatchObject({
        entries: [{ id: entry.id }],
        offers: [{ id: others.id, package_name: others.package_name }],
        audit: [{ action: 'publish', entry_id: entry.id }],
        api_keys: [{ label: 'mine' }],
      })
      expect(JSON.stringify(found)).not.toContain('hash"')

      expect(await personalData.find(ada, 'entries', 1, 10)).toEqual({ rows: [], total: 1 })
      expect(await personalData.find(ada, 'entries', 0, 0)).toEqual({ rows: [], total: 1 })

      const pseudonym = { issuer: 'urn:dragoman:deleted', subject: 'p-1' }
      expect((await store.read.entry({ id: entry.id }))?.owner).toEqual(owner)
      await personalData.forget(ada, pseudonym)
      expect((await store.read.entry({ id: entry.id }))?.owner).toEqual({ ...pseudonym, namespace: null })
      const left = await find()
      expect(Object.values(left).flat()).toEqual([])
      const another = await home.another()
      expect((await another.read.entry({ id: entry.id }))?.owner).toEqual({ ...pseudonym, namespace: null })
      expect(await another.read.audit(entry.id, 10)).toMatchObject([
        { actor: pseudonym, after: { owner: pseudonym } },
      ])
      expect(await another.read.entry({ id: others.id })).toMatchObject({
        owner: { subject: 'adam' },
        taken_from: pseudonym,
        offer: null,
      })
      expect(await another.identity.key('drg_AAAAAAAA')).toBeUndefined()
    })
  })
}

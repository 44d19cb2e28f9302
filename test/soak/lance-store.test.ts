import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { Folder } from '../../src/search/vectors/lance/folder.ts'
import {
  type LanceVectorStoreOptions,
  openLanceVectorStore,
} from '../../src/search/vectors/lance/lance-vector-store.ts'
import { loadLibrary } from '../../src/search/vectors/lance/library.ts'
import type { VectorStore } from '../../src/search/vectors/vector-store.ts'
import { hostileFilters } from '../search/vectors/hostile-filters.ts'
import { Oracle, Pair } from '../search/vectors/oracle.ts'
import {
  attributesOf,
  clusteredVectors,
  expectExact,
  gone,
  idsOf,
  put,
  signal,
  unit,
} from '../search/vectors/support.ts'

const east = unit(1, 0)
const north = unit(0, 1)

const root = await mkdtemp(join(tmpdir(), 'dragoman-lance-store-'))
afterAll(() => rm(root, { recursive: true, force: true }))

const newFolder = () => mkdtemp(join(root, 'store-'))
const open = (folder: string, options: Partial<LanceVectorStoreOptions> = {}) =>
  openLanceVectorStore({ folder, dimensions: 2, refresh_ms: 0, ...options })

async function filesOf(folder: string, part: string): Promise<string[]> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true })
  return files
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => path.includes(part))
}

/** Retries a call that another writer or a rebuild interrupted, as the index tailer does. */
async function insist(work: () => Promise<unknown>): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await work()
      return
    } catch (fault) {
      expect(fault).toMatchObject({ code: 'unavailable' })
      if (attempt > 50) throw fault
      await pause(20)
    }
  }
}

describe('a lance store', () => {
  it('keeps its rows across a restart', async () => {
    const folder = await newFolder()
    {
      await using store = await open(folder)
      await store.apply([put('a', [east], { tags: ['x'] }), put('b', [north, east]), put('c', [east])], 3)
      await store.apply([gone('c')], 5)
    }
    const on_rebuild = vi.fn()
    await using store = await open(folder, { on_rebuild })
    expect(store.applied_revision).toBe(5)
    expect(idsOf(await store.nearest(east, {}, 10, signal))).toEqual(['a', 'b'])
    expect(idsOf(await store.nearest(east, { tags: ['x'] }, 10, signal))).toEqual(['a'])
    expect(on_rebuild).not.toHaveBeenCalled()
  })

  it('starts empty with another number of dimensions', async () => {
    const folder = await newFolder()
    {
      await using store = await open(folder)
      await store.apply([put('a', [east])], 3)
    }
    await using store = await open(folder, { dimensions: 3 })
    expect(store.applied_revision).toBe(0)
    await store.apply([put('b', [unit(1, 0, 0)])], 1)
    expect(idsOf(await store.nearest(unit(1, 0, 0), {}, 10, signal))).toEqual(['b'])
  })

  it('accepts the same changes again, and those of a lower revision', async () => {
    await using store = await open(await newFolder())
    await store.apply([put('a', [east])], 3)
    await store.apply([put('a', [east])], 3)
    await store.apply([put('b', [east])], 2)
    expect(store.applied_revision).toBe(2)
    expect(idsOf(await store.nearest(east, {}, 10, signal))).toEqual(['a', 'b'])
  })

  it('refuses once the changes that build on lost rows', async () => {
    const folder = await newFolder()
    const on_rebuild = vi.fn()
    await using store = await open(folder, { on_rebuild })
    await store.apply([put('a', [east])], 3)
    for (const file of await filesOf(folder, '/data/')) await truncate(file, 10)
    await expect(store.nearest(east, {}, 10, signal)).rejects.toMatchObject({ code: 'unavailable' })
    await expect.poll(() => on_rebuild.mock.calls.length).toBe(1)
    expect(store.applied_revision).toBe(0)
    await expect(store.apply([put('b', [east])], 4)).rejects.toMatchObject({ code: 'unavailable' })
    expect(store.applied_revision).toBe(0)
    await store.apply([put('a', [east]), put('b', [east])], 4)
    expect(idsOf(await store.nearest(east, {}, 10, signal))).toEqual(['a', 'b'])
    expect(await filesOf(folder, '/data/')).not.toHaveLength(0)
    expect((await readdir(folder)).filter((name) => name.startsWith('GENERATION-'))).toHaveLength(1)
  })

  it('verifies files without a checksum by their rows', async () => {
    const folder = await newFolder()
    {
      await using store = await open(folder)
      await store.apply([put('a', [east], { tags: ['x', 'y'], owner: 'ann' }), put('b', [north, east])], 3)
    }
    for (const file of await filesOf(folder, 'sums')) await rm(file)
    {
      await using store = await open(folder)
      expect(store.applied_revision).toBe(3)
    }
    for (const file of await filesOf(folder, 'sums')) await rm(file)
    const pattern = Buffer.from(east.buffer)
    let found = 0
    for (const file of await filesOf(folder, '/data/')) {
      const bytes = await readFile(file)
      const position = bytes.indexOf(pattern)
      if (position < 0) continue
      found++
      bytes.writeFloatLE(0.5, position)
      await writeFile(file, bytes)
    }
    expect(found).toBe(1)
    await using store = await open(folder)
    expect(store.applied_revision).toBe(0)
  })

  it('indexes its vectors, and trains the index anew for four times the rows', {
    timeout: 60_000,
  }, async () => {
    const folder = await newFolder()
    const vectors = clusteredVectors(5, 2)
    const store = await open(folder, { exact_rows: 10 })
    const pair = new Pair(store)
    await using _ = store
    const indices = async () => {
      const { lance } = loadLibrary(undefined)
      const [generation = ''] = (await readdir(folder)).filter((name) => name.startsWith('GENERATION-'))
      const connection = await lance.connect(join(folder, generation))
      const table = await connection.openTable('vectors')
      return (await table.listIndices()).map(({ name }) => name).filter((name) => name !== 'id_idx')
    }
    const grownTo = async (size: number) => {
      const first = pair.oracle.entries.size
      await pair.apply(Array.from({ length: size - first }, (_, at) => put(`${first + at}`, [vectors()])))
      // Many commits start the indexing; the next one waits for it.
      for (let commit = 0; commit < 64; commit++) await pair.apply([])
      await expectExact(pair, vectors(), {}, 100)
      return indices()
    }
    expect(await grownTo(9)).toEqual([])
    expect(await grownTo(20)).toEqual(['nearest_21'])
    expect(await grownTo(70)).toEqual(['nearest_21'])
    expect(await grownTo(90)).toEqual(['nearest_91'])
  })

  it('compacts files during reads and writes', { timeout: 60_000 }, async () => {
    const folder = await newFolder()
    const vectors = clusteredVectors(5, 2)
    const store = await open(folder, { optimize_every_ms: 50, grace_ms: 0 })
    const pair = new Pair(store)
    await using _ = store
    const controller = new AbortController()
    const asking = (async () => {
      for (; !controller.signal.aborted; await pause(1)) await store.nearest(vectors(), {}, 10, signal)
    })()
    for (let round = 0; round < 20; round++)
      await pair.apply([put(`${round}`, [vectors(), vectors()]), gone(`${round - 5}`)])
    controller.abort()
    expect(await asking).toBeUndefined()
    await vi.waitFor(async () => expect((await filesOf(folder, '/data/')).length).toBeLessThan(20), 5000)
    await expectExact(pair, vectors(), {}, 100)
  })
})

describe('two lance stores on one folder', () => {
  it('each see the writes of the other, after the refresh interval', async () => {
    const folder = await newFolder()
    let now = 0
    await using first = await open(folder)
    await using other = await open(folder, { refresh_ms: 1000, clock: () => now })
    expect(await other.nearest(east, {}, 10, signal)).toEqual([])
    await first.apply([put('a', [east])], 3)
    now = 999
    expect(await other.nearest(east, {}, 10, signal)).toEqual([])
    now = 1000
    expect(idsOf(await other.nearest(east, {}, 10, signal))).toEqual(['a'])
    expect(other.applied_revision).toBe(3)
  })

  it('never duplicate rows that both write', { timeout: 60_000 }, async () => {
    const folder = await newFolder()
    const vectors = clusteredVectors(3, 2)
    const oracle = new Oracle()
    await using first = await open(folder)
    await using other = await open(folder)
    for (let round = 1; round <= 8; round++) {
      const changes = Array.from({ length: 10 }, (_, index) =>
        put(`${(round >> 1) * 7 + index}`, Array.from({ length: 1 + (round % 3) }, vectors)),
      )
      oracle.apply(changes)
      await Promise.all([first, other].map((store) => insist(() => store.apply(changes, round))))
      for (const store of [first, other])
        await expectExact(Object.assign(new Pair(store), { oracle }), vectors(), {}, 500)
    }
    expect([first.applied_revision, other.applied_revision]).toEqual([8, 8])
  })

  it('agree on one generation when both open an empty folder, or find it damaged', async () => {
    const folder = await newFolder()
    const stores = await Promise.all([open(folder), open(folder), open(folder)])
    const expectOne = async (revision: number) => {
      await insist(() => stores[0]!.apply([put('a', [east])], revision))
      for (const store of stores) {
        await insist(async () => {
          await store.nearest(east, {}, 10, signal)
          if (store.applied_revision !== revision)
            throw Object.assign(new Error('It is not there yet.'), { code: 'unavailable' })
        })
      }
    }
    await expectOne(1)
    for (const file of await filesOf(folder, '/data/')) await truncate(file, 10)
    await Promise.allSettled(stores.map((store) => store.nearest(east, {}, 10, signal)))
    await pause(500)
    await expectOne(2)
    for (const store of stores) await store[Symbol.asyncDispose]()
  })
})

describe('the folder of a lance store', () => {
  it('replaces a generation only once', async () => {
    const path = await newFolder()
    const [folder, other] = [new Folder(path, 2), new Folder(path, 2)]
    const first = await folder.add()
    expect(await folder.swap(first, undefined)).toBe(first)
    expect(await other.swap(await other.add(), undefined)).toBe(first)
    const second = await folder.add()
    expect(await folder.swap(second, first)).toBe(second)
    expect(await other.swap(await other.add(), first)).toBe(second)
    expect(await other.current()).toBe(second)
    expect(await new Folder(path, 3).current()).toBeUndefined()
  })
})

hostileFilters('lance', async (dimensions) => open(await newFolder(), { dimensions }), { runs: 6 })

describe('a lance store whose process is killed', () => {
  const script = (folder: string) => `
    import { openLanceVectorStore } from ${JSON.stringify(new URL('../../src/search/vectors/lance/lance-vector-store.ts', import.meta.url).href)}
    const store = await openLanceVectorStore({ folder: ${JSON.stringify(folder)}, dimensions: 2, optimize_every_ms: 50 })
    for (let revision = store.applied_revision + 1; ; revision++) {
      const vectors = [new Float32Array([1, 0]), new Float32Array([0, 1])]
      const attributes = ${JSON.stringify(attributesOf())}
      await store.apply([{ id: String(revision % 50), entry: { attributes, vectors } }], revision)
      console.log(revision)
    }`

  it('has every acknowledged change', { timeout: 300_000 }, async () => {
    const folder = await newFolder()
    for (let round = 0; round < 2; round++) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', script(folder)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let output = ''
      child.stdout.on('data', (chunk) => {
        output += chunk
      })
      await vi.waitFor(() => expect(output.split('\n').length).toBeGreaterThan(10), 60_000)
      await pause(Math.random() * 200)
      child.kill('SIGKILL')
      await once(child, 'close')
      const acknowledged = Number(output.split('\n').at(-2))
      await using store: VectorStore = await open(folder)
      expect(store.applied_revision).toBeGreaterThanOrEqual(acknowledged)
      const ids = idsOf(await store.nearest(east, {}, 1000, signal))
      expect(ids).toHaveLength(Math.min(50, store.applied_revision))
    }
  })
})

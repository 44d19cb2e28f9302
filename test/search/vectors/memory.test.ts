import { setImmediate, setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { layoutOf } from '../../../src/search/vectors/memory/layout.ts'
import { createMemoryVectorStore } from '../../../src/search/vectors/memory/memory-vector-store.ts'
import { noBounds } from '../../../src/search/vectors/memory/quantise.ts'
import { ScanThread } from '../../../src/search/vectors/memory/scan-thread.ts'
import { Slabs } from '../../../src/search/vectors/memory/slabs.ts'
import type { Near } from '../../../src/search/vectors/vector-store.ts'
import { vectorStoreContract } from './contract.ts'
import { Pair } from './oracle.ts'
import { clusteredVectors, expectExact, idsOf, put, randomNumbers, signal, unit } from './support.ts'

const worker = new URL('../../../src/search/vectors/memory/worker.ts', import.meta.url)
const inThread = (dimensions: number) => createMemoryVectorStore({ dimensions, worker, worker_rows: 0 })
const withEndlessScans = () => {
  const endless = new URL('data:text/javascript,setInterval(() => {}, 1000)')
  return createMemoryVectorStore({ dimensions: 2, worker: endless, worker_rows: 0 })
}

vectorStoreContract('memory', async (dimensions) => createMemoryVectorStore({ dimensions }), {
  runs: 25,
  many: false,
})

describe('the vectors in memory', () => {
  it.each([0, -1, 1.5, Number.NaN, 1e6])('cannot have %d dimensions', (dimensions) => {
    expect(() => createMemoryVectorStore({ dimensions })).toThrow(RangeError)
  })

  it('refuse an entry with more vectors than a slab holds', async () => {
    await using store = createMemoryVectorStore({ dimensions: 2 })
    const many = Array.from({ length: 513 }, () => unit(1, 0))
    await expect(store.apply([put('a', many)], 1)).rejects.toThrow(RangeError)
    await store.apply([put('a', many.slice(1))], 1)
    expect(await store.nearest(unit(1, 0), {}, 1, signal)).toMatchObject([{ id: 'a', capability: 0 }])
  })

  it('are unchanged when there is no memory for a whole change', async () => {
    const dimensions = 16_384
    await using store = createMemoryVectorStore({ dimensions })
    const vector = new Float32Array(dimensions).fill(1 / 128)
    await store.apply([put('a', [vector])], 1)
    // Each width takes a separate slab of some 17 MB.
    const many = Array.from({ length: 270 }, (_, index) =>
      put(
        `${index}`,
        Array.from({ length: index + 2 }, () => vector),
      ),
    )
    const change = store.apply([{ id: 'a', entry: null }, ...many], 2)
    await expect(change).rejects.toMatchObject({ code: 'storage_full' })
    expect(store.applied_revision).toBe(1)
    expect(idsOf(await store.nearest(vector, {}, 5, signal))).toEqual(['a'])
  })

  it('find all of many equal entries, the first by id', async () => {
    await using store = createMemoryVectorStore({ dimensions: 2 })
    const ids = Array.from({ length: 5000 }, (_, index) => `${(index * 7919) % 5000}`.padStart(4, '0'))
    await store.apply(
      ids.map((id) => put(id, [unit(1, 0)])),
      1,
    )
    for (const vector of [unit(1, 0), unit(0, 0), unit(0, 1)])
      expect(idsOf(await store.nearest(vector, {}, 20, signal))).toEqual([...ids].sort().slice(0, 20))
  })

  it('yield to the event loop during a large change, and show it whole or not at all', async () => {
    await using store = createMemoryVectorStore({ dimensions: 128 })
    const before = put('before', [unit(...Array.from({ length: 128 }, () => 1))])
    await store.apply([before], 1)
    const vectors = clusteredVectors(1, 128)
    const many = Array.from({ length: 5000 }, (_, index) => put(`${index}`, [vectors()]))
    let isDone = false
    const applied = store.apply(many, 2).then(() => {
      isDone = true
    })
    let turns = 0
    const counts: Promise<number>[] = []
    while (!isDone) {
      await setImmediate()
      turns++
      counts.push(store.nearest(vectors(), {}, 6000, signal).then((near) => near.length))
    }
    await applied
    expect(turns).toBeGreaterThan(3)
    expect(new Set(await Promise.all(counts))).toEqual(new Set([5001]))
  })
})

describe('searches that wait at the same time', () => {
  it('find what each of them finds alone, whatever their filters and limits', async () => {
    const vectors = clusteredVectors(9, 64)
    const pair = new Pair(createMemoryVectorStore({ dimensions: 64 }))
    await using _ = pair.store
    await pair.apply(
      Array.from({ length: 2500 }, (_, index) =>
        put(`${index}`, Array.from({ length: (index % 5) + 1 }, vectors), {
          state: index % 3 === 0 ? 'STAGE' : 'ACTIVE',
        }),
      ),
    )
    for (const count of [2, 3, 4, 5, 9])
      await Promise.all(
        Array.from({ length: count }, (_, at) =>
          expectExact(pair, vectors(), at % 4 === 3 ? { state: 'STAGE' } : {}, [1, 10, 40][at % 3]),
        ),
      )
  })

  it('end alone: one that is aborted or asks for nothing leaves the others whole', async () => {
    await using store = inThread(2)
    await store.apply([put('a', [unit(1, 0)]), put('b', [unit(0, 1)])], 1)
    const ended = new AbortController()
    const first = store.nearest(unit(1, 0), {}, 1, signal)
    const aborted = store.nearest(unit(1, 0), {}, 1, ended.signal)
    const others = [unit(0, 1), unit(1, 0), unit(0, 1)].map((vector) => store.nearest(vector, {}, 1, signal))
    const empty = store.nearest(unit(1, 0), {}, 0, signal)
    ended.abort('ended')
    await expect(aborted).rejects.toBe('ended')
    expect(await empty).toEqual([])
    expect((await Promise.all([first, ...others])).map(idsOf)).toEqual([['a'], ['b'], ['a'], ['b']])
  })
})

describe('the thread that scans', () => {
  it('does not block the event loop', async () => {
    await using store = inThread(2)
    await store.apply([put('a', [unit(1, 0)])], 1)
    let isFree = false
    const turn = setImmediate().then(() => {
      isFree = true
    })
    await store.nearest(unit(1, 0), {}, 1, signal)
    expect(isFree).toBe(true)
    await turn
  })

  it('is not used by scans below its number of rows', async () => {
    await using store = createMemoryVectorStore({
      dimensions: 2,
      worker: new URL('data:text/javascript,throw new Error("broken")'),
      worker_rows: 3,
    })
    await store.apply([put('a', [unit(1, 0), unit(1, 0)]), put('b', [unit(0, 1)], { state: 'STAGE' })], 1)
    expect(idsOf(await store.nearest(unit(1, 0), { state: 'ACTIVE' }, 2, signal))).toEqual(['a'])
    const broken = { code: 'internal', cause: { message: 'broken' } }
    await expect(store.nearest(unit(1, 0), {}, 2, signal)).rejects.toMatchObject(broken)
  })

  it('ends an aborted call at once', async () => {
    await using store = withEndlessScans()
    await store.apply([put('a', [unit(1, 0)])], 1)
    const [first, second] = [new AbortController(), new AbortController()]
    const scanned = store.nearest(unit(1, 0), {}, 1, first.signal)
    const waiting = store.nearest(unit(1, 0), { state: 'ACTIVE' }, 1, second.signal)
    await setTimeout(5)
    second.abort('second')
    await expect(waiting).rejects.toBe('second')
    first.abort('first')
    await expect(scanned).rejects.toBe('first')
    await expect(store.nearest(unit(1, 0), {}, 1, first.signal)).rejects.toBe('first')
  })

  it('does not hold up comparisons', async () => {
    await using store = withEndlessScans()
    await store.apply([put('a', [unit(1, 0)])], 1)
    const endless = expect(store.nearest(unit(1, 0), {}, 1, signal)).rejects.toMatchObject({
      code: 'unavailable',
    })
    expect(idsOf(await store.compare(unit(1, 0), ['a'], signal))).toEqual(['a'])
    await store[Symbol.asyncDispose]()
    await endless
  })

  it('and the comparisons meanwhile leave each other as they are', async () => {
    await using store = inThread(256)
    const vectors = clusteredVectors(13, 256, 20)
    const changes = Array.from({ length: 5000 }, (_, index) => put(`${index}`, [vectors(), vectors()]))
    await store.apply(changes, 1)
    const ids = Array.from({ length: 40 }, (_, index) => `${index * 100}`)
    const queries = Array.from({ length: 40 }, vectors)
    const scan = (query: Float32Array) => store.nearest(query, {}, 10, signal)
    const compare = (query: Float32Array) => store.compare(query, ids, signal)
    const scanned: (readonly Near[])[] = []
    const compared: (readonly Near[])[] = []
    for (const query of queries) scanned.push(await scan(query))
    for (const query of queries) compared.push(await compare(query))
    const scans = Promise.all(queries.map(scan))
    for (const [turn, query] of queries.entries()) {
      expect(await compare(query)).toEqual(compared[turn])
      await setImmediate()
    }
    expect(await scans).toEqual(scanned)
  })

  it('never answers from half a change', async () => {
    await using store = inThread(32)
    const size = 4000
    const versions = 8
    /** In each version all entries are equal, some are removed, and some have more vectors. */
    const vectorIn = (version: number) => unit(version, ...Array.from({ length: 31 }, () => 1))
    const widthIn = (version: number, index: number) => 1 + ((version + index) % 5 === 0 ? version % 4 : 0)
    const countIn = (version: number) => size - 7 * version
    const changesTo = (version: number) =>
      Array.from({ length: size }, (_, index) => {
        const vectors = Array.from({ length: widthIn(version, index) }, () => vectorIn(version))
        return index < countIn(version) ? put(`${index}`, vectors) : { id: `${index}`, entry: null }
      })
    const query = unit(1, ...Array.from({ length: 31 }, () => 0))
    await store.apply(changesTo(0), 1)

    const answers: Promise<readonly Near[]>[] = []
    for (let version = 1; version < versions; version++) {
      let isApplied = false
      const applied = store.apply(changesTo(version), version + 1).then(() => {
        isApplied = true
      })
      // The more a machine has to do, the longer a change takes: enough answers are enough.
      while (!isApplied) {
        if (answers.length < 20 * version) answers.push(store.nearest(query, {}, size, signal))
        await setTimeout(3)
      }
      await applied
    }
    const expected = Array.from({ length: versions }, (_, version) => ({
      count: countIn(version),
      similarity: vectorIn(version)[0]!,
    }))
    for (const near of await Promise.all(answers)) {
      const version = expected.find(({ count }) => count === near.length)
      expect(version).toBeDefined()
      expect(near.every(({ similarity }) => Math.abs(similarity - version!.similarity) < 1e-6)).toBe(true)
    }
    expect(answers.length).toBeGreaterThan(versions)
  })

  it('sees memory that has grown since it started', async () => {
    const pair = new Pair(inThread(64))
    await using _ = pair.store
    const vectors = clusteredVectors(5, 64)
    for (let batch = 0; batch < 4; batch++) {
      await pair.apply(Array.from({ length: 1500 }, (_, index) => put(`${batch}-${index}`, [vectors()])))
      const vector = vectors()
      const near = await pair.store.nearest(vector, {}, 10, signal)
      expect(idsOf(near)).toEqual(idsOf(pair.oracle.nearest(vector, {}, 10)))
    }
  })

  it('fails its pending searches when it breaks, not the store', async () => {
    await using store = createMemoryVectorStore({
      dimensions: 2,
      worker: new URL('data:text/javascript,process.exit(1)'),
      worker_rows: 0,
    })
    await store.apply([put('a', [unit(1, 0)])], 1)
    for (const _ of [1, 2])
      await expect(store.nearest(unit(1, 0), {}, 1, signal)).rejects.toMatchObject({ code: 'internal' })
    expect(idsOf(await store.compare(unit(1, 0), ['a'], signal))).toEqual(['a'])
    await store.apply([put('b', [unit(1, 0)])], 2)
    expect(store.applied_revision).toBe(2)
  })

  it('is not started again by waiting calls when the store is disposed', async () => {
    const store = inThread(2)
    await store.apply([put('a', [unit(1, 0)])], 1)
    const calls = [1, 2, 3].map(() => store.nearest(unit(1, 0), {}, 1, signal))
    await store[Symbol.asyncDispose]()
    for (const call of await Promise.allSettled(calls))
      expect(call).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } })
  })

  it('ends with the store, and its search fails', async () => {
    const layout = layoutOf(2)
    const { memory } = new Slabs(layout)
    const entry = new URL(
      `data:text/javascript,${encodeURIComponent(`
        import { workerData } from 'node:worker_threads'
        const beats = new Int32Array(workerData.memory.buffer)
        setInterval(() => Atomics.add(beats, 0, 1), 1)`)}`,
    )
    const thread = new ScanThread(entry, { memory, dimensions: 2 })
    const scan = { plan: new Uint32Array(0), queries: [{ vector: unit(1, 0), limit: 1 }] }
    const search = thread.search({ ...scan, bounds: noBounds })
    const beats = new Int32Array(memory.buffer)
    while (Atomics.load(beats, 0) < 3) await setTimeout(1)
    const rejection = expect(search).rejects.toMatchObject({ code: 'unavailable' })
    await thread[Symbol.asyncDispose]()
    await rejection
    const last = Atomics.load(beats, 0)
    await setTimeout(30)
    expect(Atomics.load(beats, 0)).toBe(last)
  })
})

describe('the high halves of integers', () => {
  const dimensions = 256
  const random = randomNumbers(7)
  const numbers = (numberAt: () => number) => () => unit(...Array.from({ length: dimensions }, numberAt))
  const axes = Array.from({ length: 8 }, numbers(random))

  it.each([
    ['of texts', clusteredVectors(11, dimensions, 200)],
    ['of one direction', clusteredVectors(12, dimensions, 1)],
    ['with few numbers', numbers(() => (random() > 0.9 ? random() : 0))],
    ['of signs', numbers(() => Math.sign(random()))],
    ['without a negative number', numbers(() => Math.abs(random()))],
    ['with one large number', () => unit(5 * random(), ...axes[0]!.subarray(1).map(random))],
    ['in few dimensions of many', () => unit(...axes[0]!.map((_, at) => axes[at % 3]![at]! * random() ** 3))],
  ])('choose all of the nearest entries among vectors %s', async (_, vectors) => {
    const pair = new Pair(createMemoryVectorStore({ dimensions }))
    await using _store = pair.store
    await pair.apply(
      Array.from({ length: 3000 }, (_, index) => {
        const others = Array.from({ length: index % 10 === 0 ? index % 7 : 0 }, vectors)
        return put(`${index}`, [vectors(), ...others], { state: index % 3 === 0 ? 'STAGE' : 'ACTIVE' })
      }),
    )
    const search = async (query: number) => {
      await expectExact(pair, vectors(), {}, query % 2 === 0 ? 1 : 32)
      await expectExact(pair, vectors(), { state: 'ACTIVE' }, 10)
    }
    for (let query = 0; query < 12; query++) await search(query)
    // Searches that wait are served together, by their filters.
    await Promise.all(Array.from({ length: 12 }, (_, query) => search(query)))
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AttributeFilter, EntryAttributes } from '../../../src/search/vectors/attributes.ts'
import type { VectorChange, VectorStore } from '../../../src/search/vectors/vector-store.ts'
import { rounds } from '../../support/rounds.ts'
import { Pair } from './oracle.ts'
import {
  attributesOf,
  clusteredVectors,
  expectExact,
  expectSame,
  gone,
  idsOf,
  put,
  randomNumbers,
  signal,
  someChange,
  someFilter,
  someVector,
  unit,
} from './support.ts'

type Open = (dimensions: number) => Promise<VectorStore>

const east = unit(1, 0)
const north = unit(0, 1)
const west = unit(-1, 0)
const northEast = unit(1, 1)

/** A difference of direction within the precision of floats, and below that of 8-bit integers. */
const hair = 0.02

/**
 * What every vector store does. `open` gives an empty one; property tests open one for each of their `runs`. A slow
 * store may run only a `share` of the queries of large tests. A store that is not exact may confuse the most similar
 * entries of many that hardly differ. The soak alone searches `many` entries.
 */
export function vectorStoreContract(
  name: string,
  open: Open,
  { runs = rounds(50), share = rounds(100) / 100, isExact = true, many = true } = {},
): void {
  const part = (many: number) => Math.ceil(many * share)
  describe(`a vector store: ${name}`, () => {
    const opened = async (changes: readonly VectorChange[] = [], dimensions = 2) => {
      const store = await open(dimensions)
      if (changes.length > 0) await store.apply(changes, 1)
      return store
    }

    describe('finding', () => {
      it('finds no entries in an empty store', async () => {
        await using store = await opened()
        expect(await store.nearest(east, {}, 10, signal)).toEqual([])
        expect(await store.nearest(east, { state: 'ACTIVE' }, 10, signal)).toEqual([])
        expect(await store.compare(east, ['a'], signal)).toEqual([])
      })

      it('ranks the most similar first, the opposite last', async () => {
        const turned = [west, north, northEast, east]
        await using store = await opened(turned.map((vector, index) => put(`${index}`, [vector])))
        const near = await store.nearest(east, {}, 10, signal)
        expect(idsOf(near)).toEqual(['3', '2', '1', '0'])
        expectClose(
          near.map(({ similarity }) => similarity),
          [1, Math.SQRT1_2, 0, -1],
        )
      })

      it('averages the own vector and the best capability, and names that capability', async () => {
        await using store = await opened([
          put('alone', [northEast]),
          put('able', [north, west, east, northEast]),
          put('unable', [east, west]),
        ])
        const near = await store.nearest(east, {}, 10, signal)
        expect(near.map(({ id, capability }) => [id, capability])).toEqual([
          ['alone', null],
          ['able', 1],
          ['unable', 0],
        ])
        expectClose(
          near.map(({ similarity }) => similarity),
          [Math.SQRT1_2, 0.5, 0],
        )
      })

      it('names the first of equally good capabilities', async () => {
        await using store = await opened([put('a', [north, west, east, east, east])])
        expect(await store.nearest(east, {}, 1, signal)).toMatchObject([{ capability: 1 }])
        expect(await store.compare(east, ['a'], signal)).toMatchObject([{ capability: 1 }])
      })

      it('returns no more than the limit, and all when there are fewer', async () => {
        const vectors = clusteredVectors(1, 2)
        const pair = new Pair(await opened())
        await using _ = pair.store
        await pair.apply(Array.from({ length: 40 }, (_, index) => put(`${index}`, [vectors()])))
        expect(await expectExact(pair, east, {}, 1)).toHaveLength(1)
        expect(await expectExact(pair, east, {}, 39)).toHaveLength(39)
        expect(await expectExact(pair, east, {}, 500)).toHaveLength(40)
      })

      it('orders equals by id, and takes the first of them when they exceed the limit', async () => {
        const ids = ['c', 'a', 'e', 'B', 'd', '1']
        await using store = await opened([
          ...ids.map((id) => put(id, [northEast])),
          put('best', [east]),
          put('worst', [west]),
        ])
        const found = async (limit: number) => idsOf(await store.nearest(east, {}, limit, signal))
        expect(await found(10)).toEqual(['best', '1', 'B', 'a', 'c', 'd', 'e', 'worst'])
        expect(await found(4)).toEqual(['best', '1', 'B', 'a'])
      })

      it('gives zeros no similarity, as an entry, as a capability and as a query', async () => {
        const zero = unit(0, 0)
        await using store = await opened([
          put('zero', [zero]),
          put('east', [east]),
          put('west', [west]),
          put('half', [east, zero]),
        ])
        const near = await store.nearest(east, {}, 10, signal)
        expect(idsOf(near)).toEqual(['east', 'half', 'zero', 'west'])
        expectClose(
          near.map(({ similarity }) => similarity),
          [1, 0.5, 0, -1],
        )
        const none = await store.nearest(zero, {}, 3, signal)
        expect(idsOf(none)).toEqual(['east', 'half', 'west'])
        expect(none.map(({ similarity }) => similarity + 0)).toEqual([0, 0, 0])
      })

      it.runIf(isExact)('distinguishes vectors that differ by less than 8-bit integers can say', async () => {
        const random = randomNumbers(3)
        const center = Array.from({ length: 64 }, random)
        const near = () => unit(...center.map((number) => number + hair * random()))
        const pair = new Pair(await opened([], 64))
        await using _ = pair.store
        await pair.apply(Array.from({ length: 900 }, (_, index) => put(`${index}`, [near()])))
        // Integers represent this one exactly.
        await pair.apply([put('plain', [unit(1, ...new Array<number>(63).fill(0))])])
        for (let query = 0; query < part(20); query++) await expectExact(pair, near(), {}, 10)
      })

      it.each([1, 3, 16, 33, 100])('is exact with %i dimensions', async (dimensions) => {
        const vectors = clusteredVectors(dimensions, dimensions)
        const pair = new Pair(await opened([], dimensions))
        await using _ = pair.store
        const widths = [1, 1, 1, 2, 3, 11]
        await pair.apply(
          Array.from({ length: 300 }, (_, index) =>
            put(`${index}`, Array.from({ length: widths[index % 6]! }, vectors)),
          ),
        )
        for (const limit of [1, 10, 200]) {
          for (let query = 0; query < part(5); query++) await expectExact(pair, vectors(), {}, limit)
        }
      })

      it('is exact with none to fifty capabilities', async () => {
        const vectors = clusteredVectors(8, 16)
        const pair = new Pair(await opened([], 16))
        await using _ = pair.store
        await pair.apply(
          Array.from({ length: 51 * 3 }, (_, index) =>
            put(`${index}`, Array.from({ length: (index % 51) + 1 }, vectors)),
          ),
        )
        for (let query = 0; query < part(20); query++) await expectExact(pair, vectors(), {}, 10)
      })

      it('is exact where one number is far greater than the others', async () => {
        const random = randomNumbers(5)
        const lopsided = () =>
          unit(...Array.from({ length: 32 }, (_, index) => (index === 7 ? 50 : 1) * random()))
        const pair = new Pair(await opened([], 32))
        await using _ = pair.store
        await pair.apply(Array.from({ length: 400 }, (_, index) => put(`${index}`, [lopsided()])))
        for (let query = 0; query < part(20); query++) await expectExact(pair, lopsided(), {}, 10)
      })
    })

    describe('filtering', () => {
      const attributes = attributesOf({
        owner: 'ann',
        target: 'desktop',
        category: 'weather',
        license: 'mit',
        tags: ['rain', 'snow', 'wind'],
      })
      const others: [string, AttributeFilter, Partial<EntryAttributes>][] = [
        ['state', { state: 'ACTIVE' }, { state: 'STAGE' }],
        ['owner', { owner: 'ann' }, { owner: 'bob' }],
        ['owner, where there is none', { owner: 'ann' }, { owner: null }],
        ['target', { target: 'Desktop' }, { target: 'phone' }],
        ['category', { category: 'WEATHER' }, { category: 'mail' }],
        ['category, where there is none', { category: 'weather' }, { category: null }],
        ['license', { license: 'MIT' }, { license: 'gpl-3.0' }],
        ['tag', { tags: ['Rain'] }, { tags: ['sun'] }],
        ['one of several tags', { tags: ['rain', 'wind'] }, { tags: ['rain', 'snow'] }],
        [
          'one of all conditions',
          { state: 'ACTIVE', owner: 'ann', target: 'desktop', category: 'weather', tags: ['rain'] },
          { tags: [] },
        ],
      ]

      it.each(others)('omits the most similar entry if it has another %s', async (_, filter, other) => {
        const excluded = Array.from({ length: 30 }, (_, index) =>
          put(`x${index}`, [east], { ...attributes, ...other }),
        )
        await using store = await opened([
          ...excluded,
          put('kept', [north], attributes),
          put('able', [north, west, northEast], attributes),
          put('poor', [west], attributes),
        ])
        expect(idsOf(await store.nearest(east, filter, 10, signal))).toEqual(['able', 'kept', 'poor'])
        expect(idsOf(await store.nearest(east, filter, 1, signal))).toEqual(['able'])
      })

      it('finds an entry that comes after many omitted ones', async () => {
        const vectors = clusteredVectors(12, 8)
        const pair = new Pair(await opened([], 8))
        await using _ = pair.store
        await pair.apply(
          Array.from({ length: 1500 }, (_, index) =>
            put(`${index}`, [vectors()], { state: index < 1100 ? 'STAGE' : 'ACTIVE' }),
          ),
        )
        for (let query = 0; query < part(5); query++)
          await expectExact(pair, vectors(), { state: 'ACTIVE' }, 20)
      })

      it('finds nothing where all entries are omitted', async () => {
        await using store = await opened([put('a', [east], attributes), put('b', [east], attributes)])
        expect(await store.nearest(east, { state: 'STAGE' }, 10, signal)).toEqual([])
        expect(await store.nearest(east, { owner: 'nobody' }, 10, signal)).toEqual([])
        expect(await store.nearest(east, { category: 'rain' }, 10, signal)).toEqual([])
        expect(await store.nearest(east, { target: '' }, 10, signal)).toEqual([])
        expect(await store.nearest(east, { tags: ['rain', 'weather'] }, 10, signal)).toEqual([])
      })

      it('treats an empty list of tags as no condition', async () => {
        await using store = await opened([put('a', [east], attributes), put('b', [east])])
        expect(idsOf(await store.nearest(east, { tags: [] }, 10, signal))).toEqual(['a', 'b'])
      })

      it('applies a second filter to the same vector', async () => {
        await using store = await opened([
          put('a', [east], { state: 'ACTIVE' }),
          put('b', [east], { state: 'STAGE' }),
        ])
        for (const _ of [1, 2]) {
          expect(idsOf(await store.nearest(east, { state: 'ACTIVE' }, 10, signal))).toEqual(['a'])
          expect(idsOf(await store.nearest(east, { state: 'STAGE' }, 10, signal))).toEqual(['b'])
          expect(idsOf(await store.nearest(east, {}, 10, signal))).toEqual(['a', 'b'])
        }
      })

      it.each([
        "o'brien",
        '"quoted"',
        'back\\slash',
        "trailing\\'",
        '100%',
        'under_score',
        "'; drop table vectors; --",
        "' or '1'='1",
        'a) or (true',
        'null',
        'naïve 火车票 🙂',
        'e\u0301',
        '[list]',
        'a,b',
        ' ',
        '\n\t',
        '\u0001',
      ])('compares %j literally', async (value) => {
        const lower = value.toLowerCase()
        await using store = await opened([
          put('owned', [east], { owner: value }),
          put('sorted', [east], { category: lower }),
          put('tagged', [east], { tags: ['other', lower] }),
          put('aimed', [east], { target: lower }),
          put('bare', [east]),
          put('near', [east], { owner: `${value}x`, category: `${lower}x`, tags: [`${lower}x`] }),
        ])
        const found = async (filter: AttributeFilter) => idsOf(await store.nearest(east, filter, 10, signal))
        expect(await found({ owner: value })).toEqual(['owned'])
        expect(await found({ category: value })).toEqual(['sorted'])
        expect(await found({ tags: [value] })).toEqual(['tagged'])
        expect(await found({ tags: ['other', value] })).toEqual(['tagged'])
        expect(await found({ target: value })).toEqual(['aimed'])
        expect(await found({ owner: value, category: value })).toEqual([])
      })
    })

    describe('changing', () => {
      it('has revision 0 at first, then that of the last changes', async () => {
        await using store = await opened()
        expect(store.applied_revision).toBe(0)
        await store.apply([put('a', [east])], 7)
        expect(store.applied_revision).toBe(7)
        await store.apply([], 9)
        expect(store.applied_revision).toBe(9)
      })

      it('replaces vectors together with attributes', async () => {
        await using store = await opened([put('a', [east], { tags: ['old'] }), put('b', [northEast])])
        await store.apply([put('a', [west], { tags: ['new'] })], 2)
        expect(idsOf(await store.nearest(east, {}, 10, signal))).toEqual(['b', 'a'])
        expect(await store.nearest(east, { tags: ['old'] }, 10, signal)).toEqual([])
        expect(idsOf(await store.nearest(east, { tags: ['new'] }, 10, signal))).toEqual(['a'])
      })

      it('replaces attributes alone', async () => {
        await using store = await opened([put('a', [east], { state: 'STAGE' })])
        expect(await store.nearest(east, { state: 'ACTIVE' }, 10, signal)).toEqual([])
        await store.apply([put('a', [east], { state: 'ACTIVE' })], 2)
        expect(idsOf(await store.nearest(east, { state: 'ACTIVE' }, 10, signal))).toEqual(['a'])
        expect(await store.nearest(east, { state: 'STAGE' }, 10, signal)).toEqual([])
      })

      it('replaces vectors alone, seen by a repeated filter', async () => {
        await using store = await opened([put('a', [east, east]), put('b', [northEast])])
        const filter = { state: 'ACTIVE' } as const
        expect(idsOf(await store.nearest(east, filter, 10, signal))).toEqual(['a', 'b'])
        await store.apply([put('a', [west, north])], 2)
        expect(idsOf(await store.nearest(east, filter, 10, signal))).toEqual(['b', 'a'])
      })

      it('removes an entry, and takes it again', async () => {
        await using store = await opened([put('a', [east]), put('b', [northEast]), put('c', [north])])
        await store.apply([gone('a'), gone('never there')], 2)
        expect(idsOf(await store.nearest(east, {}, 10, signal))).toEqual(['b', 'c'])
        expect(await store.compare(east, ['a'], signal)).toEqual([])
        await store.apply([put('a', [northEast])], 3)
        expect(idsOf(await store.nearest(east, {}, 10, signal))).toEqual(['a', 'b', 'c'])
      })

      it('applies the last of several changes of an entry', async () => {
        await using store = await opened([put('a', [east])])
        await store.apply([gone('a'), put('a', [north]), put('b', [east]), gone('b'), put('a', [west])], 2)
        const near = await store.nearest(east, {}, 10, signal)
        expect(idsOf(near)).toEqual(['a'])
        expectClose([near[0]!.similarity], [-1])
      })

      it('follows an entry that gains and loses capabilities', async () => {
        const vectors = clusteredVectors(4, 8)
        const pair = new Pair(await opened([], 8))
        await using _ = pair.store
        await pair.apply(Array.from({ length: 40 }, (_, index) => put(`${index}`, [vectors(), vectors()])))
        for (const width of [1, 5, 2, 40, 1, 3]) {
          await pair.apply([3, 17, 39].map((id) => put(`${id}`, Array.from({ length: width }, vectors))))
          await expectExact(pair, vectors(), {}, 50)
          await expectSame(pair, vectors(), ['3', '17', '39', '0'])
        }
      })

      it('stays exact when many of many entries are added, removed and changed', async () => {
        const random = randomNumbers(13)
        const vectors = clusteredVectors(13, 16)
        const makeVectors = (width: number) => Array.from({ length: width }, vectors)
        const pair = new Pair(await opened([], 16))
        await using _ = pair.store
        await pair.apply(
          Array.from({ length: 1000 }, (_, index) => put(`${index}`, makeVectors(1 + (index % 2)))),
        )
        for (let round = 0; round < 4; round++) {
          const changed = [...pair.oracle.entries.keys()].filter(() => random() > 0.5)
          await pair.apply(
            changed.map((id, index) => (index % 3 ? gone(id) : put(id, makeVectors((index % 4) + 1)))),
          )
          await pair.apply(
            Array.from({ length: 150 }, (_, index) => put(`${round}-${index}`, makeVectors(1))),
          )
          for (let query = 0; query < part(10); query++) await expectExact(pair, vectors(), {}, 10)
        }
      })

      it('sees many small changes at once', async () => {
        const vectors = clusteredVectors(6, 8)
        const pair = new Pair(await opened([], 8))
        await using _ = pair.store
        await pair.apply(Array.from({ length: 100 }, (_, index) => put(`${index}`, [vectors()])))
        for (let index = 0; index < part(60); index++) {
          await pair.apply([put(`late ${index}`, [vectors(), vectors()]), gone(`${index}`)])
        }
        expect(pair.store.applied_revision).toBe(part(60) + 1)
        for (let query = 0; query < part(10); query++) await expectExact(pair, vectors(), {}, 100)
      })

      it('keeps its own copy of the vectors', async () => {
        const vector = unit(1, 0)
        await using store = await opened([put('a', [vector]), put('b', [northEast])])
        vector.fill(-1)
        expect(idsOf(await store.nearest(east, {}, 10, signal))).toEqual(['a', 'b'])
      })

      it.each([
        ['too few dimensions', new Float32Array(1)],
        ['too many dimensions', new Float32Array(3)],
        ['a number that is none', new Float32Array([Number.NaN, 0])],
        ['an infinite number', new Float32Array([0, Number.NEGATIVE_INFINITY])],
      ])('refuses vectors with %s, and changes nothing', async (_, vector) => {
        await using store = await opened([put('a', [east]), put('b', [northEast])])
        const changes = [gone('a'), put('b', [west]), put('c', [east, vector]), put('d', [east])]
        await expect(store.apply(changes, 2)).rejects.toThrow(RangeError)
        expect(store.applied_revision).toBe(1)
        const near = await store.nearest(east, {}, 10, signal)
        expect(idsOf(near)).toEqual(['a', 'b'])
        expectClose([near[1]!.similarity], [Math.SQRT1_2])
        await expect(store.nearest(vector, {}, 10, signal)).rejects.toThrow(RangeError)
        await expect(store.compare(vector, ['a'], signal)).rejects.toThrow(RangeError)
      })

      it('refuses a filter by an attribute that it does not know', async () => {
        await using store = await opened([put('a', [east])])
        const filter = { state: 'ACTIVE', live: true } as AttributeFilter
        await expect(store.nearest(east, filter, 10, signal)).rejects.toThrow(RangeError)
        const undefinedFilter = { live: undefined } as AttributeFilter
        expect(idsOf(await store.nearest(east, undefinedFilter, 10, signal))).toEqual(['a'])
      })

      it('refuses an entry without any vector, and changes nothing', async () => {
        await using store = await opened([put('a', [east])])
        await expect(store.apply([gone('a'), put('b', [])], 2)).rejects.toThrow(RangeError)
        expect(idsOf(await store.nearest(east, {}, 10, signal))).toEqual(['a'])
      })
    })

    describe('comparing', () => {
      it('answers in the order of the ids, without unknown ones', async () => {
        await using store = await opened([
          put('a', [east], { state: 'STAGE' }),
          put('b', [north, west, east]),
          put("c' or 1=1", [northEast]),
        ])
        const compared = await store.compare(east, ["c' or 1=1", 'x', 'b', "' or '1'='1", 'a'], signal)
        expect(idsOf(compared)).toEqual(["c' or 1=1", 'b', 'a'])
        expect(compared.map(({ capability }) => capability)).toEqual([null, 1, null])
        expectClose(
          compared.map(({ similarity }) => similarity),
          [Math.SQRT1_2, 0.5, 1],
        )
        expect(await store.compare(east, [], signal)).toEqual([])
      })

      it('agrees with nearest', async () => {
        const vectors = clusteredVectors(9, 24)
        const changes = Array.from({ length: 60 }, (_, index) =>
          put(`${index}`, Array.from({ length: (index % 4) + 1 }, vectors)),
        )
        await using store = await opened(changes, 24)
        const vector = vectors()
        const near = await store.nearest(vector, {}, 20, signal)
        const compared = await store.compare(vector, idsOf(near), signal)
        for (const [index, { similarity, ...rest }] of compared.entries()) {
          expect(rest).toEqual({ id: near[index]!.id, capability: near[index]!.capability })
          expect(Math.abs(similarity - near[index]!.similarity)).toBeLessThan(1e-6)
        }
      })
    })

    describe('ending', () => {
      const reason = new Error('The caller went away.')

      it('throws the reason of a signal that has aborted', async () => {
        await using store = await opened([put('a', [east])])
        const aborted = AbortSignal.abort(reason)
        await expect(store.nearest(east, {}, 10, aborted)).rejects.toBe(reason)
        await expect(store.compare(east, ['a'], aborted)).rejects.toBe(reason)
        expect(idsOf(await store.nearest(east, {}, 10, signal))).toEqual(['a'])
      })

      it('throws the reason of a signal that aborts during the call', async () => {
        await using store = await opened([put('a', [east])])
        const controller = new AbortController()
        const calls = [
          store.nearest(east, {}, 10, controller.signal),
          store.compare(east, ['a'], controller.signal),
        ]
        controller.abort(reason)
        for (const call of await Promise.allSettled(calls)) expect(call).toMatchObject({ reason })
        await store.apply([put('b', [east])], 2)
        expect(idsOf(await store.nearest(east, {}, 10, signal))).toEqual(['a', 'b'])
      })

      it('settles running calls when it is disposed, and refuses later ones', async () => {
        const store = await opened([put('a', [east])])
        const calls = Array.from({ length: 5 }, () => store.nearest(east, {}, 10, signal))
        const settled = Promise.allSettled([...calls, store.apply([put('b', [east])], 2)])
        await store[Symbol.asyncDispose]()
        await settled
        await expect(store.nearest(east, {}, 10, signal)).rejects.toThrow()
        await expect(store.compare(east, ['a'], signal)).rejects.toThrow()
        await expect(store.apply([], 3)).rejects.toThrow()
      })

      it('may be disposed twice', async () => {
        const store = await opened([put('a', [east])])
        await store[Symbol.asyncDispose]()
        await expect(store[Symbol.asyncDispose]()).resolves.toBeUndefined()
      })
    })

    if (many)
      it('finds at least 98 of 100 nearest entries of many, through any filter', {
        timeout: 120_000,
      }, async () => {
        const dimensions = 128
        const vectors = clusteredVectors(17, dimensions, 200)
        const zero = new Float32Array(dimensions)
        const pair = new Pair(await opened([], dimensions))
        await using _ = pair.store
        // LanceDB indexes what was written by 64 commits; the rest of the rows has no index.
        for (let start = 0; start < 7000; start += 100) {
          await pair.apply(
            Array.from({ length: 100 }, (_, index) => {
              const number = start + index
              const own = number % 90 === 0 ? zero : vectors()
              const others = Array.from({ length: number % 3 }, vectors)
              const category = number % 2 === 0 ? 'half' : number % 25 < 4 ? 'twelfth' : 'rest'
              return put(`${number}`, [own, ...others], {
                category,
                owner: number % 100 === 7 ? 'ann' : null,
              })
            }),
          )
          const replaced = Math.floor(start / 2)
          await pair.apply([put(`${replaced}`, [vectors()], { category: 'half' }), gone(`${replaced + 1}`)])
        }
        const filters: AttributeFilter[] = [
          {},
          { category: 'half' },
          { category: 'twelfth' },
          { owner: 'ann' },
        ]
        for (const filter of filters) {
          let found = 0
          const queries = 40
          for (let query = 0; query < queries; query++) {
            const vector = vectors()
            const near = await pair.store.nearest(vector, filter, 10, signal)
            expect(near).toHaveLength(10)
            const expected = new Set(idsOf(pair.oracle.nearest(vector, filter, 10)))
            found += idsOf(near).filter((id) => expected.has(id)).length
          }
          expect(found / queries / 10, JSON.stringify(filter)).toBeGreaterThanOrEqual(0.98)
        }
      })

    it('answers after any changes like brute force', async () => {
      const step = fc.record({
        changes: fc.array(someChange, { maxLength: 10 }),
        vector: someVector,
        filter: someFilter,
        limit: fc.integer({ min: 1, max: 25 }),
      })
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
          const pair = new Pair(await open(5))
          await using _ = pair.store
          for (const { changes, vector, filter, limit } of steps) {
            await pair.apply(changes)
            await expectExact(pair, vector, filter, limit)
            await expectSame(pair, vector, ['entry-3', 'entry-0', 'never', 'entry-20'])
          }
        }),
        { numRuns: runs },
      )
    })
  })
}

function expectClose(actual: readonly number[], expected: readonly number[]): void {
  expect(actual).toHaveLength(expected.length)
  for (const [index, number] of actual.entries()) expect(number).toBeCloseTo(expected[index]!, 5)
}

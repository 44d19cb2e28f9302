import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Highest } from '../../../src/common/highest.ts'
import { takeFirst } from '../../../src/common/take-first.ts'
import { kernelOn } from '../../../src/search/vectors/memory/kernel-functions.ts'
import {
  distances,
  lanes,
  layoutOf,
  type MemoryLayout,
  slabRows,
} from '../../../src/search/vectors/memory/layout.ts'
import {
  noBounds,
  writeCoarseQuery,
  writeQuery,
  writeRow,
} from '../../../src/search/vectors/memory/quantise.ts'
import { widest } from '../../../src/search/vectors/memory/row-group.ts'
import { Slabs } from '../../../src/search/vectors/memory/slabs.ts'
import { VectorTable } from '../../../src/search/vectors/memory/vector-table.ts'
import { rounds } from '../../support/rounds.ts'
import { attributesOf, clusteredVectors, randomNumbers } from './support.ts'

describe('the kernel', () => {
  const number = fc.oneof(
    fc.double({ min: -1, max: 1, noNaN: true }),
    fc.constantFrom(0, 1, -1, 1e-3, -1e-20, 1e-40),
  )
  const vectorsOfOneSize = (maxDimensions: number) =>
    fc.integer({ min: 1, max: maxDimensions }).chain((dimensions) =>
      fc.tuple(
        vectorOf(dimensions),
        fc
          .integer({ min: 1, max: 6 })
          .chain((width) => fc.array(vectorsOf(dimensions, width), { maxLength: 6 })),
      ),
    )

  function vectorOf(dimensions: number) {
    return fc
      .array(number, { minLength: dimensions, maxLength: dimensions })
      .map((numbers) => Float32Array.from(numbers))
  }

  function vectorsOf(dimensions: number, width: number) {
    return fc.array(vectorOf(dimensions), { minLength: width, maxLength: width })
  }

  it('never puts a similarity outside of its bounds', async () => {
    await fc.assert(
      fc.property(vectorsOfOneSize(300), ([query, entries]) => {
        const { bounds, similarity } = measured(query, entries)
        expect(bounds).toHaveLength(entries.length)
        for (const [entry, { upper, lower }] of bounds.entries()) {
          expect(upper).toBeGreaterThanOrEqual(similarity(entry))
          expect(lower).toBeLessThanOrEqual(similarity(entry))
        }
      }),
      { numRuns: rounds(1000) },
    )
  })

  it('measures the entries of a slab alike whether it reads them or the whole slab', async () => {
    await fc.assert(
      fc.property(vectorsOfOneSize(300), ([query, entries]) => {
        const { distances } = measured(query, entries)
        expect(distances.whole).toEqual(distances.listed)
      }),
      { numRuns: rounds(300) },
    )
  })

  it('measures each of four queries at once as it measures it alone', async () => {
    await fc.assert(
      fc.property(vectorsOfOneSize(300), ([query, entries]) => {
        const queries = [
          query,
          query.map((number) => -number),
          query.toReversed(),
          query.map((number) => number ** 3),
        ]
        for (const { alone, together } of measuredTogether(queries, entries)) expect(together).toEqual(alone)
      }),
      { numRuns: rounds(300) },
    )
  })

  it('measures no entry of few dimensions as further away than it is', async () => {
    await fc.assert(
      fc.property(vectorsOfOneSize(36), ([query, entries]) => {
        const { most, similarity } = measured(query, entries)
        for (const [entry, similar] of most.entries())
          expect(similar).toBeGreaterThan(Math.min(1, Math.max(-1, similarity(entry))) - 1e-6)
      }),
      { numRuns: rounds(1000) },
    )
  })

  it('gives narrow bounds', () => {
    const vectors = clusteredVectors(1, 256)
    const { bounds, most, similarity } = measured(
      vectors(),
      Array.from({ length: 100 }, () => [vectors()]),
    )
    for (const { upper, lower } of bounds) expect(upper - lower).toBeLessThan(0.03)
    for (const [entry, similar] of most.entries()) {
      expect(similar).toBeGreaterThan(similarity(entry))
      expect(similar - similarity(entry)).toBeLessThan(0.15)
    }
  })
})

/** Entries of the same width in a slab, between others that are not listed. */
function listedIn(layout: MemoryLayout, entries: readonly Float32Array[][]) {
  const pool = new Slabs(layout)
  const slab = pool.take()
  const list = slab + layout.slab.list
  const width = entries[0]?.length ?? 1
  const rows = entries.flat()
  let bounds = noBounds
  rows.forEach((vector, at) => {
    const row = at + Math.floor(at / width) * width
    bounds = widest(bounds, writeRow(pool.views, layout, slab, row, vector))
    pool.views.shorts[list / 2 + at] = row
  })
  for (let row = 0; row < slabRows; row++) pool.views.shorts[layout.scratch.order / 2 + row] = row
  return { pool, slab, list, width, rows, bounds, kernel: kernelOn(pool.memory, layout) }
}

/** The distances and the histograms of queries that are compared one by one, and of all at once. */
function measuredTogether(queries: readonly Float32Array[], entries: readonly Float32Array[][]) {
  const layout = layoutOf(queries[0]!.length)
  const { pool, slab, list, width, bounds, kernel } = listedIn(layout, entries)
  const { shorts, words, floats } = pool.views
  const { histogram, terms } = layout.scratch
  const resultOf = (query: number) => {
    const from = (slab + layout.slab.distances + query * layout.distanceBytes) / 2
    const start = histogram / 4 + query * distances
    return [...shorts.slice(from, from + entries.length), ...words.slice(start, start + distances)]
  }
  const clear = () => words.fill(0, histogram / 4, histogram / 4 + distances * lanes)
  return [0, slabRows].map((whole) => {
    const alone = queries.map((query) => {
      const { unit, base, margin, slack } = writeCoarseQuery(pool.views, layout, query, bounds)
      clear()
      kernel.measure(slab, list, entries.length, width, whole, unit, base, margin, slack)
      return resultOf(0)
    })
    queries.forEach((query, number) => {
      const { unit, base, margin, slack } = writeCoarseQuery(pool.views, layout, query, bounds, number, lanes)
      for (const [row, term] of [unit, base, margin, slack].entries())
        floats[terms / 4 + row * lanes + number] = term
    })
    clear()
    kernel.measureFour(slab, list, entries.length, width, whole)
    return { alone, together: queries.map((_, number) => resultOf(number)) }
  })
}

/** The kernel's bounds of entries of the same width, and their true similarities. */
function measured(query: Float32Array, entries: readonly Float32Array[][]) {
  const layout = layoutOf(query.length)
  const { pool, slab, list, width, rows, bounds, kernel } = listedIn(layout, entries)
  const { unit, margin, slack } = writeQuery(pool.views, layout, query, bounds)
  const coarse = writeCoarseQuery(pool.views, layout, query, bounds)
  const measure = (whole: number) =>
    kernel.measure(
      slab,
      list,
      entries.length,
      width,
      whole,
      coarse.unit,
      coarse.base,
      coarse.margin,
      coarse.slack,
    )
  measure(0)
  const distances = slab + layout.slab.distances
  const distanceOf = (entry: number) => pool.views.shorts[distances / 2 + entry]!
  const listed = entries.map((_, entry) => distanceOf(entry))
  measure(slabRows)
  const whole = entries.map((_, entry) => distanceOf(entry))
  kernel.estimate(slab, list, rows.length, unit, margin, slack)
  const chosen = kernel.choose(slab, list, entries.length, width, Number.NEGATIVE_INFINITY, margin, slack)
  const { floats } = pool.views
  return {
    /** What is left of the similarities by the distances, rounded up. */
    most: listed.map((distance) => 1 - distance / 1024),
    distances: { listed, whole },
    bounds: Array.from({ length: chosen }, (_, index) => {
      const at = layout.scratch.chosen / 4 + index * 3
      return { upper: floats[at + 1]!, lower: floats[at + 2]! }
    }),
    similarity(entry: number) {
      const [own, ...others] = entries[entry]!.map((vector) =>
        vector.reduce((sum, number, index) => sum + number * query[index]!, 0),
      )
      return others.length === 0 ? own! : (own! + Math.max(...others)) / 2
    },
  }
}

describe('the table of vectors', () => {
  const dimensions = 8
  const random = randomNumbers(2)
  const pool = Array.from({ length: 50 }, clusteredVectors(2, dimensions))
  const widths = Array.from({ length: 2000 }, (_, index) => (index % 3 === 0 ? (index % 20) + 1 : 1))

  /** Replaces every entry by one of another width. */
  function replaceAll(table: VectorTable, ids: readonly string[]): void {
    const shuffled = [...widths].sort(() => random())
    const changes = ids.map((id, index) => [id, shuffled[index]!] as const)
    table.reserve(changes)
    for (const [id, width] of changes) if (table.widthOf(id) !== width) table.remove(id)
    for (const [id, width] of changes)
      table.put(id, { attributes: attributesOf(), vectors: pool.slice(-width) })
  }

  it('takes no more memory and scans no more slabs after everything was replaced a hundred times', () => {
    const table = new VectorTable(layoutOf(dimensions))
    const ids = widths.map((_, index) => `${index}`)
    replaceAll(table, ids)
    const bytes = table.pool.views.bytes.length
    const { numbers, rows, entries } = table.plan({})
    expect(entries).toBe(widths.length)
    for (let round = 0; round < 100; round++) {
      replaceAll(table, ids)
      expect(table.pool.views.bytes.length).toBe(bytes)
      expect(table.plan({})).toMatchObject({ rows, entries })
      expect(table.plan({}).numbers.length).toBe(numbers.length)
    }
  })

  it('reuses for one width the slabs that another one released', () => {
    const table = new VectorTable(layoutOf(dimensions))
    const put = (width: number) => {
      for (let index = 0; index < Math.floor(3000 / width); index++) {
        const id = `${index}`
        if (table.widthOf(id) !== width) table.remove(id)
        table.put(id, { attributes: attributesOf(), vectors: Array(width).fill(pool[0]) })
      }
      for (let index = Math.floor(3000 / width); table.widthOf(`${index}`) > 0; index++)
        table.remove(`${index}`)
    }
    put(1)
    const bytes = table.pool.views.bytes.length
    for (const width of [2, 5, 100, 1, 200, 7, 1]) put(width)
    expect(table.pool.views.bytes.length).toBeLessThan(bytes * 2.5)
  })
})

describe('the highest numbers', () => {
  it('are those of sorting', async () => {
    const numbers = fc.array(fc.double({ noNaN: true }), { minLength: 1 })
    await fc.assert(
      fc.property(numbers, fc.integer({ min: 1, max: 20 }), (offered, limit) => {
        const highest = new Highest(limit)
        for (const [index, number] of offered.entries()) {
          highest.offer(number)
          const sorted = offered.slice(0, index + 1).sort((left, right) => right - left)
          expect(highest.least + 0).toBe((sorted[limit - 1] ?? Number.NEGATIVE_INFINITY) + 0)
        }
      }),
    )
  })
})

describe('the first of many', () => {
  it('are those of sorting', async () => {
    await fc.assert(
      fc.property(fc.array(fc.nat(50)), fc.integer({ min: 1, max: 20 }), (items, limit) => {
        const sorted = [...items].sort((left, right) => left - right).slice(0, limit)
        expect(takeFirst(items, limit, (left, right) => left - right)).toEqual(sorted)
      }),
    )
  })
})

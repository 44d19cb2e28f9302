import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareText } from '../../src/common/compare.ts'
import { createMemoryIndex } from '../../src/search/index/memory-index.ts'
import { readQuery } from '../../src/search/query/query-terms.ts'
import type { EntryChange } from '../../src/search/search-index.ts'
import { rounds } from '../support/rounds.ts'
import {
  ask,
  documentOf,
  indexOf,
  someDocument,
  someDocuments,
  someQuery,
  walk,
} from './support/documents.ts'
import { bruteForceScores, meets } from './support/oracle.ts'

const someChange: fc.Arbitrary<EntryChange> = someDocument.chain((document) =>
  fc.constantFrom({ id: document.id, document }, { id: document.id, document: null }),
)

describe('the memory index', () => {
  it('answers after any changes like a fresh build of the final state, scores included', async () => {
    const batches = fc.array(fc.array(someChange, { maxLength: 8 }), { maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(batches, fc.array(someQuery, { maxLength: 4 }), async (changes, queries) => {
        const index = createMemoryIndex()
        const final = new Map<string, EntryChange>()
        for (const batch of changes) {
          await index.apply(batch, index.applied_revision + 1)
          for (const query of queries) await ask(index, query)
          for (const change of batch) final.set(change.id, change)
        }
        const fresh = await indexOf([...final.values()].flatMap(({ document }) => document ?? []))
        for (const query of queries) expect(await ask(index, query)).toEqual(await ask(fresh, query))
      }),
      { numRuns: rounds(300) },
    )
  })

  it('scores like brute force, and finds exactly the entries with a score that meet the filter', async () => {
    await fc.assert(
      fc.asyncProperty(someDocuments, someQuery, async (documents, query) => {
        const index = await indexOf(documents)
        // Words that entries join are searched for too, unless the words are exact.
        const { hits, total, facets } = await ask(index, { ...query, exact: true })
        const text = query.text?.trim() ?? ''
        const { scores, most } = bruteForceScores(documents, text)
        const expected = documents
          .filter((document) => meets(document, query.filter ?? {}))
          .filter(({ id }) => text === '' || scores.has(id))

        expect(hits.map((hit) => hit.id).sort()).toEqual(expected.map(({ id }) => id).sort())
        expect(total).toBe(expected.length)
        const best = Math.max(...expected.map(({ id }) => scores.get(id) ?? 0))
        const whole = Math.sqrt(most * Math.min(best, most))
        if (text !== '')
          for (const { id, score } of hits) expect(score).toBeCloseTo(scores.get(id)! / whole, 9)
        const blue = expected.filter(({ tags }) => tags.includes('blue')).length
        if (query.facets) expect(facets!.tags.blue ?? 0).toBe(blue)
      }),
      { numRuns: rounds(500) },
    )
  })

  it('answers about ACTIVE entries as if nothing in STAGE existed, scores included', async () => {
    await fc.assert(
      fc.asyncProperty(someDocuments, someQuery, async (documents, query) => {
        const active = documents.filter(({ state }) => state === 'ACTIVE')
        const activeQuery = { ...query, filter: { ...query.filter, state: 'ACTIVE' } } as const
        const answer = await ask(await indexOf(documents), activeQuery)
        expect(JSON.stringify(answer)).toBe(JSON.stringify(await ask(await indexOf(active), activeQuery)))
      }),
      { numRuns: rounds(500) },
    )
  })

  it('orders by score, time or name, then equals in one order', async () => {
    await fc.assert(
      fc.asyncProperty(someDocuments, someQuery, async (documents, query) => {
        const { hits } = await ask(await indexOf(documents), query)
        const listed = !query.text && query.sort !== 'name'
        const sort = listed ? 'newest' : (query.sort ?? 'relevance')
        const sorted = [...hits].sort(({ position: left }, { position: right }) => {
          const [first, second] = [left, right].map(({ tie = '', id }) => `${tie}\n${id}`)
          const ties = first! < second! ? -1 : 1
          if (sort === 'name') return compareText(`${left.key}`, `${right.key}`) || ties
          return Number(right.key) - Number(left.key) || ties
        })
        expect(hits).toEqual(sorted)
      }),
    )
  })

  it('neither skips nor repeats an entry from page to page', async () => {
    await fc.assert(
      fc.asyncProperty(
        someDocuments,
        someQuery,
        fc.integer({ min: 1, max: 3 }),
        async (documents, query, limit) => {
          const index = await indexOf(documents)
          const { hits } = await ask(index, query)
          expect(await walk(index, query, limit)).toEqual(hits.map((hit) => hit.id))
        },
      ),
      { numRuns: rounds(300) },
    )
  })

  it('finds an entry by its own words, in any script', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
        const index = await indexOf([documentOf({ id: 'a', description: text })])
        const { total } = await ask(index, { text: `${text}?` })
        if (readQuery(text).length > 0) expect(total).toBe(1)
      }),
      { numRuns: rounds(1000) },
    )
  })

  it('compares texts by their UTF-8 bytes', async () => {
    const text = fc.string({ unit: 'grapheme' })
    await fc.assert(
      fc.property(text, text, (left, right) => {
        const bytes = Buffer.compare(Buffer.from(left), Buffer.from(right))
        expect(Math.sign(compareText(left, right))).toBe(bytes)
      }),
      { numRuns: rounds(1000) },
    )
  })
})

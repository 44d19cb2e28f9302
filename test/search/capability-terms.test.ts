import fc from 'fast-check'
import { expect, it } from 'vitest'
import { PostingList } from '../../src/common/postings.ts'
import { addWeight, pairTerms } from '../../src/search/index/capability-terms.ts'

const lists = Array.from({ length: 6 }, (_, serial) => new PostingList(`term${serial}`, serial * 1000))

it('a weight is added to each capability that has the term, and to no other', async () => {
  const capabilities = fc.array(fc.uniqueArray(fc.constantFrom(...lists)), { maxLength: 8 })
  await fc.assert(
    fc.property(capabilities, fc.array(fc.constantFrom(...lists)), (terms, queries) => {
      const pairs = pairTerms(terms)
      const weights = new Float64Array(terms.length)
      for (const list of queries) addWeight(weights, pairs, list, 2)
      const expected = terms.map((mine) => 2 * queries.filter((list) => mine.includes(list)).length)
      expect([...weights]).toEqual(expected)
    }),
  )
})

it('an entry keeps 10,000 terms of capabilities, the first ones', () => {
  const pairs = pairTerms(Array.from({ length: 10_001 }, () => lists.slice(0, 1)))
  const weights = new Float64Array(10_001)
  addWeight(weights, pairs, lists[0]!, 1)
  expect([weights[9_999], weights[10_000]]).toEqual([1, 0])
})

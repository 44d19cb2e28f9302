import { expect, test } from 'vitest'
import { batchesOf } from '../../../src/search/embedders/batches.ts'

test('batches are as full as their limits allow, and a text over the limit goes alone', () => {
  const texts = ['aaaa', 'bbbb', 'cccc', 'd', 'e', 'f', 'g'.repeat(12), 'h']
  expect(batchesOf(texts, { texts: 3, characters: 10 })).toEqual([
    ['aaaa', 'bbbb'],
    ['cccc', 'd', 'e'],
    ['f'],
    ['g'.repeat(12)],
    ['h'],
  ])
  expect(batchesOf([], { texts: 3, characters: 10 })).toEqual([])
})

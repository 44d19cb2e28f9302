import { expect, test } from 'vitest'
import { createSearchCache } from '../../src/registry/queries/search-cache.ts'
import { openRegistry, person, publication } from '../support/registry.ts'

const createCache = () => createSearchCache<{ rows: number }>(10, ({ rows }) => rows)

test('an answer is kept from its second asking on, frozen', () => {
  const answers = createCache()
  expect(answers.recall('q', '1')).toBeUndefined()
  answers.offer('q', '1', { rows: 1 })
  expect(answers.recall('q', '1')).toBeUndefined()
  const second = answers.offer('q', '1', { rows: 1 })
  expect(answers.recall('q', '1')).toBe(second)
  expect(Object.isFrozen(second)).toBe(true)
})

test('a new revision forgets them all, and an answer of an older one is not kept', () => {
  const answers = createCache()
  answers.recall('q', '1')
  for (const _ of [1, 2]) answers.offer('q', '1', { rows: 1 })
  expect(answers.recall('q', '2')).toBeUndefined()
  answers.offer('q', '1', { rows: 1 })
  expect(answers.recall('q', '2')).toBeUndefined()
})

test('stores at most what fits', () => {
  const answers = createCache()
  for (const question of ['a', 'b', 'c']) {
    answers.recall(question, '1')
    for (const _ of [1, 2]) answers.offer(question, '1', { rows: 4 })
  }
  expect(['a', 'b', 'c'].map((question) => answers.recall(question, '1') !== undefined)).toEqual([
    false,
    true,
    true,
  ])
})

test('the registry answers a question from the cache from its third asking on, until something changes', async () => {
  await using registry = await openRegistry()
  const folds = { description: 'Folds paper.' }
  await registry.list(publication('com.example.first', folds), person('ada'))
  const input = { query: 'fold paper', limit: 5, sort: 'relevance', facets: false } as const
  const search = () => registry.search(input, null, new AbortController().signal)
  const answers = [await search(), await search(), await search()]
  expect(answers[2]).toBe(answers[1])
  await registry.list(publication('com.example.second', folds), person('ada'))
  const fresh = await search()
  expect(fresh.total).toBe(2)
  expect(fresh).not.toBe(answers[1])
})

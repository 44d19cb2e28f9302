import { describe, expect, it } from 'vitest'
import { createMemoryIndex } from '../../src/search/index/memory-index.ts'
import { growth } from '../support/growth.ts'
import { searchIndexContract } from './contract.ts'
import { ask, documentOf, indexOf } from './support/documents.ts'

const ids = (hits: { hits: readonly { id: string }[] }) => hits.hits.map((hit) => hit.id)

searchIndexContract('in memory', async () => createMemoryIndex())

describe('the index in memory', () => {
  it('explains a page at the cost of the matches, however long the capabilities', async () => {
    const letters = (at: number) => String.fromCharCode(97 + Math.floor(at / 26), 97 + (at % 26))
    const words = (first: string) =>
      Array.from({ length: 150 }, (_, at) => `${first}${letters(at)}k`).join(' ')
    const capabilities = Array.from({ length: 200 }, (_, at) => ({
      name: `${letters(at)}z`,
      description: words('x'),
    }))
    const index = await indexOf(
      Array.from({ length: 50 }, (_, at) =>
        documentOf({ id: String(at), description: words('w'), capabilities }),
      ),
    )
    const search = (limit: number) => () => ask(index, { text: words('w'), limit })
    expect((await search(1)()).hits[0]!.why.capability).toBe(null)
    expect(await growth(search(1), search(50), 10)).toBeLessThan(20)
  })

  it('takes a long text in time proportional to its length', async () => {
    const text = (words: number) => Array.from({ length: words }, (_, at) => `word${at}`).join(' ')
    const [small, large] = [text(2500), text(10_000)]
    const take = (description: string) => async () => {
      const index = await indexOf([documentOf({ id: 'b', description })])
      expect(ids(await ask(index, { text: description }))).toEqual(['b'])
    }
    expect(await growth(take(small), take(large))).toBeLessThan(10)
  })
})

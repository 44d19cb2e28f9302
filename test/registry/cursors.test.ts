import { afterAll, describe, expect, test } from 'vitest'
import type { SearchQuery } from '../../schemas/search.ts'
import { codeOf, openRegistry, person, publication, signal } from '../support/registry.ts'

const owner = person('owner')
const titled = (package_name: string) => publication(package_name, { name: package_name })
const name = (number: number) => `com.pages.agent-${String(number).padStart(2, '0')}`

const registry = await openRegistry()
for (let number = 10; number < 30; number++) await registry.list(titled(name(number)), owner)
afterAll(() => registry[Symbol.asyncDispose]())

const whole: SearchQuery = { limit: 3, sort: 'name', facets: false }

/** All names, page by page; `between` is called after each page. */
async function pages(
  question: Partial<SearchQuery>,
  between: (page: number) => Promise<unknown>,
): Promise<string[]> {
  const names: string[] = []
  let cursor: string | null | undefined
  for (let page = 0; cursor !== null; page++) {
    const found = await registry.search({ ...whole, ...question, ...(cursor && { cursor }) }, null, signal)
    names.push(...found.agents.map((agent) => agent.package_name))
    cursor = found.next_cursor
    await between(page)
  }
  return names
}

describe('pages', () => {
  test.each(['name', 'newest', 'relevance'] as const)('by %s hold every agent once', async (sort) => {
    const query = sort === 'relevance' ? { query: 'does something' } : {}
    const { total } = await registry.find({ sort, ...query })
    const names = await pages({ sort, ...query }, async () => {})
    expect(names).toHaveLength(total)
    expect(new Set(names).size).toBe(total)
    expect(names).toEqual((await registry.find({ sort, ...query })).names)
  })

  test('neither skip nor repeat unchanged entries while others are added, changed and removed', async () => {
    const coming = [name(1), 'com.pages.agent-19z', 'com.pages.agent-99']
    const names = await pages({}, async (page) => {
      if (page < 3) await registry.list(titled(coming[page] ?? ''), owner)
      if (page === 3) await registry.remove({ agent: name(12) }, owner)
      if (page === 4) await registry.update({ agent: name(14) }, { description: 'Changed.' }, owner)
      if (page === 5) await registry.unpublish({ agent: name(28) }, owner)
    })
    expect(new Set(names).size).toBe(names.length)
    const staying = Array.from({ length: 20 }, (_, index) => name(index + 10)).filter(
      (item) => item !== name(28),
    )
    expect(names).toEqual(expect.arrayContaining(staying))
    expect(names).toEqual(expect.arrayContaining(coming.slice(1)))
    expect(names).not.toContain(name(1))
    expect(names).not.toContain(name(28))
  })
})

describe('a cursor', () => {
  const next = async (question: Partial<SearchQuery> = {}) =>
    (await registry.search({ ...whole, ...question }, null, signal)).next_cursor ?? ''

  test('belongs to its question: another query, sort, filter or caller refuses it', async () => {
    const cursor = await next()
    for (const question of [
      { sort: 'newest' },
      { query: 'agent' },
      { filters: { tags: ['x'] } },
    ] satisfies Partial<SearchQuery>[]) {
      expect(await codeOf(registry.search({ ...whole, ...question, cursor }, null, signal))).toBe(
        'invalid_request',
      )
    }
    const mine = { filters: { mine: true } }
    expect(await codeOf(registry.search({ ...whole, ...mine, cursor }, owner, signal))).toBe(
      'invalid_request',
    )
    const own = (await registry.search({ ...whole, ...mine }, owner, signal)).next_cursor ?? ''
    expect(await codeOf(registry.search({ ...whole, ...mine, cursor: own }, owner, signal))).toBe('ok')
    expect(await codeOf(registry.search({ ...whole, ...mine, cursor: own }, person('eve'), signal))).toBe(
      'invalid_request',
    )
  })

  test('does not depend on the order of the filters, nor on a filter that states the default', async () => {
    const cursor = await next({ filters: { deprecated: false } })
    for (const filters of [
      { state: 'ACTIVE', deprecated: false },
      { deprecated: false, state: 'ACTIVE' },
    ] satisfies SearchQuery['filters'][]) {
      expect(await codeOf(registry.search({ ...whole, filters, cursor }, null, signal))).toBe('ok')
    }
  })

  test('may be used with another limit, and with facets', async () => {
    const cursor = await next()
    const found = await registry.search({ ...whole, limit: 1, facets: true, cursor }, null, signal)
    expect(found.agents).toHaveLength(1)
  })

  test('of junk is refused, and never an internal failure', async () => {
    const valid = JSON.parse(Buffer.from(await next(), 'base64url').toString())
    const pack = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const [key, tie, id, digest] = valid
    const junk = [
      ' ',
      'x',
      '%',
      'é',
      '\0',
      pack(null),
      pack({}),
      pack([]),
      pack([1, 2, 3]),
      pack(['a', 'b', 'c', 'd']),
      pack([null, tie, id, digest]),
      pack([key, tie, null, digest]),
      pack([key, 1, id, digest]),
      pack([{}, tie, id, digest]),
      pack([1, tie, id, digest]),
      pack([...valid, 1]),
    ]
    for (const cursor of junk) {
      expect(`${cursor} ${await codeOf(registry.search({ ...whole, cursor }, null, signal))}`).toBe(
        `${cursor} invalid_request`,
      )
    }
    for (const key of ['', 'zzz', '\u{10ffff}']) {
      const cursor = pack([key, '', 'nobody', digest])
      expect(await codeOf(registry.search({ ...whole, cursor }, null, signal))).toBe('ok')
    }
  })
})

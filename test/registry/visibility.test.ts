import { afterAll, describe, expect, test } from 'vitest'
import type { Principal } from '../../schemas/scope.ts'
import type { SearchInput } from '../../schemas/search.ts'
import { admin, codeOf, openRegistry, person, publication, signal } from '../support/registry.ts'

const owner = person('owner')
const outsider = person('stranger')
const hidden = 'com.hidden.quokka'

const registry = await openRegistry()
for (const number of [1, 2, 3, 4, 5]) {
  await registry.list(publication(`com.open.agent-${number}`, { tags: ['common'], category: 'tools' }), owner)
}
await registry.publish(
  publication(hidden, {
    name: 'Quokka',
    description: 'Counts quokkas.',
    tags: ['common', 'marsupial'],
    category: 'secret-category',
    target: 'secret-target',
  }),
  owner,
  signal,
)
afterAll(() => registry[Symbol.asyncDispose]())

const search = (input: Partial<SearchInput>, caller: Principal | null) =>
  registry.search({ limit: 100, sort: 'relevance', facets: true, ...input }, caller, signal)

describe('an agent in STAGE', () => {
  test.each([
    ['nobody', null],
    ['a stranger', outsider],
    ['its owner', owner],
    ['an admin', admin],
  ])(
    'is in no list, search, total, facet or page that %s gets without asking for their own',
    async (_, caller) => {
      const questions: Partial<SearchInput>[] = [
        {},
        { query: 'quokka' },
        { query: 'counts quokkas marsupial' },
        { query: hidden },
        { sort: 'name' },
        { sort: 'newest', query: 'quokka' },
        { filters: { tags: ['marsupial'] } },
        { filters: { tags: ['common'] } },
        { filters: { category: 'secret-category' } },
        { filters: { target: 'secret-target', state: 'ACTIVE' } },
      ]
      for (const question of questions) {
        const found = await search(question, caller)
        expect(JSON.stringify(found)).not.toMatch(/quokka|marsupial|secret/i)
        expect(found.total).toBe(found.agents.length)
      }
      expect((await search({ filters: { tags: ['common'] } }, caller)).facets?.tags).toEqual({ common: 5 })
    },
  )

  test('comes on no page, whichever way the pages are cut', async () => {
    for (const limit of [1, 2, 3]) {
      const names: string[] = []
      let cursor: string | null | undefined
      do {
        const page = await search({ limit, sort: 'name', ...(cursor && { cursor }) }, null)
        names.push(...page.agents.map((agent) => agent.package_name))
        expect(page.total).toBe(5)
        cursor = page.next_cursor
      } while (cursor)
      expect(names).toEqual([1, 2, 3, 4, 5].map((number) => `com.open.agent-${number}`))
    }
  })

  test('is not suggested for a misspelt name, and an ACTIVE one is', async () => {
    for (const caller of [null, outsider, owner]) {
      const failure = await registry.get('com.hidden.quokkas', caller).catch((thrown: unknown) => thrown)
      expect(failure).toMatchObject({ code: 'not_found' })
      expect(JSON.stringify((failure as { details: object }).details)).not.toContain('quokka')
    }
    await expect(registry.get('com.open.agent-9', null)).rejects.toMatchObject({
      details: { nearest: expect.arrayContaining([expect.stringContaining('com.open.agent')]) },
    })
  })

  test('is in its owner’s list, in the requested state, and in no other list', async () => {
    const mine = (state?: 'STAGE' | 'ACTIVE') => ({ filters: { mine: true, ...(state && { state }) } })
    expect((await registry.find(mine('STAGE'), owner)).names).toEqual([hidden])
    expect((await registry.find(mine(), owner)).total).toBe(6)
    expect((await registry.find(mine('ACTIVE'), owner)).total).toBe(5)
    for (const caller of [outsider, admin, { ...owner, issuer: 'urn:else' }, person('owner","x')]) {
      expect(await registry.find(mine(), caller)).toEqual({ names: [], total: 0 })
    }
    expect(await codeOf(registry.find(mine(), null))).toBe('unauthenticated')
    expect(await codeOf(registry.find({ filters: { state: 'STAGE' } }, owner))).toBe('invalid_request')
  })

  test('that comes back from ACTIVE is gone from answers that were given before', async () => {
    const name = 'com.open.wombat'
    await registry.list(publication(name, { description: 'Counts wombats.' }), owner)
    for (let round = 0; round < 3; round++) {
      expect((await registry.find({ query: 'wombats' })).names).toEqual([name])
      expect((await registry.find({ query: 'wombats' }, outsider)).names).toEqual([name])
      await registry.unpublish({ agent: name }, owner)
      expect(await registry.find({ query: 'wombats' })).toEqual({ names: [], total: 0 })
      expect(await registry.find({ query: 'wombats' }, outsider)).toEqual({ names: [], total: 0 })
      await registry.goLive({ agent: name }, owner)
    }
    await registry.remove({ agent: name }, owner)
    expect(await registry.find({ query: 'wombats' })).toEqual({ names: [], total: 0 })
  })
})

describe('what one caller is given', () => {
  test('is the same answer for all who own nothing in it, and shows its owner more', async () => {
    const covers = { ...outsider, subject: 'claimant', namespaces: ['com.open'] }
    const others = [null, outsider, person('another')]
    const input = { query: 'com.open.agent-3' }
    const answers = async (caller: Principal | null) => {
      const found = []
      for (let time = 0; time < 3; time++) found.push(await search(input, caller))
      return found
    }
    const ownersIn = async (caller: Principal | null) =>
      (await answers(caller)).map(({ agents }) => agents[0]?.owner)
    const shown = { issuer: owner.issuer, subject: 'owner', namespace: null }
    for (const asker of [...others, owner, covers, admin, ...others]) {
      const seesOwner = asker === owner || asker === covers || asker === admin
      expect(await ownersIn(asker)).toEqual(Array(3).fill(seesOwner ? shown : { namespace: null }))
    }
    const [strangers, anothers] = [await answers(outsider), await answers(person('another'))]
    expect(anothers[2]).toBe(strangers[2])
  })

  test('does not change under them, nor for the next one', async () => {
    const first = await registry.get('com.open.agent-1', null)
    expect(() => Object.assign(first, { name: 'Changed' })).toThrow()
    const found = await search({ query: 'com.open.agent-1' }, null)
    expect(() => Object.assign(found.agents[0] ?? {}, { owner: null })).not.toThrow(/never/)
    expect((await registry.get('com.open.agent-1', null)).name).toBe('An agent')
    expect((await registry.get('com.open.agent-1', owner)).owner?.subject).toBe('owner')
    expect((await registry.get('com.open.agent-1', null)).owner).toEqual({ namespace: null })
  })
})

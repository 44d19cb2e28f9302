import { afterAll, describe, expect, test } from 'vitest'
import type { Publication } from '../../schemas/publication.ts'
import { encodePosition } from '../../src/registry/queries/cursor.ts'
import { admin, codeOf, openRegistry, person, publication } from '../support/registry.ts'

const registry = await openRegistry()
afterAll(() => registry[Symbol.asyncDispose]())

const ada = person('ada')
const eve = person('eve')
let made = 0
const fresh = () => `com.versions.agent-${++made}`

async function live(more: Partial<Publication> = {}): Promise<string> {
  const name = fresh()
  await registry.list(publication(name, more), ada)
  return name
}
const change = (agent: string, more: Publication) => registry.update({ agent }, more, ada)
const strings = async (agent: string, caller = ada as typeof ada | null) =>
  (await registry.versions(agent, 20, undefined, caller)).versions.map(({ version }) => version)

describe('the history of an agent', () => {
  test('begins when the entry goes live, and continues with each change of its content', async () => {
    const name = fresh()
    await registry.publish(publication(name, { version: '1.0.0' }), ada, new AbortController().signal)
    await change(name, { description: 'Better, and seen by nobody yet.' })
    expect(await registry.versions(name, 20, undefined, ada)).toEqual({
      versions: [],
      next_cursor: null,
      total: 0,
    })
    const { revision } = await registry.goLive({ agent: name }, ada)
    const next = await change(name, { version: '1.1.0', description: 'Better.' })
    await registry.suspend({ agent: name, suspended: true, reason: 'Wait.' }, admin)
    await registry.suspend({ agent: name, suspended: false, reason: 'Go on.' }, admin)
    const { versions, total } = await registry.versions(name, 20, undefined, null)
    expect(total).toBe(2)
    expect(versions).toMatchObject([
      { version: '1.1.0', revision: next.revision, current: true },
      { version: '1.0.0', revision, current: false },
    ])
    expect(new Set(versions.map(({ sha256 }) => sha256)).size).toBe(2)
  })

  test('has pages, the highest version first', async () => {
    const name = await live({ version: '1.2.0' })
    for (const version of ['1.10.0', 'summer', '2.0.0-rc.1']) await change(name, { version })
    const seen: (string | null)[] = []
    let cursor: string | undefined
    do {
      const page = await registry.versions(name, 1, cursor, null)
      expect(page.total).toBe(4)
      seen.push(...page.versions.map(({ version }) => version))
      cursor = page.next_cursor ?? undefined
    } while (cursor !== undefined)
    expect(seen).toEqual(['2.0.0-rc.1', '1.10.0', '1.2.0', 'summer'])
    const { next_cursor } = await registry.versions(name, 1, undefined, null)
    const other = await live()
    expect(await codeOf(registry.versions(other, 1, next_cursor ?? '', null))).toBe('invalid_request')
  })

  test('names the fields that each version changed, and shows what differs', async () => {
    const name = await live({ version: '1.0.0', tags: ['a'] })
    await change(name, { version: '1.1.0', description: 'Better.' })
    await change(name, { version: '1.2.0', description: 'Better.', tags: ['a', 'b'] })
    const { versions } = await registry.versions(name, 20, undefined, null, true)
    expect(versions.map(({ changed }) => changed?.toSorted() ?? null)).toEqual([
      ['tags', 'version'],
      ['description', 'version'],
      null,
    ])
    expect((await registry.versions(name, 20, undefined, null)).versions[0]).not.toHaveProperty('changed')
    const [, second] = versions
    expect(await registry.diffVersions(name, '1.0.0', `r${second?.revision}`, null)).toMatchObject({
      package_name: name,
      differences: expect.arrayContaining([
        { field: '/version', before: '1.0.0', after: '1.1.0' },
        { field: '/description', before: expect.any(String), after: 'Better.' },
      ]),
    })
    expect(await registry.diffVersions(name, '1.1.0', undefined, null)).toMatchObject({
      to: '1.2.0',
      differences: expect.arrayContaining([{ field: '/version', before: '1.1.0', after: '1.2.0' }]),
    })
    expect(await codeOf(registry.diffVersions(name, '1.0.0', '9.0.0', null))).toBe('not_found')
    await registry.unpublish({ agent: name }, ada)
    expect(await codeOf(registry.diffVersions(name, '1.0.0', '1.1.0', eve))).toBe('not_found')
    await registry.goLive({ agent: name }, ada)
  })

  test('is hidden with it, from all but its owner', async () => {
    const name = await live({ version: '1.0.0' })
    const hidden = async () => {
      expect(await strings(name)).toEqual(['1.0.0'])
      for (const caller of [null, eve])
        expect(await codeOf(registry.versions(name, 20, undefined, caller))).toBe('not_found')
    }
    await registry.unpublish({ agent: name }, ada)
    await hidden()
    expect((await registry.versions(name, 20, undefined, ada)).versions[0]?.current).toBe(false)
    expect(await codeOf(registry.resolve(name, { version: '1.0.0' }, eve))).toBe('not_found')
    await registry.goLive({ agent: name }, ada)
    expect(await strings(name, eve)).toEqual(['1.0.0'])
    await registry.suspend({ agent: name, suspended: true, reason: 'It lied.' }, admin)
    await hidden()
    await registry.remove({ agent: name }, ada)
    await hidden()
  })

  test('begins again with a name that is taken again, but no version string does', async () => {
    const name = await live({ version: '1.0.0' })
    await registry.remove({ agent: name }, ada)
    const again = publication(name, { version: '1.0.0', description: 'Another agent.' })
    await registry.publish(again, ada, new AbortController().signal)
    expect(await codeOf(registry.goLive({ agent: name }, ada))).toBe('conflict')
    await change(name, { version: '1.0.1' })
    await registry.goLive({ agent: name }, ada)
    expect(await strings(name, null)).toEqual(['1.0.1'])
    expect(await codeOf(registry.resolve(name, { version: '1.0.0' }, null))).toBe('not_found')
  })
})

test.each(['NaN', '1e300', '1.5', 'x'])('a cursor forged from %s is refused', async (id) => {
  const agent = await registry.get(await live(), null)
  const cursor = encodePosition({ key: '', id }, ['versions', agent.id])
  expect(await codeOf(registry.versions(agent.id, 20, cursor, null))).toBe('invalid_request')
})

describe('a version that its owner states', () => {
  test('is not changed, whatever way is tried', async () => {
    const name = await live({ version: '1.0.0' })
    await expect(change(name, { description: 'Other.' })).rejects.toMatchObject({
      code: 'conflict',
      message: `${name} 1.0.0 was published with other content.`,
      details: { hint: expect.stringContaining('new version') },
    })
    await registry.unpublish({ agent: name }, ada)
    await change(name, { description: 'Other.' })
    expect(await codeOf(registry.goLive({ agent: name }, ada))).toBe('conflict')
    await change(name, { version: '1.0.1' })
    expect(await codeOf(registry.goLive({ agent: name }, ada))).toBe('ok')
    expect(await strings(name)).toEqual(['1.0.1', '1.0.0'])
  })

  test('may be what it was again', async () => {
    const name = await live({ version: '1.0.0', description: 'One.' })
    await change(name, { version: '2.0.0', description: 'Two.' })
    const back = await change(name, { version: '1.0.0', description: 'One.' })
    const { versions } = await registry.versions(name, 20, undefined, null)
    expect(versions.map(({ version, current }) => [version, current])).toEqual([
      ['2.0.0', false],
      ['1.0.0', true],
      ['1.0.0', false],
    ])
    expect(versions[1]).toMatchObject({ revision: back.revision, sha256: versions[2]?.sha256 })
  })

  test('does not prevent changes of fields outside the content', async () => {
    const name = await live({ version: '1.0.0' })
    expect(await codeOf(change(name, {}))).toBe('ok')
    expect(await codeOf(registry.transfer({ agent: name, subject: 'eve' }, ada))).toBe('ok')
    expect(await registry.versions(name, 20, undefined, null)).toMatchObject({ total: 1 })
  })

  test('is not needed: without one, each change is a version of its own', async () => {
    const name = await live()
    const second = await change(name, { description: 'Second.' })
    const third = await change(name, { description: 'Third.' })
    const { versions } = await registry.versions(name, 20, undefined, null)
    expect(versions.map(({ version }) => version)).toEqual([null, null, null])
    expect(versions.slice(0, 2).map(({ revision }) => revision)).toEqual([third.revision, second.revision])
    const { card } = await registry.resolve(name, { revision: second.revision }, null)
    expect(card).toMatchObject({ description: 'Second.' })
    expect(await registry.diffVersions(name, `r${second.revision}`, undefined, null)).toMatchObject({
      to: `r${third.revision}`,
      differences: [{ field: '/description', before: 'Second.', after: 'Third.' }],
    })
  })
})

describe('a comparison of one version string with itself', () => {
  test('begins at the first of several versions that have the string, and names its revision', async () => {
    const name = await live({ version: '1.0.0', description: 'One.' })
    const first = (await registry.get(name, null)).revision
    await change(name, { version: '2.0.0', description: 'Two.' })
    await change(name, { version: '1.0.0', description: 'One.' })
    expect(await registry.diffVersions(name, '1.0.0', '1.0.0', null)).toMatchObject({
      from: `r${first}`,
      differences: [],
    })
    const two = await registry.diffVersions(name, '2.0.0', 'latest', null)
    expect(two).toMatchObject({ from: '2.0.0', differences: [] })
  })
})

describe('resolving', () => {
  const at = async (name: string, version: string) => {
    const found = await registry.resolve(name, { version }, null)
    return `${found.version}: ${(found.card as { description: string }).description}`
  }
  const filled = async () => {
    const name = await live({ version: '1.2.0', description: 'A.' })
    for (const [version, description] of [
      ['1.10.0', 'B.'],
      ['2.0.0', 'C.'],
      ['3.0.0-beta.1', 'D.'],
      ['1.9.0', 'E.'],
    ] as const)
      await change(name, { version, description })
    return name
  }

  test('gives the card of a version, of the highest in a range, and of the latest', async () => {
    const name = await filled()
    expect(await at(name, '1.2.0')).toBe('1.2.0: A.')
    expect(await at(name, '3.0.0-beta.1')).toBe('3.0.0-beta.1: D.')
    expect(await at(name, '^1.2')).toBe('1.10.0: B.')
    expect(await at(name, '~1.9')).toBe('1.9.0: E.')
    expect(await at(name, '>=1')).toBe('2.0.0: C.')
    expect(await at(name, 'latest')).toBe('2.0.0: C.')
    expect((await registry.resolve(name, {}, null)).version).toBe('1.9.0')
    const unversioned = await live({ description: 'As it stands.' })
    expect(await at(unversioned, 'latest')).toBe('null: As it stands.')
  })

  test('of a version that there never was names those that come near', async () => {
    const name = await filled()
    await expect(registry.resolve(name, { version: '1.2.1' }, null)).rejects.toMatchObject({
      code: 'not_found',
      message: `${name} has no version 1.2.1.`,
      details: { nearest: expect.arrayContaining(['1.2.0']) },
    })
    await expect(registry.resolve(name, { version: '^7' }, null)).rejects.toMatchObject({
      details: { nearest: ['3.0.0-beta.1', '2.0.0', '1.10.0'] },
    })
    const { revision } = await registry.get(name, null)
    for (const expected of [{ revision: 1 }, { version: '2.0.0', revision }])
      expect(await codeOf(registry.resolve(name, expected, null))).toBe('not_found')
    const same = await registry.resolve(name, { version: '1.9.0', revision }, null)
    expect(same.description).toBe('E.')
  })
})

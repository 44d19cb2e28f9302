import { expect, test } from 'vitest'
import { Publication } from '../../schemas/publication.ts'

const capabilities = (count: number, characters: number) =>
  Array.from({ length: count }, (_, at) => {
    const name = String(at)
    return { name, description: 'x'.repeat(characters - name.length) }
  })

test.each([
  ['200 capabilities of 1,000 characters', 200, 1000, []],
  ['201 capabilities', 201, 3, ['capabilities']],
  ['capabilities of more than 200,000 characters in all', 51, 4000, ['capabilities']],
])('a publication of %s is taken or refused', (_, count, characters, refused) => {
  const { error } = Publication.safeParse({ capabilities: capabilities(count, characters) })
  expect(error?.issues.flatMap(({ path }) => path) ?? []).toEqual(refused)
})

test.each([
  ['by their names', [{ name: 'a' }, { name: 'b' }, { name: 'a' }], ['capabilities', 2, 'name']],
  [
    'by their ids',
    [
      { name: 'a', id: 'x' },
      { name: 'b', id: 'x' },
    ],
    ['capabilities', 1, 'id'],
  ],
  ['by the name and the id', [{ name: 'x' }, { name: 'b', id: 'x' }], ['capabilities', 1, 'id']],
  ['by nothing', [{ name: 'a' }, { name: 'a', id: 'x' }], undefined],
])('capabilities that are called the same %s are refused where the second stands', (_, stated, path) => {
  const described = stated.map((capability) => ({ ...capability, description: 'd' }))
  const { error } = Publication.safeParse({ capabilities: described })
  expect(error?.issues[0]?.path).toEqual(path)
  if (path) expect(error?.issues[0]?.message).toContain('Rename one of them')
})

test('a tag counts once, whatever its case, and a version has no spaces around it', () => {
  const stated = { tags: ['Weather', 'weather', ' weather ', 'rain'], version: ' 1.0.0 ' }
  expect(Publication.parse(stated)).toEqual({ tags: ['weather', 'rain'], version: '1.0.0' })
  expect(Publication.safeParse({ version: '  ' }).success).toBe(false)
})

test.each(['com..example.weather', 'com.example/a..b'])(
  'no label of a package name is empty, as in %s: it would stand under no domain',
  (package_name) => {
    expect(Publication.safeParse({ package_name }).success).toBe(false)
  },
)

import { expect, test } from 'vitest'
import { Publication } from '../../schemas/publication.ts'

const capabilities = (count: number, characters: number) =>
  Array.from({ length: count }, () => ({ name: 'x', description: 'x'.repeat(characters - 1) }))

test.each([
  ['200 capabilities of 1,000 characters', 200, 1000, []],
  ['201 capabilities', 201, 1, ['capabilities']],
  ['capabilities of more than 200,000 characters in all', 51, 4000, ['capabilities']],
])('a publication of %s is taken or refused', (_, count, characters, refused) => {
  const { error } = Publication.safeParse({ capabilities: capabilities(count, characters) })
  expect(error?.issues.flatMap(({ path }) => path) ?? []).toEqual(refused)
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

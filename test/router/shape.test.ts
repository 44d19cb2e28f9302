import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Failure } from '../../schemas/failure.ts'
import { nearest } from '../../schemas/nearest.ts'
import { input, output, pointer, type Shape } from '../../schemas/shape.ts'

const Person = z.strictObject({
  name: z.string().min(2),
  age: z.int().default(18),
  address: z.strictObject({ 'street/no': z.string(), zip: z.string().optional() }).optional(),
  tags: z.array(z.string()).optional(),
})
const person = input(Person)

function refusal(value: unknown, shape: Shape<unknown> = person): Failure {
  try {
    shape.parse(value)
  } catch (thrown) {
    return thrown as Failure
  }
  throw new Error('It was accepted.')
}

describe('a shape', () => {
  test('gives the value back with its defaults', () => {
    expect(person.parse({ name: 'Ada' })).toEqual({ name: 'Ada', age: 18 })
  })

  test('shows fields with a default as optional to callers, and as there in answers', () => {
    expect(person.json).toMatchObject({ type: 'object', required: ['name'], additionalProperties: false })
    expect(output(Person).json).toMatchObject({ required: ['name', 'age'] })
    expect(person.json).not.toHaveProperty('$schema')
    expect(person.json).toBe(person.json)
  })

  test('names the missing field', () => {
    expect(refusal({})).toMatchObject({
      code: 'invalid_request',
      message: '/name: This field is required.',
      details: { errors: [{ pointer: '/name', detail: 'This field is required.' }] },
    })
  })

  test.each([null, undefined, [], 'text', 5])('refuses %j as a whole', (value) => {
    const { code, details } = refusal(value)
    expect(code).toBe('invalid_request')
    expect(details.errors?.map((error) => error.pointer)).toEqual([''])
  })

  test.each([
    [z.number(), Number.NaN, 'Give a number.'],
    [z.int().min(1), 0, 'Give a number of at least 1.'],
    [z.int(), 1.5, 'Give a whole number.'],
    [z.int().min(0).max(100), 1000, 'Give a number from 0 to 100.'],
    [z.number().positive(), 0, 'Give a number of more than 0.'],
    [z.boolean(), 'yes', 'Give true or false, not the text "yes".'],
    [z.int().min(1).max(20), '5', 'Give a number from 1 to 20, not the text "5".'],
    [z.number(), 'a'.repeat(31), `Give a number, not the text "${'a'.repeat(30)}…".`],
    [z.number(), null, 'Give a number, not null.'],
    [z.number(), true, 'Give a number, not true.'],
    [z.boolean(), 1, 'Give true or false, not a number.'],
    [z.string(), 5, 'Give a text, not a number.'],
    [z.string(), ['a'], 'Give a text, not a list.'],
    [z.string().min(2), 'a', 'Give at least 2 characters.'],
    [z.array(z.string()).max(1), ['a', 'b'], 'Give at most 1 item.'],
    [z.array(z.string()), 'a', 'Give a list such as ["text"], not a text.'],
    [z.looseObject({}), 'a', 'Give an object, not a text.'],
    [z.looseObject({}), ['a'], 'Give an object, not a list.'],
    [z.enum(['a', 'b']), 'c', 'Give one of a, b.'],
    [z.literal('a'), 'c', 'Give a.'],
    [z.url(), 'c', 'Give a URL such as https://example.com/.'],
    [z.uuid(), 'c', 'Give a UUID.'],
    [z.iso.datetime(), 'c', 'Give a date and time such as 2026-01-31T12:00:00Z.'],
    [z.string().regex(/^a$/), 'c', 'The text has characters or a form that is not accepted.'],
    [z.union([z.string(), z.number()]), true, 'This value is not accepted.'],
    [z.string().regex(/^a$/, 'Use the letter a.'), 'c', 'Use the letter a.'],
  ] as [z.ZodType, unknown, string][])(
    '%# says what to give, and not what a validator says',
    (type, value, detail) => {
      const shape = input(z.strictObject({ field: type }))
      expect(() => shape.parse({ field: value })).toThrow(`/field: ${detail}`)
    },
  )

  test('says of a value of the wrong type that alone, and nothing of its length', () => {
    const shape = input(z.strictObject({ field: z.array(z.looseObject({})).max(3) }))
    expect(refusal({ field: 'four' }, shape).details.errors).toEqual([
      { pointer: '/field', detail: 'Give a list, not a text.' },
    ])
  })

  test('points at each fault, however deep, as RFC 6901 has it', () => {
    const { details } = refusal({ name: 'A', age: 1.5, address: { 'street/no': 5 }, tags: ['a', 1] })
    expect(details.errors?.map((error) => error.pointer)).toEqual([
      '/name',
      '/age',
      '/address/street~1no',
      '/tags/1',
    ])
    expect(pointer(['a~b', 'c/d', 0])).toBe('/a~0b/c~1d/0')
  })

  test('names unknown fields, and the ones they may have been meant for', () => {
    const { details } = refusal({ name: 'Ada', agee: 5, tgas: [], colour: 'red' })
    expect(details.errors?.map((error) => error.pointer)).toEqual(['/agee', '/tgas', '/colour'])
    expect(details.nearest).toEqual(['age', 'tags'])
    expect(refusal({ name: 'Ada', zzzzzz: 1 }).details).not.toHaveProperty('nearest')
  })

  test('takes no field by the name of the prototype', () => {
    expect(refusal(JSON.parse('{"name":"Ada","constructor":{}}')).code).toBe('invalid_request')
    expect(person.parse(JSON.parse('{"name":"Ada"}'))).not.toHaveProperty('__proto__.age')
  })
})

describe('the nearest names', () => {
  const names = ['search', 'search_agents', 'publish', 'unpublish', 'get_card']

  test.each([
    ['serch', ['search']],
    ['SEARCH', ['search', 'search_agents']],
    ['publsh', ['publish']],
    ['card', ['get_card']],
    ['zzzzzzzz', []],
    ['q', []],
    ['', []],
  ])('to "%s" are %j', (word, expected) => {
    expect(nearest(word, names).slice(0, expected.length || 3)).toEqual(expected)
  })

  test('are at most the requested number, the best first', () => {
    expect(nearest('publish', names, 1)).toEqual(['publish'])
    expect(nearest('abc', ['abde', 'abcd', 'xbc', 'zzz'])).toEqual(['abcd', 'xbc', 'abde'])
  })

  test('share something with the word: a short one is not replaced whole', () => {
    expect(nearest('id', ['to', 'ids', 'in'])).toEqual(['ids', 'in'])
  })

  test('of long names are those within twelve edits: a publisher chooses them, and a caller the word', () => {
    const name = 'abcdefghij'.repeat(12)
    const misspelt = (edits: number) => `${'0'.repeat(edits)}${name.slice(edits, 100)}`
    expect(nearest(misspelt(12), [name.slice(0, 100)])).toHaveLength(1)
    expect(nearest(misspelt(13), [name.slice(0, 100)])).toEqual([])
    expect(nearest(name.slice(0, 100), [`12345${name.slice(0, 60)}${name.slice(63, 100)}`])).toHaveLength(1)
  })

  test('of many long names take a small part of a second', () => {
    const names = Array.from({ length: 200 }, (_, at) => `${at}${'abcd'.repeat(30)}`)
    const word = `${'abcd'.repeat(8)}${'xyzq'.repeat(7)}${'abcd'.repeat(10)}`
    const { user: before } = process.cpuUsage()
    for (let count = 0; count < 100; count++) nearest(word, names)
    expect(process.cpuUsage().user - before).toBeLessThan(400_000)
  })

  test('to a word without end are found in no time', () => {
    const started = performance.now()
    nearest(
      'x'.repeat(1_000_000),
      Array.from({ length: 1000 }, (_, index) => `name-${index}`),
    )
    expect(performance.now() - started).toBeLessThan(1000)
  })
})

function failureOf(work: () => unknown): Failure {
  try {
    work()
  } catch (thrown) {
    return thrown as Failure
  }
  throw new Error('It was accepted.')
}

test('a body of a thousand faults is answered with twenty of them', () => {
  const shape = input(z.strictObject({ limit: z.int() }))
  const body = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`limit${at}`, at]))
  const failure = failureOf(() => shape.parse(body))
  expect(failure.details.errors).toHaveLength(20)
})

test('an unknown field inside another names its neighbours there', () => {
  const shape = input(
    z.strictObject({
      filters: z.strictObject({ category: z.string().optional() }),
      categories: z.string().optional(),
    }),
  )
  const failure = failureOf(() => shape.parse({ filters: { categry: 'x' } }))
  expect(failure.details.nearest).toEqual(['category'])
})

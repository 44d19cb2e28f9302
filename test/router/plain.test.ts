import { expect, test } from 'vitest'
import { assertPlain, maximumDepth } from '../../schemas/plain.ts'

function nested(levels: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = wrap(value)
  return value
}

const wraps = [
  ['objects', (inner: unknown) => ({ deeper: inner })],
  ['lists', (inner: unknown) => [inner]],
] as const

test.each(wraps)('%s may be 32 levels deep and no deeper', (_, wrap) => {
  expect(() => assertPlain(nested(maximumDepth, wrap))).not.toThrow()
  expect(() => assertPlain(nested(maximumDepth + 1, wrap))).toThrowError(
    expect.objectContaining({ code: 'invalid_request' }),
  )
})

test.each(wraps)('a hundred thousand levels of %s cost no stack', (_, wrap) => {
  expect(() => assertPlain(nested(100_000, wrap))).toThrowError(
    expect.objectContaining({ code: 'invalid_request' }),
  )
})

test('a __proto__ key is refused wherever it stands, and names that only look like it are not', () => {
  for (const text of ['{"__proto__":1}', '{"a":{"b":[0,{"__proto__":{}}]}}']) {
    expect(() => assertPlain(JSON.parse(text))).toThrowError(
      expect.objectContaining({ code: 'invalid_request' }),
    )
  }
  assertPlain(JSON.parse('{"constructor":1,"proto":2,"__proto":3,"a":"__proto__"}'))
})

test.each([null, undefined, 1, 'text', true, [], {}, [null], { a: null }])('%j is plain', (value) => {
  expect(() => assertPlain(value)).not.toThrow()
})

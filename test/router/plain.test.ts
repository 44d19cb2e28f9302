import { describe, expect, test } from 'vitest'
import {
  assertMessage,
  assertPlain,
  maximumDepth,
  maxMessageBytes,
  maxMessageValues,
} from '../../schemas/plain.ts'

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

test('a __proto__ key is refused at every level, and similar names are not', () => {
  for (const text of ['{"__proto__":1}', '{"a":{"b":[0,{"__proto__":{}}]}}']) {
    expect(() => assertPlain(JSON.parse(text))).toThrowError(
      expect.objectContaining({ code: 'invalid_request' }),
    )
  }
  assertPlain(JSON.parse('{"constructor":1,"proto":2,"__proto":3,"a":"__proto__"}'))
})

test.each(['1e400', '{"a":[-1e400]}'].map((text) => [text, text]))(
  '%s has a number that would become null',
  (_, text) => {
    expect(() => assertPlain([JSON.parse(text)])).toThrowError(
      expect.objectContaining({ code: 'invalid_request', message: expect.stringContaining('number') }),
    )
  },
)

test.each([null, undefined, 1, 'text', true, [], {}, [null], { a: null }])('%j is plain', (value) => {
  expect(() => assertPlain(value)).not.toThrow()
})

describe('a message from a caller', () => {
  const tooLarge = expect.objectContaining({ code: 'too_large' })

  test.each([
    ['text', (size: number) => ['x'.repeat(size - 4)]],
    ['names', (size: number) => ({ ['x'.repeat(size - 6)]: 1 })],
    ['small values', (size: number) => ['x'.repeat(size - 2 - 2 * 1000), ...Array(999).fill(1)]],
  ])('of 1 MiB in %s is accepted, and a much larger one is not', (_, make) => {
    const exact = make(maxMessageBytes)
    expect(JSON.stringify(exact).length).toBeGreaterThan(maxMessageBytes - 10)
    expect(() => assertMessage(exact)).not.toThrow()
    expect(() => assertMessage(make(maxMessageBytes + 10_000))).toThrowError(tooLarge)
  })

  test('holds at most 100,000 values', () => {
    expect(() => assertMessage(Array(maxMessageValues).fill(0))).not.toThrow()
    expect(() => assertMessage(Array(maxMessageValues + 1).fill(0))).toThrowError(tooLarge)
    const objects = Array.from({ length: 40_000 }, () => ({ a: 1, b: 2 }))
    expect(() => assertMessage(objects)).toThrowError(tooLarge)
    expect(() => assertPlain(objects)).not.toThrow()
  })
})

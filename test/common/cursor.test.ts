import { expect, test } from 'vitest'
import { decodeCursor, encodeCursor } from '../../src/common/cursor.ts'

test.each([[null], [0], ['é?/+'], [['key', 'id', 12]], [{ offset: 1 }]])('%j survives a cursor', (value) => {
  const cursor = encodeCursor(value)
  expect(cursor).toMatch(/^[\w-]+$/)
  expect(decodeCursor(cursor)).toEqual(value)
})

test.each(['', '!', 'eyJ', 'bm90IEpTT04'])('%j decodes to undefined', (cursor) => {
  expect(decodeCursor(cursor)).toBeUndefined()
})

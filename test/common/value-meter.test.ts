import { expect, test } from 'vitest'
import { createValueMeter } from '../../src/common/value-meter.ts'

const values = (text: string, isEvents = true) => createValueMeter(isEvents)(Buffer.from(text))

test.each([
  ['a quote', ': "\n'],
  ['a quote, its line ended as the HTML Standard also allows', ': "\r'],
  ['a quote and a backslash', ': "\\\n'],
  ['a quote and a backslash, its line ended otherwise', ': "\\\r\n'],
])('a comment with %s hides no values of the event after it', (_, comment) => {
  expect(values(`${comment}data: [1,1,1]\n`)).toBe(3)
})

test('text in strings is not counted, and each event counts for itself', () => {
  expect(values('["a,[{\\",",1]', false)).toBe(2)
  expect(values('data: [1,1,1]\n\ndata: [1]\n')).toBe(1)
  expect(values('data: [1,1,1]\r\n\r\ndata: [1]\r\n')).toBe(1)
})

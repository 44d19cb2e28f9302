import { expect, test } from 'vitest'
import { retryAfter } from '../../src/common/retry-after.ts'

const now = Date.parse('2026-03-02T15:00:00Z')

test.each([
  ['0', 0],
  ['120', 120],
  ['120 ', 120],
  [' 5 ', 5],
  ['999999999', 86_400],
  ['Mon, 02 Mar 2026 15:01:30 GMT', 90],
  ['Mon, 02 Mar 2026 14:00:00 GMT', 0],
  ['Fri, 02 Mar 2029 15:00:00 GMT', 86_400],
  ['-1', undefined],
  ['1.5', undefined],
  ['1e3', undefined],
  ['1234567890', undefined],
  ['2026-03-02T15:01:30Z', undefined],
  ['soon', undefined],
  ['', undefined],
  [undefined, undefined],
])('Retry-After %j means %j seconds', (field, seconds) => {
  expect(retryAfter(field, now)).toBe(seconds)
})

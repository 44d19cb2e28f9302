import { expect, test } from 'vitest'
import { uuidV7 } from '../../src/common/uuid.ts'

test('a UUID of version 7 is that of RFC 9562, appendix A.6, but for its random bits', () => {
  expect(uuidV7(0x017f22e279b0)).toMatch(/^017f22e2-79b0-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})

test('UUIDs of a later millisecond sort later, fractions are cut, and no two are equal', () => {
  const ids = [1, 15, 16, 4095, 1_700_000_000_000.9, 1_700_000_000_001].map(uuidV7)
  expect(ids.toSorted()).toEqual(ids)
  expect(ids[4]).toMatch(/^018bcfe5-6800-7/)
  expect(new Set(Array.from({ length: 1000 }, () => uuidV7(5))).size).toBe(1000)
})

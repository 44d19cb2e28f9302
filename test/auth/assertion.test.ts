import { decodeJwt } from 'jose'
import { expect, test } from 'vitest'
import { createAssert } from '../../src/auth/assertion.ts'
import { generateJwk, importKey } from '../../src/auth/key.ts'

test('an assertion is reused for a minute, and none that was issued in the future after the clock is set back', async () => {
  const key = await importKey(await generateJwk())
  let now = 1_800_000_000_000
  const assert = createAssert({
    signing: async () => key,
    issuer: () => 'https://registry.example',
    secret: async () => new Uint8Array(32),
    clock: () => now,
  })
  const issued = async () => Number(decodeJwt(await assert('https://agent.example/', null)).iat) * 1000 - now
  expect(await issued()).toBe(0)
  now += 59_000
  expect(await issued()).toBe(-59_000)
  now += 1_000
  expect(await issued()).toBe(0)
  now -= 3_600_000
  expect(await issued()).toBe(0)
})

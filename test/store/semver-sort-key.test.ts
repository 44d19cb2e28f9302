import fc from 'fast-check'
import { compare, parse } from 'semver'
import { expect, test } from 'vitest'
import { precedenceOf } from '../../src/store/entries/semver-sort-key.ts'

const byBytes = (left: string, right: string) => Buffer.compare(Buffer.from(left), Buffer.from(right))

const number = fc.oneof(fc.nat(12), fc.maxSafeNat())
const identifier = fc.oneof(
  number.map(String),
  fc.stringMatching(/^[0-9A-Za-z-]{1,4}$/),
  fc.constantFrom('alpha', 'alpha-1', 'beta', 'rc', 'RC', '-', '--', '0a'),
)
const version = fc
  .tuple(fc.tuple(number, number, number), fc.array(identifier, { maxLength: 3 }), fc.boolean())
  .map(
    ([core, pre, built]) =>
      `${core.join('.')}${pre.length > 0 ? `-${pre.join('.')}` : ''}${built ? '+build.7' : ''}`,
  )
  .filter((text) => parse(text) !== null)

test('sorts as semver compares', async () => {
  const alike = fc.property(version, version, (left, right) => {
    expect(Math.sign(byBytes(precedenceOf(left), precedenceOf(right)))).toBe(compare(left, right))
  })
  await fc.assert(alike, { numRuns: 3000 })
})

test('sorts other versions before those of semver', () => {
  for (const text of [null, '', 'summer', '1', '1.2', '1.2.3.4', '01.2.3', '1.2.99999999999999999999'])
    expect(precedenceOf(text)).toBe('')
  expect(byBytes(precedenceOf('0.0.0-0'), '')).toBe(1)
})

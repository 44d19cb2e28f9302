import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { counted } from '../schemas/counted.ts'

const root = resolve(import.meta.dirname, '..')

test('one of a kind is singular', () => {
  expect([0, 1, 2].map((count) => counted(count, 'tool'))).toEqual(['0 tools', '1 tool', '2 tools'])
  expect(counted(1000, 'call', '1,000')).toBe('1,000 calls')
})

const nouns =
  'agents|tools|capabilities|skills|changes|versions|rows|packages|calls|fields|settings|keys|webhooks'
/** A number in a text before a plural: bounds, which have names such as `maxFields`, are greater than one. */
const plural = new RegExp(`\\$\\{(?!max|limit|caller)[\\w. +?\\[\\]-]+\\} (?:more )?(?:${nouns})\\b(?!=)`)

test('no text has a number before a plural that may be one', () => {
  const found = globSync('{agents,schemas,src}/**/*.ts', { cwd: root }).flatMap((path) =>
    readFileSync(join(root, path), 'utf8')
      .split('\n')
      .filter((line) => plural.test(line) && !line.includes('=== 1 ?'))
      .map((line) => `${path}: ${line.trim()}`),
  )
  expect(found).toEqual([])
})

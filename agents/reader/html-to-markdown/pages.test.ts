import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { extractPage, type Format } from './extract-page.ts'

const folder = join(import.meta.dirname, 'fixtures')
const pages = globSync('*.html', { cwd: folder }).toSorted()
const htmlOf = (name: string) => readFileSync(join(folder, name), 'utf8')
const read = (name: string, format: Format) =>
  extractPage({ html: htmlOf(name), url: 'https://example.com/a', format })
const count = (text: string, fragment: string) => text.split(fragment).length - 1

/** In each page, content ends in §in and everything else in §out. */
test.each(pages)('of %s exactly the content is returned', (name) => {
  const { content, extractor, confidence } = read(name, 'text')
  const lines = content.split('\n').map((line) => line.trim())
  expect(lines.filter((line) => line.includes('§out'))).toEqual([])
  expect(count(content, '§in')).toBe(count(htmlOf(name), '§in'))
  expect(extractor).toBe('blocks')
  expect(confidence).toBeGreaterThan(0.4)
})

test('there are pages of many kinds', () => {
  const kinds = new Set(pages.map((name) => basename(name, '.html').split('-')[0]))
  expect(pages.length).toBeGreaterThanOrEqual(30)
  expect(kinds.size).toBeGreaterThanOrEqual(12)
})

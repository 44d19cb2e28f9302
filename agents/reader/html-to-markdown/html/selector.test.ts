import { describe, expect, test } from 'vitest'
import { textOf } from './hast.ts'
import { parse } from './parse.ts'
import { parseSelector, select } from './selector.ts'

const page = parse(`
  <article id="a" class="post main" lang="en-GB"><h1>one</h1><p class="intro">two</p><p>three</p>
  <ul><li><a href="/x" title="It's">four</a></li><li><b>five</b></li></ul></article>
  <aside><p>six</p></aside>`)

const texts = (selector: string) => {
  const parsed = parseSelector(selector)
  expect(parsed.fault).toBeUndefined()
  return select(page, parsed.selector).map((found) => textOf(found).replace(/\s+/g, ' ').trim())
}

test.each([
  ['h1', ['one']],
  ['P', ['two', 'three', 'six']],
  ['#a p', ['two', 'three']],
  ['article > p', ['two', 'three']],
  ['article > li', []],
  ['article li', ['four', 'five']],
  ['.intro', ['two']],
  ['p.intro', ['two']],
  ['.post.main h1', ['one']],
  ['.post .absent', []],
  ['h1 + p', ['two']],
  ['h1 ~ p', ['two', 'three']],
  ['p + h1', []],
  ['a[href]', ['four']],
  ['[href="/x"]', ['four']],
  ["[title='It\\'s']", null],
  ['[title="It\'s"]', ['four']],
  ['[href^="/"]', ['four']],
  ['[href$=x]', ['four']],
  ['[lang|=en] > h1', ['one']],
  ['[class~=main] > h1', ['one']],
  ['[class*="os"] > h1', ['one']],
  ['[href*=""]', []],
  ['aside p, h1', ['one', 'six']],
  [' h1 ,\n li  >  b ', ['one', 'five']],
  ['article *', ['one', 'two', 'three', 'fourfive']],
] as const)('%s selects %j', (selector, expected) => {
  if (expected === null) expect(parseSelector(selector).fault).toBeDefined()
  else expect(texts(selector)).toEqual(expected)
})

test('a match within a match is returned once, inside the outer one', () => {
  expect(texts('article, li')).toHaveLength(1)
})

describe('a selector is refused', () => {
  test.each([
    ['p:first-child', 'Pseudo-classes'],
    [':has(p)', 'Pseudo-classes'],
    ['p::before', 'Pseudo-classes'],
    ['p >', 'too early'],
    ['> p', 'cannot be parsed'],
    ['p, ', 'too early'],
    ['p,,b', 'cannot be parsed'],
    ['[href', 'cannot be parsed'],
    ['[href=a b]', 'cannot be parsed'],
    ['p{}', 'cannot be parsed'],
    [' ', 'too early'],
    ['a '.repeat(30), 'more than 20'],
  ])('%j', (selector, fault) => {
    expect(parseSelector(selector).fault).toContain(fault)
  })
})

test('a selector that is exponential in other engines takes one walk', () => {
  const deep = parse(`${'<div class="a">'.repeat(90)}${'<p>x</p>'.repeat(5_000)}`)
  const { selector } = parseSelector(`${'.a '.repeat(19)}b`)
  expect(select(deep, selector)).toEqual([])
})

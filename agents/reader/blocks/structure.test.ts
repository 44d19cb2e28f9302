import { describe, expect, test } from 'vitest'
import { toMarkdown } from '../html/markdown.ts'
import { parse } from '../html/parse.ts'
import { type Block, layoutOf } from './blocks.ts'
import { choose } from './choose.ts'
import { pageOf } from './page.ts'
import { prune } from './prune.ts'
import { leaveOutEmptySections } from './structure.ts'

const prose =
  'It is a long sentence, with commas. And there is another one behind it, which is long as well. '.repeat(3)

/** A page as Markdown, with the blocks that `likely` tells of. */
function kept(html: string, likely: (block: Block) => number, title = '', stated = ''): string {
  const page = pageOf(layoutOf(parse(html)))
  const { kept } = choose(page, page.blocks.map(likely), { title, stated })
  return toMarkdown(prune(page, kept))
}
const unless = (word: RegExp) => (block: Block) => (word.test(block.text) ? 0.01 : 0.9)

describe('structure', () => {
  const table = '<table><tr><th>a</th><th></th></tr><tr><td>b</td><td>OUT</td></tr></table>'

  test('a table loses no single cell', () => {
    const markdown = kept(`<p>${prose}</p>${table}`, unless(/^OUT/))
    expect(markdown).toContain('| b')
    expect(markdown).toContain('OUT')
  })

  test('a table that is no content goes as a whole', () => {
    expect(kept(`<p>${prose}</p>${table}`, unless(/^(?:a|b|OUT)$/))).toBe(prose.trim())
  })

  test('of a table that lays out the page, divisions are left', () => {
    const html = `<table><tr><td>OUT</td><td><p>${prose}</p><p>${prose}</p></td></tr></table>`
    expect(kept(html, unless(/^OUT/))).toBe(`${prose.trim()}\n\n${prose.trim()}`)
  })

  test('an item that is kept keeps its list, and a nested one its levels', () => {
    const html = `<p>${prose}</p><ul><li>OUT</li><li>two<ol><li>three</li></ol></li></ul>`
    expect(kept(html, unless(/^OUT/))).toBe(`${prose.trim()}\n\n- two\n  1. three`)
  })

  test('a picture stays between texts that do, and goes with those that do not', () => {
    const html = `<p>${prose}</p><img src="in.png"><p>${prose}</p><p>OUT</p><img src="out.png"><p>OUT</p>`
    expect(kept(html, unless(/^OUT/))).toBe(`${prose.trim()}\n\n![](in.png)\n\n${prose.trim()}`)
  })

  test.each([
    ['<h2>a</h2><p>x</p>', 'a x'],
    ['<h2>a</h2><h2>b</h2><p>x</p>', 'b x'],
    ['<h2>a</h2><h3>b</h3><p>x</p>', 'a b x'],
    ['<h3>a</h3><h2>b</h2><p>x</p><h2>c</h2>', 'b x'],
    ['<p>x</p><h2>a</h2><h3>b</h3>', 'x'],
  ])('a heading goes where nothing of its section is kept: %s', (html, left) => {
    const { blocks } = layoutOf(parse(html))
    const all = new Set(blocks)
    leaveOutEmptySections(all, blocks)
    expect([...all].map(({ text }) => text).join(' ')).toBe(left)
  })
})

describe('an article', () => {
  test('is given without the headline that its title repeats', () => {
    const html = `<h1>On rivers</h1><p>${prose}</p><p>${prose}</p>`
    expect(kept(html, () => 0.9, 'On rivers')).not.toContain('On rivers')
    expect(kept(html, () => 0.9, 'Another title')).toContain('On rivers')
  })

  test('is given without links that stand alone, unless they are surely its own', () => {
    const html = `<p>${prose}</p><p><a href="/x">A story from elsewhere</a></p><p>${prose}</p>`
    expect(kept(html, ({ chars }) => (chars > 40 ? 0.9 : 0.7))).not.toContain('elsewhere')
    expect(kept(html, () => 0.9)).toContain('elsewhere')
  })

  test('ends where the text that its JSON-LD states ends', () => {
    const paragraphs = ['alpha', 'beta', 'gamma', 'delta'].map((word) => prose.replaceAll('long', word))
    const html = `${paragraphs.map((text) => `<p>${text}</p>`).join('')}<p>${prose}</p>`
    expect(kept(html, () => 0.9, '', paragraphs.join(' ').trim())).toBe(
      paragraphs.map((text) => text.trim()).join('\n\n'),
    )
    expect(kept(html, () => 0.9, '', `${paragraphs[0]} Read on at`)).toContain(prose.trim())
  })
})

test('where blocks are as likely here as there, the page is cut where the expected F measure is highest', () => {
  const html = Array.from(
    { length: 80 },
    (_, index) => `<div><div>Name ${index} of a thing</div></div>`,
  ).join('')
  const markdown = kept(html, ({ text }) => (Number(text.split(' ')[1]) < 20 ? 0.6 : 0.05))
  expect(markdown.split('\n\n')).toHaveLength(20)
})

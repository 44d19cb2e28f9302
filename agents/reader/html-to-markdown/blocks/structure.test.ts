import { describe, expect, test } from 'vitest'
import { toMarkdown } from '../html/markdown.ts'
import { parse } from '../html/parse.ts'
import { type Block, layoutOf } from './blocks.ts'
import { choose, type PageFacts } from './choose.ts'
import { pageOf } from './page.ts'
import { prune } from './prune.ts'
import { leaveOutEmptySections } from './structure.ts'

const prose =
  'It is a long sentence, with commas. And there is another one behind it, which is long as well. '.repeat(3)

/** A page as Markdown, with the blocks that `likely` chooses. */
function chosen(html: string, likely: (block: Block) => number, facts: Partial<PageFacts> = {}): string {
  const page = pageOf(layoutOf(parse(html)))
  const { chosen } = choose(page, page.blocks.map(likely), {
    title: '',
    stated: '',
    is_article: false,
    ...facts,
  })
  return toMarkdown(prune(page, chosen))
}
const unless = (word: RegExp) => (block: Block) => (word.test(block.text) ? 0.01 : 0.9)

describe('structure', () => {
  const table = '<table><tr><th>a</th><th></th></tr><tr><td>b</td><td>OUT</td></tr></table>'

  test('a table loses no single cell', () => {
    const markdown = chosen(`<p>${prose}</p>${table}`, unless(/^OUT/))
    expect(markdown).toContain('| b')
    expect(markdown).toContain('OUT')
  })

  test('a table that is not content is left out as a whole', () => {
    expect(chosen(`<p>${prose}</p>${table}`, unless(/^(?:a|b|OUT)$/))).toBe(prose.trim())
  })

  test('a layout table becomes divisions', () => {
    const html = `<table><tr><td>OUT</td><td><p>${prose}</p><p>${prose}</p></td></tr></table>`
    expect(chosen(html, unless(/^OUT/))).toBe(`${prose.trim()}\n\n${prose.trim()}`)
  })

  test('a chosen item keeps its list, and a nested one its levels', () => {
    const html = `<p>${prose}</p><ul><li>OUT</li><li>two<ol><li>three</li></ol></li></ul>`
    expect(chosen(html, unless(/^OUT/))).toBe(`${prose.trim()}\n\n- two\n  1. three`)
  })

  test('a picture stays between chosen texts and is left out with the others', () => {
    const html = `<p>${prose}</p><img src="in.png"><p>${prose}</p><p>OUT</p><img src="out.png"><p>OUT</p>`
    expect(chosen(html, unless(/^OUT/))).toBe(`${prose.trim()}\n\n![](in.png)\n\n${prose.trim()}`)
  })

  test.each([
    ['<h2>a</h2><p>x</p>', 'a x'],
    ['<h2>a</h2><h2>b</h2><p>x</p>', 'b x'],
    ['<h2>a</h2><h3>b</h3><p>x</p>', 'a b x'],
    ['<h3>a</h3><h2>b</h2><p>x</p><h2>c</h2>', 'b x'],
    ['<p>x</p><h2>a</h2><h3>b</h3>', 'x'],
  ])('a heading is left out with its section: %s', (html, left) => {
    const { blocks } = layoutOf(parse(html))
    const all = new Set(blocks)
    leaveOutEmptySections(all, blocks)
    expect([...all].map(({ text }) => text).join(' ')).toBe(left)
  })
})

describe('an article', () => {
  test('loses the headline that its title repeats', () => {
    const html = `<h1>On rivers</h1><p>${prose}</p><p>${prose}</p>`
    expect(chosen(html, () => 0.9, { title: 'On rivers' })).not.toContain('On rivers')
    expect(chosen(html, () => 0.9, { title: 'Another title' })).toContain('On rivers')
  })

  test('loses links that stand alone, unless they are certain content', () => {
    const html = `<p>${prose}</p><p><a href="/x">A story from elsewhere</a></p><p>${prose}</p>`
    expect(chosen(html, ({ chars }) => (chars > 40 ? 0.9 : 0.7))).not.toContain('elsewhere')
    expect(chosen(html, () => 0.9)).toContain('elsewhere')
  })

  test('loses captions of pictures and keeps code in a figure', () => {
    const html = `<p>${prose}</p><figure><img src="a.png"><figcaption>Water</figcaption></figure>
      <div class="photo-credit">Somebody</div><figure><pre>flow()</pre></figure><p>${prose}</p>`
    const markdown = chosen(html, () => 0.9)
    expect(markdown).not.toMatch(/Water|Somebody/)
    expect(markdown).toContain('flow()')
  })

  test('keeps posts that it quotes, even doubtful ones', () => {
    const html = `<p>${prose}</p><blockquote><p>We are here.</p></blockquote>${`<p>${prose}</p>`.repeat(60)}`
    expect(chosen(html, ({ chars }) => (chars > 40 ? 0.9 : 0.3))).toContain('> We are here.')
  })

  test('loses comments of readers, if it declares itself an article', () => {
    const comment = `<li class="comment"><p>I disagree. ${prose}</p></li>`
    const html = `<div><p>${prose}</p><p>${prose}</p></div><ul>${comment.repeat(9)}</ul>`
    const likely = ({ text }: Block) => (text.startsWith('I disagree') ? 0.6 : 0.9)
    expect(chosen(html, likely, { is_article: true })).not.toContain('disagree')
    expect(chosen(html, likely)).toContain('disagree')
  })

  test('that is small beside the rest of the page is found if the page declares itself an article', () => {
    const teasers = Array.from({ length: 99 }, (_, index) => `<div>Teaser ${index} of another story</div>`)
    const html = `<div><p>${prose}</p><p>${prose}</p></div><section>${teasers.join('')}</section>`
    const likely = ({ text }: Block) => (text.startsWith('Teaser') ? 0.4 : 0.9)
    expect(chosen(html, likely, { is_article: true })).not.toContain('Teaser')
    expect(chosen(html, likely)).toContain('Teaser 98')
  })

  test('ends where the text that its JSON-LD states ends', () => {
    const paragraphs = ['alpha', 'beta', 'gamma', 'delta'].map((word) => prose.replaceAll('long', word))
    const html = `${paragraphs.map((text) => `<p>${text}</p>`).join('')}<p>${prose}</p>`
    expect(chosen(html, () => 0.9, { stated: paragraphs.join(' ').trim() })).toBe(
      paragraphs.map((text) => text.trim()).join('\n\n'),
    )
    expect(chosen(html, () => 0.9, { stated: `${paragraphs[0]} Read on at` })).toContain(prose.trim())
  })
})

test('a card that links elsewhere as a whole is a link; a link that was never closed is not', () => {
  const linked = (html: string) => layoutOf(parse(html)).blocks.map(({ chars, linked }) => linked / chars)
  expect(linked('<a href="/x"><h3>A story</h3><p>And more</p></a>')).toEqual([1, 1])
  expect(linked(`<a href="/x">${`<p>${prose}</p>`.repeat(9)}</a>`)).toEqual(Array(9).fill(0))
})

test('a line break separates words', () => {
  expect(layoutOf(parse('<p>one<br>two</p>')).blocks[0]?.text).toBe('one two')
})

test('blocks of equal probability are cut where the expected F measure is highest', () => {
  const html = Array.from(
    { length: 80 },
    (_, index) => `<div><div>Name ${index} of a thing</div></div>`,
  ).join('')
  const markdown = chosen(html, ({ text }) => (Number(text.split(' ')[1]) < 20 ? 0.6 : 0.05))
  expect(markdown.split('\n\n')).toHaveLength(20)
})

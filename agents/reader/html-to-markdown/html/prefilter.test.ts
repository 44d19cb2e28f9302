import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { growth } from '../../../../test/support/growth.ts'
import { rounds } from '../../../../test/support/rounds.ts'
import { prefilter } from './prefilter.ts'

/** Depth and number of elements of well-formed HTML; fails on an unmatched tag. */
function measure(html: string): { depth: number; elements: number } {
  const open: string[] = []
  let [depth, elements] = [0, 0]
  for (const [, close, name = ''] of html.matchAll(/<(\/?)([a-z0-9]+)(?:\s[^"<>]*(?:"[^"]*"[^"<>]*)*)?>/g)) {
    if (close) expect(open.pop()).toBe(name)
    else {
      elements++
      if (!/^(?:br|hr|img)$/.test(name)) open.push(name)
      depth = Math.max(depth, open.length)
    }
  }
  expect(open).toEqual([])
  return { depth, elements }
}

const flat = (html: string) => html.replace(/\s+/g, ' ')

const tags = [
  'div',
  'p',
  'b',
  'i',
  'a href=x',
  'ul',
  'li',
  'ol',
  'table',
  'tr',
  'td',
  'th',
  'dl',
  'dt',
  'dd',
  'br',
  'img src="y"',
  'script',
  'svg',
  'title',
  'pre',
  'custom-tag',
  'form',
  'p hidden',
  'a b="',
  "q c='",
]
const piece = fc.oneof(
  fc
    .constantFrom(...tags)
    .chain((tag) => fc.constantFrom(`<${tag}>`, `</${tag.split(' ')[0]}>`, `<${tag}/>`)),
  fc.constantFrom('<', '>', '"', '<!--', '-->', '</', '<!x', '&amp;', '&', 'text', ' ', '\n', 'é'),
  fc.string({ maxLength: 5 }),
)

test('any input becomes well-formed HTML, and filtering it again changes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 60 }), async (pieces) => {
      const { body } = prefilter(pieces.join(''))
      measure(body)
      expect(body).not.toMatch(/<(?:script|style|svg|template|custom)/)
      expect(flat(prefilter(body).body)).toBe(flat(body))
    }),
    { numRuns: 500, examples: [[['<img src="y">', '"', '<div>', '"', '-->']]] },
  )
})

describe('caps hold', () => {
  test.each([
    ['depth', '<div>'.repeat(50_000)],
    ['depth of inline elements', '<b>'.repeat(50_000)],
    ['depth of lists', '<ul><li>'.repeat(5_000)],
    ['depth of tables', '<table><tr><td>'.repeat(3_000)],
    ['elements', '<p>x</p>'.repeat(200_000)],
    ['cells', `<table>${`<tr>${'<td>x</td>'.repeat(20)}</tr>`.repeat(10_000)}</table>`],
  ])('on %s', (_name, html) => {
    const { depth, elements } = measure(prefilter(html).body)
    expect(depth).toBeLessThanOrEqual(100)
    expect(elements).toBeLessThanOrEqual(20_000)
  })

  test.each([
    ['text', '<p>lorem ipsum '.repeat(1_000_000), 'characters'],
    ['references', '&amp;'.repeat(100_000), 'characters'],
    ['angle brackets', '<'.repeat(3_000_000), 'characters'],
    ['lines inside quotations', `${'<blockquote>'.repeat(90)}<pre>${'x\n'.repeat(50_000)}`, 'characters'],
    ['elements', '<a href=x>y</a>'.repeat(30_000), 'elements'],
  ])('on %s, with the cap reported', (_name, html, cut) => {
    const filtered = prefilter(html)
    expect(filtered.body.length).toBeLessThan(3_000_000)
    expect(filtered.cut).toMatch(new RegExp(`${cut}|elements`))
  })

  test('on attributes, line breaks, spans and linked data', () => {
    const deep = `<script type="application/ld+json">${'{"a":['.repeat(20_000)}</script>`
    const html = `${deep}<p class="${'a '.repeat(500_000)}">a${'<br>'.repeat(300)}b</p><img src="data:x"><table><td colspan="9999999">c</td></table>`
    const { body, head } = prefilter(html)
    expect(body).toBe('<p>a<br><br>b</p><img><table><td colspan="20">c</td></table>')
    expect(head.linked_data).toEqual([])
  })

  test('in time that is linear in the length', async () => {
    const hostile = [
      '<',
      '</',
      '<a ',
      '<a b="',
      "<a b='",
      '<!--',
      '<!',
      '<script>',
      '<title>',
      '<a b=c ',
      '<i></b>',
      '<p>',
    ]
    for (const bit of hostile) {
      const page = (length: number) => bit.repeat(length / bit.length)
      const [small, large] = [page(rounds(200_000)), page(rounds(800_000))]
      expect(
        await growth(
          () => prefilter(small),
          () => prefilter(large),
          3,
        ),
        bit,
      ).toBeLessThan(10)
    }
  })
})

import { describe, expect, test } from 'vitest'
import { rejection } from '../../../test/net/support.ts'
import type { ReadingOptions } from '../html-to-markdown/extract-page.ts'
import { readJob } from '../read-job.ts'

/** A minimal PDF: pages of lines in Helvetica, metadata, and further entries for its trailer. */
function pdfOf(
  pages: readonly (readonly string[])[],
  about: Readonly<Record<string, string>> = {},
  trailer = '',
): Buffer {
  const objects = ['<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>']
  const add = (object: string) => objects.push(object)
  const parent = 2 + 2 * pages.length
  const kids = pages.map((lines) => {
    const shown = lines.map((line) => `(${line.replace(/[\\()]/g, '\\$&')}) Tj T*`).join('\n')
    const stream = `BT /F1 12 Tf 72 720 Td 14 TL\n${shown}\nET`
    const content = add(`<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`)
    const resources = '/Resources << /Font << /F1 1 0 R >> >>'
    return add(
      `<< /Type /Page /Parent ${parent} 0 R /MediaBox [0 0 612 792] ${resources} /Contents ${content} 0 R >>`,
    )
  })
  add(`<< /Type /Pages /Kids [${kids.map((kid) => `${kid} 0 R`).join(' ')}] /Count ${kids.length} >>`)
  const root = add(`<< /Type /Catalog /Pages ${parent} 0 R >>`)
  const info = add(
    `<< ${Object.entries(about)
      .map(([name, value]) => `/${name} (${value})`)
      .join(' ')} >>`,
  )
  let written = '%PDF-1.4\n'
  const offsets = objects.map((object, index) => {
    const offset = written.length
    written += `${index + 1} 0 obj\n${object}\nendobj\n`
    return `${String(offset).padStart(10, '0')} 00000 n \n`
  })
  const size = objects.length + 1
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${offsets.join('')}`
  const end = `trailer\n<< /Size ${size} /Root ${root} 0 R /Info ${info} 0 R ${trailer} >>`
  return Buffer.from(`${written}${table}${end}\nstartxref\n${written.length}\n%%EOF\n`, 'latin1')
}

/** The trailer entry of a PDF that needs a password. */
const locked = `/Encrypt << /Filter /Standard /V 1 /R 2 /O (${'a'.repeat(32)}) /U (${'a'.repeat(32)}) /P -4 >> /ID [(${'b'.repeat(16)}) (${'b'.repeat(16)})]`

const read = (
  content_type: string | undefined,
  body: string | Buffer,
  manner: Partial<ReadingOptions> = {},
) =>
  readJob({
    url: 'https://example.com/a/',
    format: 'markdown',
    content_type,
    body: typeof body === 'string' ? Buffer.from(body) : body,
    ...manner,
  })

describe('a PDF', () => {
  test('is read with its title, author, date and pages', async () => {
    const about = { Title: 'On rivers', Author: 'Ann Author', CreationDate: 'D:20260304050607Z' }
    const document = await read(
      'application/pdf',
      pdfOf([['Water flows', 'downhill (always).'], ['The end.']], about),
    )
    expect(document).toMatchObject({
      title: 'On rivers',
      byline: 'Ann Author',
      published: '2026-03-04',
      content: 'Water flows\ndownhill (always).\n\nThe end.',
      extractor: 'pdf',
      page_count: 2,
      charset: null,
      word_count: 6,
      warnings: [],
    })
  })

  test('is recognised whatever its type claims', async () => {
    expect(await read('text/html', pdfOf([['Hello']]))).toMatchObject({ content: 'Hello', extractor: 'pdf' })
  })

  test('is read up to a maximum of pages, with a warning', async () => {
    const document = await read(
      'application/pdf',
      pdfOf(Array.from({ length: 203 }, (_, page) => [`Page ${page}`])),
    )
    expect(document.page_count).toBe(203)
    expect(document.warnings).toEqual([expect.stringMatching(/^Only the first \d+ of 203 pages/)])
  })

  test('without text has the reason no_text', async () => {
    expect(await read('application/pdf', pdfOf([[]]))).toMatchObject({
      empty_reason: 'no_text',
      page_count: 1,
    })
  })

  test.each([
    ['needs a password', pdfOf([['secret']], {}, locked), 'password'],
    ['is cut short', pdfOf([['x']]).subarray(0, 60), 'broken'],
    ['is nothing but its mark', Buffer.from('%PDF-1.7'), 'broken'],
  ])('that %s is refused', async (_, body, words) => {
    const failure = await rejection(read('application/pdf', body))
    expect(failure).toMatchObject({ code: 'upstream_invalid', message: expect.stringContaining(words) })
  })
})

describe('comma-separated values', () => {
  test.each([
    ['a,b\n1,2\n', '| a | b |\n| - | - |\n| 1 | 2 |'],
    ['a,b\r\n"x, ""y""","p|q"', '| a | b |\n| - | - |\n| x, "y" | p\\|q |'],
    ['a;b\n1;2', '| a | b |\n| - | - |\n| 1 | 2 |'],
    ['a,b\n1\n\n3,4,5', '| a | b | |\n| - | - | - |\n| 1 | | |\n| 3 | 4 | 5 |'],
    ['a,b\n1,', '| a | b |\n| - | - |\n| 1 | |'],
    ['a,b\n"two\nlines",2', '| a | b |\n| - | - |\n| two lines | 2 |'],
  ])('%j are a table', async (body, table) => {
    expect((await read('text/csv', body)).content).toBe(table)
  })

  test('with tabs are a table too', async () => {
    const { content } = await read('text/tab-separated-values; charset=utf-8', 'a\tb\n1\t2')
    expect(content).toBe('| a | b |\n| - | - |\n| 1 | 2 |')
  })

  test.each([
    ['too many of them', `a,b\n${'1,2\n'.repeat(3000)}`],
    ['a quote that never ends', `a,b\n"${'x,'.repeat(100)}`],
  ])('are returned unchanged if there are %s', async (_, body) => {
    expect((await read('text/csv', body)).content).toBe(`\`\`\`csv\n${body.trim()}\n\`\`\``)
  })

  test('are returned unchanged as text', async () => {
    expect((await read('text/csv', 'a,b\n1,2\n', { format: 'text' })).content).toBe('a,b\n1,2\n')
  })
})

describe('a feed', () => {
  const rss = `<?xml version="1.0"?><rss version="2.0" xmlns:dc="x"><channel><title>News &amp; more</title><link>https://example.com/</link>
    <item><title><![CDATA[One <b>bold</b>]]></title><link>https://example.com/1</link><pubDate>Mon, 02 Mar 2026</pubDate>
    <description>&lt;p&gt;First &lt;i&gt;words&lt;/i&gt;.&lt;/p&gt;&lt;script&gt;x&lt;/script&gt;</description></item>
    <item><title>Two</title><link>javascript:alert(1)</link></item></channel></rss>`
  const atom = `<feed xmlns="http://www.w3.org/2005/Atom"><title>Log</title>
    <entry><title>First</title><link rel="self" href="/no"/><link href="/first?a=1&amp;b=2"/><updated>2026-03-04</updated><summary>Sum.</summary></entry></feed>`

  test.each([
    [
      'application/rss+xml',
      rss,
      'News & more',
      '- [One bold](https://example.com/1) (Mon, 02 Mar 2026)\n\n  First words.\n\n- Two',
    ],
    ['text/xml', atom, 'Log', '- [First](https://example.com/first?a=1&b=2) (2026-03-04)\n\n  Sum.'],
  ])('of %s is a list of its entries', async (type, body, title, content) => {
    const document = await read(type, body)
    expect(document).toMatchObject({ title, extractor: 'feed', empty_reason: null })
    expect(document.content).toBe(content)
  })

  test('is a list as text too', async () => {
    const { content } = await read('application/atom+xml', atom, { format: 'text' })
    expect(content).toMatch(/^- First \(2026-03-04\)\s+Sum\.$/)
  })

  test('is returned up to a maximum of entries', async () => {
    const many = `<rss><channel>${'<item><title>x</title></item>'.repeat(150)}</channel></rss>`
    const { content, warnings } = await read('application/rss+xml', many)
    expect(content.split('\n')).toHaveLength(100)
    expect(warnings).toEqual([expect.stringContaining('100')])
  })

  test.each([
    ['of endless sections', '<![CDATA['.repeat(200_000)],
    ['of endless items', '<item><title>'.repeat(100_000)],
  ])('%s is read in linear time', async (_, body) => {
    expect((await read('application/rss+xml', `<rss>${body}`)).content.length).toBeGreaterThan(0)
  })
})

test('a selector for a document that is not HTML is reported', async () => {
  expect((await read('text/plain', 'x', { selector: 'p' })).warnings).toEqual([
    expect.stringContaining('selector'),
  ])
})

test.each([
  ['text/markdown', '# Title\n\n- ä\n'],
  ['text/x-python', 'print("<b>")\n'],
  ['application/xml', '<a><b>1</b></a>'],
  ['text/plain', 'a < b & c'],
])('%s is returned unchanged', async (type, body) => {
  expect(await read(type, body)).toMatchObject({ content: body, extractor: 'verbatim' })
})

test('a digest distinguishes contents', async () => {
  const [first, same, third] = await Promise.all(['a', 'a', 'b'].map((body) => read('text/plain', body)))
  expect(first?.digest).toBe(same?.digest)
  expect(first?.digest).not.toBe(third?.digest)
})

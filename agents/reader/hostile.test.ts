import { afterAll, beforeAll, expect, test } from 'vitest'
import { createExtractor, type Extractor } from './extractor.ts'

const signal = new AbortController().signal
const page = (html: string) => ({ html, url: 'https://example.com/', format: 'markdown' as const })
const row = (cells: number) => `<tr>${'<td>x</td>'.repeat(cells)}</tr>`

const pages: [name: string, html: () => string][] = [
  ['700,000 lines of code inside 48 lists', () => `${'<ul><li>'.repeat(48)}<pre>${'x\n'.repeat(700_000)}`],
  ['19,000 paragraphs inside 90 quotations', () => `${'<blockquote>'.repeat(90)}${'<p>x'.repeat(19_000)}`],
  ['50,000 nested divisions', () => '<div>'.repeat(50_000)],
  ['50,000 nested bold', () => '<b>'.repeat(50_000)],
  ['5,000 nested lists', () => '<ul><li>x'.repeat(5_000)],
  ['400 nested lists', () => '<ul><li>x'.repeat(400)],
  ['3,000 nested tables', () => '<table><tr><td>x'.repeat(3_000)],
  ['3,000 nested quotations', () => '<blockquote><p>x'.repeat(3_000)],
  ['10 MB of flat paragraphs', () => `<p>${'lorem ipsum '.repeat(40)}</p>`.repeat(20_500)],
  ['200,000 short paragraphs', () => '<p>lorem ipsum</p>'.repeat(200_000)],
  ['a table of 200,000 cells', () => `<table>${row(20).repeat(10_000)}</table>`],
  ['a table with one row of 9,000 cells', () => `<table>${row(9_000)}${row(1).repeat(5_000)}</table>`],
  [
    'a table of endless spans',
    () => `<table>${'<tr><td colspan=99999 rowspan=99999>x'.repeat(5_000)}</table>`,
  ],
  ['1 MB of attribute', () => `<div class="${'a '.repeat(500_000)}"><p>hello</p></div>`],
  ['3 MB of <', () => '<'.repeat(3_000_000)],
  ['450,000 references', () => `<p>${'&amp;&lt;&#x2a;'.repeat(150_000)}</p>`],
  ['2 MB of blanks', () => `<p>${' \n'.repeat(500_000)}${'&nbsp;'.repeat(200_000)}</p>`],
  ['300,000 line breaks', () => `<p>a${'<br>x'.repeat(300_000)}b</p>`],
  // 100,000 of each are a long proof: test/soak/hostile.test.ts.
  ['20,000 links', () => '<a href="/x">link</a> '.repeat(20_000)],
  ['20,000 links never closed', () => '<a href="/x">link '.repeat(20_000)],
  ['20,000 tags never closed', () => '<p><span><font><center>x'.repeat(20_000)],
  ['3,000 misnested tags', () => '<b><i><u><p>x</b></i></u>'.repeat(3_000)],
  [
    'deep JSON-LD',
    () => `<script type="application/ld+json">${'{"a":['.repeat(20_000)}</script><p>hello</p>`,
  ],
  ['50,000 CSS rules', () => `<style>${'.a{color:red}'.repeat(50_000)}</style><p>hello</p>`],
  [
    'ten data: images',
    () => `${`<img src="data:image/png;base64,${'A'.repeat(200_000)}">`.repeat(10)}<p>hello</p>`,
  ],
  ['5 MB of code', () => `<pre><code>${'let x = 1 &lt; 2 // *a*\n'.repeat(210_000)}</code></pre>`],
  ['1.6 MB of Markdown marks', () => `<p>${'*_`['.repeat(400_000)}</p>`],
  [
    'garbage',
    () =>
      Buffer.from(Uint8Array.from({ length: 1_000_000 }, (_, index) => (index * 7919) >> 3)).toString(
        'latin1',
      ),
  ],
]

let extractor: Extractor
beforeAll(() => {
  extractor = createExtractor({ worker: new URL('./worker.ts', import.meta.url) })
})
afterAll(() => extractor[Symbol.asyncDispose]())

test.each(pages)('%s is answered within the deadline, and so is the next page', async (_name, html) => {
  const outcome = await extractor.extract(page(html()), signal).then(
    () => 'content',
    (failure: { code: string }) => failure.code,
  )
  const next = await extractor.extract(page('<p>still here</p>'), signal)
  expect(['content', 'deadline_exceeded', 'upstream_invalid']).toContain(outcome)
  expect(next.content).toBe('still here')
})

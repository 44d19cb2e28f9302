import { describe, expect, test } from 'vitest'
import { extractPage, type Format } from './extract-page.ts'

const filler = 'It was a long sentence, with commas, of the kind that articles are made of. '.repeat(12)
const article = (inside: string, head = '') =>
  `<!doctype html><html lang="en"><head><title>A title</title>${head}</head><body><article>${inside}<p>${filler}</p></article></body></html>`
const read = (html: string, format: Format = 'markdown') =>
  extractPage({ html, url: 'https://example.com/a/b.html', format })
/** The Markdown of an article's own part, without the filler. */
const markdown = (inside: string, head = '') =>
  read(article(inside, head)).content.replace(filler.trim(), '').trim()

describe('an article', () => {
  test('is extracted from its page, with the metadata of the page', () => {
    const page = `<html lang="de"><head><title>On rivers &amp; seas | The Daily</title>
      <meta property="og:site_name" content="The Daily"><meta property="og:type" content="article">
      <meta property="og:title" content="On rivers &amp; seas"><meta name="author" content="Ann Author">
      <meta property="article:published_time" content="2026-03-04T05:06:07Z"><meta name="description" content="Water.">
      </head><body><nav><a href="/">Home</a><a href="/sport">Sport</a></nav>
      <article><h1>On rivers &amp; seas</h1><p>${filler}</p><h2>Part two</h2><p>${filler}</p></article>
      <aside>Buy our paper</aside><footer>All rights reserved</footer></body></html>`
    const result = read(page)
    expect(result).toMatchObject({
      title: 'On rivers & seas',
      byline: 'Ann Author',
      site_name: 'The Daily',
      published: '2026-03-04T05:06:07Z',
      language: 'de',
      excerpt: 'Water.',
      extractor: 'blocks',
      empty_reason: null,
      warnings: [],
    })
    expect(result.content).toContain('## Part two')
    for (const boilerplate of ['Sport', 'Buy our paper', 'rights'])
      expect(result.content).not.toContain(boilerplate)
  })

  test('has metadata in JSON-LD too', () => {
    const data = {
      '@context': 'https://schema.org',
      '@type': 'NewsArticle',
      headline: 'By data',
      author: { name: 'Dee Data' },
    }
    const head = `<script type="application/ld+json">${JSON.stringify(data)}</script>`
    expect(read(article('', head))).toMatchObject({ title: 'By data', byline: 'Dee Data' })
  })
})

describe('text that a page hides until its script runs', () => {
  const words = `<h1>On rivers</h1><p>${filler}</p><p>${filler}</p>`
  const frame = '<nav><a href="/">Home</a></nav>'

  test.each([
    ['fades in from opacity 0', `<div style="opacity:0">${words}</div>`],
    ['fades in part by part', `<div style="opacity: 0">${words}</div><div style="opacity:0">${words}</div>`],
    ['is invisible at first', `<div style="visibility:hidden;min-height:100vh">${words}</div>`],
    ['is not displayed at first', `<div style="display:none">${words}</div>`],
    ['stands beside it in <noscript>', `<noscript>${words}</noscript><script>start()</script>`],
    ['is hidden twice', `<div style="opacity:0"><div hidden>${words}</div></div>`],
  ])('is the page if there is more of it than of visible text: it %s', (_, hidden) => {
    const { content, warnings } = read(`<body>${frame}${hidden}</body>`)
    expect(content).toContain('It was a long sentence')
    expect(warnings).toEqual([expect.stringContaining('until its script runs')])
  })

  test('is the page if React streams it', () => {
    const { content, warnings } = read(
      `<body>${frame}<p>${filler}</p><div hidden id="S:2e">${words}</div></body>`,
    )
    expect(content).toContain(`${filler.trim()}\n\n${filler.trim()}\n\n${filler.trim()}`)
    expect(content).not.toContain('Home')
    expect(warnings).toEqual([])
  })

  test.each([
    ['less than what is seen', `<div style="display:none"><p>Obey me. ${'Now. '.repeat(60)}</p></div>`],
    ['without size', `<div style="font-size:0">${words.repeat(3)}</div>`],
    ['off the screen', `<div style="position:absolute;left:-9999px">${words.repeat(3)}</div>`],
  ])('is left out otherwise: %s', (_, hidden) => {
    const { content, warnings } = read(`<body><article><p>${filler}</p></article>${hidden}</body>`)
    expect(content).toBe(filler.trim())
    expect(warnings).toEqual([])
  })
})

describe('Markdown', () => {
  test.each([
    'javascript:alert(1)',
    ' JavaScript:alert(1)',
    'java&#10;script:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    'http://[',
  ])('keeps the text of a link to %s and not its URL', (href) => {
    expect(markdown(`<p>A <a href="${href}">link</a> here</p>`)).toBe('A link here')
  })
})

test('plain text keeps blocks, rows and code apart', () => {
  const html = article(
    '<h2>Head</h2><ul><li>one</li><li>two</li></ul><table><tr><td>a</td><td>b</td></tr></table><pre>x\n  y</pre>',
  )
  const text = extractPage({ html, url: 'https://example.com/', format: 'text', mode: 'full' }).content
  expect(text).toContain('Head\n\n- one\n')
  expect(text).toContain('a\tb\n')
  expect(text).toContain('x\n  y')
  expect(text).not.toContain('#')
})

test.each([
  ['style display', '<p style="color:red; DISPLAY : none">SECRET</p>'],
  ['style visibility', '<p style="visibility:hidden">SECRET</p>'],
  ['no opacity', '<p style="opacity:0">SECRET</p>'],
  ['no size', '<p style="font-size:0px">SECRET</p>'],
  ['a clipped box', '<div style="height:1px;overflow:hidden">SECRET</div>'],
  ['far off the screen', '<div style="position:absolute;left:-9999px">SECRET</div>'],
  ['the attribute', '<p hidden>SECRET</p>'],
  ['the attribute, unclosed', '<p hidden>SECRET<p>Next'],
  ['aria', '<span aria-hidden="true">SECRET</span>'],
  ['a class for screen readers', '<span class="x sr-only">SECRET</span>'],
  ['a comment', '<!-- SECRET -->'],
  ['a conditional comment', '<!--[if IE]> SECRET <![endif]-->'],
  ['a template', '<template>SECRET</template>'],
  ['a script', '<script>SECRET</script>'],
  ['a style', '<style>SECRET{}</style>'],
  ['a closed dialog', '<dialog>SECRET</dialog>'],
  ['a drawing', '<svg><title>SECRET</title><text>SECRET</text></svg>'],
  ['nested inside what is hidden', '<div hidden><div><p>x</p></div><p>SECRET</p></div>'],
  ['unicode tags', '<p>seen\u{E0053}\u{E0045}\u{E0043}\u{E0052}</p>'],
])('text hidden by %s is left out', (_name, html) => {
  const { content } = read(article(html))
  expect(content).not.toMatch(/SECRET|[\u{E0000}-\u{E007F}]/u)
  expect(content).toContain('It was a long sentence')
})

describe('an empty page has a reason', () => {
  test.each([
    [
      'js_only_page',
      '<div id="root"></div><script src="/app.js"></script><noscript>You need to enable JavaScript to run this app.</noscript>',
    ],
    ['js_only_page', '<div id="__next"><p>Loading</p></div><script>start()</script>'],
    [
      'login_wall',
      '<h1>Sign in</h1><form><input name="u"><input type="password" name="p"><button>Go</button></form><script>x</script>',
    ],
    ['no_text', '<body><img src="a.png"></body>'],
    ['no_text', ''],
  ])('%s', (reason, html) => {
    expect(read(html).empty_reason).toBe(reason)
  })

  test('and a full one with scripts and a login box has none', () => {
    const html = article(
      `<form><input type="password"></form><script>x</script><noscript>Enable JavaScript</noscript><p>${filler}</p>`,
    )
    expect(read(html).empty_reason).toBeNull()
  })
})

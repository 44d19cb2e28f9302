import { describe, expect, test } from 'vitest'
import { extractPage, type ReadingOptions } from './extract-page.ts'

const filler = 'It was a long sentence, with commas, of the kind that articles are made of. '.repeat(40)
const read = (html: string, manner: Partial<ReadingOptions> = {}) =>
  extractPage({ html, url: 'https://example.com/', format: 'markdown', ...manner })
const page = (title: string, body: string, head = '') => `<title>${title}</title>${head}<body>${body}</body>`
const sold =
  '<script type="application/ld+json">{"@type": "NewsArticle", "isAccessibleForFree": false}</script>'

test.each([
  ['blocked', page('Just a moment...', '<p>Checking your browser before accessing shop.test.</p>')],
  ['blocked', page('Attention Required! | Cloudflare', '<h1>Sorry, you have been blocked</h1>')],
  [
    'blocked',
    page('shop.test', '<p>Please verify you are a human to go on.</p><div class="g-recaptcha"></div>'),
  ],
  ['blocked', page('Access Denied', "<p>You don't have permission to access this.</p>")],
  ['blocked', page('Robot or human?', '<p>Press and hold.</p>')],
  ['blocked', page('Search', '<p>Our systems have detected unusual traffic from your computer network.</p>')],
  ['not_found', page('404 Not Found', '<h1>Not found</h1>')],
  ['not_found', page('Page not found – The Daily', '<p>Try the <a href="/">front page</a>.</p>')],
  ['not_found', page('The Daily | 404', '<p>Sorry.</p>')],
  ['not_found', page('The page you requested could not be found', '<p>Sorry.</p>')],
  ['login_wall', page('Sign in', '<form><input type="password"></form>')],
  ['paywall', page('On rivers', `<article><h1>On rivers</h1><p>${filler.slice(0, 400)}</p></article>`, sold)],
  [
    'js_only_page',
    page('App', '<div id="root"></div><noscript>Enable JavaScript.</noscript><script>go()</script>'),
  ],
  ['no_text', page('Pictures', '<img src="a.png">')],
])('%s: %s', (reason, html) => {
  expect(read(html).empty_reason).toBe(reason)
})

describe('a page with content is not empty', () => {
  test.each([
    [
      'and tells of captchas',
      page('How captchas work', `<article><p>Verify you are human. ${filler}</p></article>`),
    ],
    ['and tells of the status 404', page('404 Not Found explained', `<article><p>${filler}</p></article>`)],
    [
      'and has a login',
      page('Shop', `<form><input type="password"></form><article><p>${filler}</p></article>`),
    ],
  ])('%s', (_, html) => {
    expect(read(html)).toMatchObject({ empty_reason: null, warnings: [] })
  })

  test('a page that is not free to read has a warning', () => {
    const { empty_reason, warnings } = read(page('Rivers', `<article><p>${filler}</p></article>`, sold))
    expect(empty_reason).toBeNull()
    expect(warnings).toEqual([expect.stringContaining('not free')])
  })
})

describe('a selector', () => {
  const html = page(
    'T',
    `<article><h1>One</h1><p>${filler}</p></article><aside id="price"><b>12 €</b></aside>`,
  )

  test('returns what it matches, whatever the main content is', () => {
    expect(read(html, { selector: '#price' })).toMatchObject({
      title: 'T',
      content: '**12 €**',
      extractor: 'selector',
      empty_reason: null,
    })
  })

  test('has the reason no_match if it matches nothing', () => {
    expect(read(html, { selector: '.absent' })).toMatchObject({ content: '', empty_reason: 'no_match' })
  })
})

test('the whole page includes text beside its article, and no menus', () => {
  const html = page(
    'T',
    `<nav><a href="/">Home</a></nav><article><h1>One</h1><p>${filler}</p></article><div><p>Beside it.</p></div>`,
  )
  const { content, extractor } = read(html, { mode: 'full' })
  expect(content).toContain('Beside it.')
  expect(content).not.toContain('Home')
  expect(extractor).toBe('whole')
})

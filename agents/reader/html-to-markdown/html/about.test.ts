import { expect, test } from 'vitest'
import { aboutOf } from './about.ts'
import { parse } from './parse.ts'
import { prefilter } from './prefilter.ts'

function about(html: string) {
  const { head, body } = prefilter(html)
  return aboutOf(head, parse(body))
}
const data = (thing: object) => `<script type="application/ld+json">${JSON.stringify(thing)}</script>`

test.each([
  ['og:title before title', '<title>A | Site</title><meta property="og:title" content="A &amp; B">', 'A & B'],
  [
    'the headline of the data',
    data({ '@graph': [{ '@type': 'NewsArticle', headline: 'By data' }] }),
    'By data',
  ],
  [
    'without the site’s name',
    '<meta property="og:site_name" content="Site"><title>A title | Site</title>',
    'A title',
  ],
  [
    'the one h1 where the title holds it',
    '<title>A title - whatever</title><body><h1>A title</h1>',
    'A title',
  ],
  ['the h1 where there is no title', '<body><h1>A title</h1>', 'A title'],
])('the title is %s', (_, html, title) => {
  expect(about(html).title).toBe(title)
})

test.each([
  ['data', data({ '@type': 'Article', author: [{ name: 'Ann' }, { name: 'Bo' }] }), 'Ann, Bo'],
  ['metadata', '<meta name="author" content="Ann">', 'Ann'],
  ['a link with rel=author', '<body><p>By <a rel="author" href="/ann">Ann Author</a></p>', 'Ann Author'],
  ['what is called a byline', '<body><div class="post-byline">By Ann Author</div>', 'Ann Author'],
  ['no address', '<meta property="article:author" content="https://example.com/ann">', null],
  ['nothing', '<body><p>By nobody</p>', null],
])('the author is stated by %s', (_, html, byline) => {
  expect(about(html).byline).toBe(byline)
})

test.each([
  ['data', data({ '@type': 'WebPage', datePublished: '2026-01-02' }), '2026-01-02'],
  ['metadata', '<meta property="article:published_time" content="2026-01-03">', '2026-01-03'],
  ['the page', '<body><time datetime="2026-01-04T05:06">yesterday</time>', '2026-01-04T05:06'],
])('the day of publication is stated by %s', (_, html, published) => {
  expect(about(html).published).toBe(published)
})

test.each([
  ['its Open Graph type does', '<meta property="og:type" content="Article">', true],
  ['its data do', data({ '@graph': [{ '@type': 'NewsArticle' }] }), true],
  ['it says when it was published', '<meta property="article:published_time" content="2026-01-03">', true],
  ['it says nothing', '<title>A</title>', false],
  ['it is a list as well', data([{ '@type': 'Article' }, { '@type': 'CollectionPage' }]), false],
])('a page declares itself an article if %s', (_, html, is_article) => {
  expect(about(html).is_article).toBe(is_article)
})

test.each([
  ['is not JSON', '<script type="application/ld+json">{"@type": "Article", </script>'],
  ['has other types than it should', data({ '@type': 5, headline: {}, author: [[[]]], datePublished: {} })],
  ['is null', data([null, [null]])],
])('data that %s is ignored', (_, html) => {
  expect(about(html)).toMatchObject({ title: null, byline: null, published: null, stated: null })
})

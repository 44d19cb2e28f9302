import type { Root } from 'hast'
import { attribute, find, textOf } from './hast.ts'
import type { Head } from './head.ts'
import { isA, type Thing, thingsIn } from './linked-data.ts'
import { parse } from './parse.ts'

/** Metadata of a page; null if the page states none. */
export interface About {
  readonly title: string | null
  readonly byline: string | null
  readonly site_name: string | null
  readonly published: string | null
  readonly language: string | null
  readonly excerpt: string | null
  /** The whole text of the article, if JSON-LD has it. */
  readonly stated: string | null
  /** The page declares that it is one article, not a list of articles. */
  readonly is_article: boolean
}

type OptionalText = string | null | undefined

/** Reads JSON-LD, Open Graph and other metadata, then elements of the page itself. */
export function aboutOf(head: Head, body: Root): About {
  const things = thingsIn(head.linked_data)
  const work =
    things.find((thing) => isA(thing, /(?:Article|BlogPosting|Report|Recipe|DiscussionForumPosting)$/)) ??
    things.find((thing) => isA(thing, /(?:Page|Product|Question)$/)) ??
    {}
  const meta = (...names: string[]) =>
    names.map((name) => head.metadata.get(name)).find((value) => value !== undefined)
  const site_name = first(meta('og:site_name'), nameOf(work.publisher), meta('application-name'))
  return {
    title: titleOf(head, work, body, site_name),
    byline:
      first(
        nameOf(work.author),
        notAddress(
          meta('author', 'article:author', 'parsely-author', 'sailthru.author', 'dc.creator', 'byl'),
        ),
        bylineIn(body),
      )?.replace(/^(?:by|von|par|por)\s+/i, '') ?? null,
    site_name,
    published: first(
      textIn(work.datePublished),
      meta(
        'article:published_time',
        'datepublished',
        'date',
        'dc.date',
        'dc.date.issued',
        'parsely-pub-date',
        'pubdate',
        'publish-date',
        'sailthru.date',
        'og:published_time',
      ),
      textIn(things.find(({ datePublished }) => datePublished !== undefined)?.datePublished),
      dateIn(body),
    ),
    language: first(head.language, meta('og:locale', 'language')?.replace('_', '-'), textIn(work.inLanguage)),
    excerpt: first(
      meta('og:description', 'description', 'twitter:description', 'dc.description'),
      textIn(work.description),
    ),
    stated: textIn(things.find(({ articleBody }) => articleBody !== undefined)?.articleBody) ?? null,
    is_article: isArticle(head, things),
  }
}

const article = /(?:Article|BlogPosting|Report)$/
const several = /(?:CollectionPage|ItemList|SearchResultsPage|Product|DiscussionForumPosting|QAPage)$/

function isArticle({ metadata }: Head, things: readonly Thing[]): boolean {
  if (things.some((thing) => isA(thing, several))) return false
  return (
    metadata.get('og:type')?.toLowerCase() === 'article' ||
    metadata.has('article:published_time') ||
    things.some((thing) => isA(thing, article))
  )
}

function titleOf(head: Head, work: Thing, body: Root, site: string | null): string | null {
  const [headline, second] = find(body, 'h1')
    .map((heading) => clean(textOf(heading)))
    .filter(Boolean)
  const own = withoutSite(clean(decoded(head.title)), site)
  const stated = first(
    textIn(work.headline),
    head.metadata.get('og:title'),
    head.metadata.get('twitter:title'),
  )
  return (
    withoutSite(stated, site) ??
    (second === undefined && headline && own?.includes(headline) ? headline : own) ??
    headline ??
    null
  )
}

/** Removes ` | The site` from the end of a title. */
function withoutSite(title: string | null, site: string | null): string | null {
  if (title === null || site === null) return title
  const end = title.toLowerCase().lastIndexOf(site.toLowerCase())
  if (end < 5 || end + site.length < title.length) return title
  return title.slice(0, end).replace(/[\s|\-–—·:»/,]+$/, '') || title
}

const bylineName = /byline|(?:^|[\s_-])(?:p-)?author(?:$|[\s_-])|author[-_]?name|written-?by/i

/** A short text that the page marks as its author, without the words that often surround it. */
function bylineIn(body: Root): OptionalText {
  const marked = find(body, 'a', 'span', 'div', 'p', 'address', 'li').filter(
    (element) =>
      /^author$/i.test(attribute(element, 'itemProp')) ||
      /(?:^|\s)author(?:\s|$)/i.test(attribute(element, 'rel')) ||
      bylineName.test(`${attribute(element, 'className')} ${attribute(element, 'id')}`.slice(0, 200)),
  )
  for (const element of marked.slice(0, 20)) {
    const text = clean(textOf(element))?.replace(/^(?:written |posted )?by:?\s+/i, '')
    if (text && text.length >= 3 && text.length < 100 && !/^\d|^(?:view all|about the|leave a)/i.test(text))
      return text
  }
  return null
}

function dateIn(body: Root): OptionalText {
  return find(body, 'time')
    .map((time) => attribute(time, 'dateTime'))
    .find((date) => /^\d{4}-\d\d/.test(date))
}

function notAddress(text: OptionalText): OptionalText {
  return text && /^https?:/i.test(text) ? null : text
}

function nameOf(value: unknown): OptionalText {
  if (Array.isArray(value)) return value.map(nameOf).filter(Boolean).slice(0, 10).join(', ') || null
  if (typeof value === 'object' && value !== null) return nameOf((value as Thing).name)
  return notAddress(textIn(value))
}

function textIn(value: unknown): OptionalText {
  return typeof value === 'string' ? value : Array.isArray(value) ? textIn(value[0]) : null
}

function first(...candidates: readonly OptionalText[]): string | null {
  for (const value of candidates) {
    const text = clean(decoded(value))
    if (text) return text
  }
  return null
}

/** Decodes the character references in a piece of HTML. */
export function decoded(html: OptionalText): string | null {
  if (html === null || html === undefined) return null
  return html.includes('&') ? textOf(parse(html.replaceAll('<', '&lt;'))) : html
}

function clean(text: OptionalText): string | null {
  return text?.replace(/\s+/g, ' ').trim().slice(0, 1000) || null
}

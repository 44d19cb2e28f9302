import { z } from 'zod'
import { notBlank } from '../../schemas/names.ts'
import { type WikiPage, type WikiQuery, whole } from './answer.ts'
import { clip, plain } from './text.ts'

export const Words = z
  .string()
  .trim()
  .min(1)
  .max(300)
  .meta({ ...notBlank, examples: ['Alan Turing'] })

/** One page that a search found. */
export const PageHit = z
  .object({
    page_id: z.int().positive(),
    title: z.string(),
    snippet: z.string().describe('The text around the words in the page, as plain text.'),
    url: z.url(),
    word_count: z.int().optional(),
    extract: z.string().optional().describe('The first sentences of the page, as plain text.'),
    description: z.string().optional(),
  })
  .meta({ id: 'PageHit' })

/** Query of a search, by a generator: the hits come with their properties in one answer. */
export function searchParams(query: string, limit: number) {
  return {
    generator: 'search',
    gsrsearch: query,
    gsrlimit: limit,
    gsrwhat: 'text',
    gsrinfo: 'totalhits|suggestion',
    gsrprop: 'snippet|wordcount',
    exintro: 1,
    explaintext: 1,
    exlimit: 'max',
    inprop: 'url',
  }
}

/**
 * MediaWiki returns hits by id; `index` is the position in the search result, on a page or on the redirect that was
 * hit.
 */
export function ranked({ pages, redirects }: Pick<WikiQuery, 'pages' | 'redirects'>): WikiPage[] {
  const positions = new Map(redirects.map(({ to, index }) => [to, index]))
  const positionOf = ({ index, title = '' }: WikiPage) =>
    index ?? positions.get(title) ?? Number.MAX_SAFE_INTEGER
  return pages.toSorted((left, right) => positionOf(left) - positionOf(right))
}

/** Renders a hit. Throws Failure `upstream_invalid` if a field is missing. */
export function hit(found: WikiPage): z.output<typeof PageHit> {
  const page = whole(found)
  const extract = clip(page.extract ?? '', { sentences: 3, characters: 600 }).text
  return {
    page_id: page.pageid,
    title: page.title,
    snippet: plain(page.snippet ?? ''),
    url: page.fullurl,
    ...(page.wordcount !== undefined && { word_count: page.wordcount }),
    ...(extract !== '' && { extract }),
    ...(page.description !== undefined && { description: page.description }),
  }
}

import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { notBlank } from '../../schemas/names.ts'
import { input, output } from '../../schemas/shape.ts'
import { type Page, whole } from './answer.ts'
import { Lang, provenance, provenanceOf } from './fields.ts'
import type { MediaWiki } from './mediawiki.ts'
import { clip, plain } from './text.ts'

export const Words = z.string().trim().min(1).max(300).meta(notBlank)

const Input = z.strictObject({
  query: Words.describe('Words to search for.'),
  limit: z.int().min(1).max(20).default(5).describe('How many pages, at most.'),
  lang: Lang,
})

export const Hit = z.object({
  page_id: z.int().positive(),
  title: z.string(),
  snippet: z.string().describe('Where the words stand in the page, as plain text.'),
  url: z.url(),
  word_count: z.int().optional(),
  extract: z.string().optional().describe('The first sentences of the page, as plain text.'),
  description: z.string().optional(),
})

const Output = z.object({
  pages: z.array(Hit).describe('The best first.'),
  total: z.int().optional(),
  suggestion: z.string().optional().describe('What the wiki would rather search for.'),
  ...provenance,
})

export type SearchPage = Action<z.output<typeof Input>, z.output<typeof Output>>

/** Action `search_page`: the pages that hold the words, in one round trip. Throws what the wiki's client throws. */
export function searchPage(wiki: MediaWiki): SearchPage {
  return defineAction({
    name: 'search_page',
    title: 'Search pages',
    description: 'Search encyclopedia pages.',
    input: input(Input),
    output: output(Output),
    access: { scope: 'a2a:call' },
    effect: 'read',
    advertised: true,
    async run({ query, limit, lang }, { signal }) {
      const answer = await wiki.query(lang, params(query, limit), signal)
      const { general, pages, searchinfo } = answer.value
      const best = pages.toSorted((one, other) => (one.index ?? 0) - (other.index ?? 0))
      return {
        pages: best.map(hit),
        ...(searchinfo?.totalhits !== undefined && { total: searchinfo.totalhits }),
        ...(searchinfo?.suggestion !== undefined && { suggestion: searchinfo.suggestion }),
        ...provenanceOf(answer, 'Pages', general.base),
      }
    },
  })
}

function params(query: string, limit: number) {
  return {
    generator: 'search',
    gsrsearch: query,
    gsrlimit: limit,
    gsrwhat: 'text',
    gsrinfo: 'totalhits|suggestion',
    gsrprop: 'snippet|wordcount',
    prop: 'extracts|info|description',
    exintro: 1,
    explaintext: 1,
    exlimit: 'max',
    inprop: 'url',
  }
}

function hit(found: Page): z.output<typeof Hit> {
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

import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { input, output } from '../../schemas/shape.ts'
import { upstreamCallOf } from '../../src/common/upstream.ts'
import { Lang, provenance, provenanceOf, ToolLang } from './fields.ts'
import { hit, PageHit, ranked, searchParams, Words } from './hit.ts'
import type { MediaWiki } from './mediawiki.ts'

const Input = z.strictObject({
  query: Words.describe('Words to search for.'),
  limit: z.int().min(1).max(20).default(5).describe('Maximum number of pages.'),
  lang: Lang,
})

const Output = z.object({
  pages: z.array(PageHit).describe('The best first.'),
  total: z.int().optional(),
  suggestion: z.string().optional().describe('The search that the wiki suggests instead.'),
  ...provenance,
})

/**
 * Action `search_page`: the pages that contain the words, in one round trip. Throws the errors of the wiki's client.
 */
export function searchPage(wiki: MediaWiki): Action<z.output<typeof Input>, z.output<typeof Output>> {
  return defineAction({
    name: 'search_page',
    title: 'Search pages',
    description: 'Search encyclopedia pages.',
    input: input(Input),
    output: output(Output),
    access: { scope: 'a2a:call' },
    effect: 'read',
    hasForeign: () => true,
    advertised: true,
    tool: {
      description: 'Searches an encyclopedia for pages about a subject. Example: {"query": "Ada Lovelace"}.',
      input: input(Input.pick({ query: true }).extend({ lang: ToolLang })),
    },
    async run({ query, limit, lang }, context) {
      const call = upstreamCallOf(context)
      const params = { ...searchParams(query, limit), prop: 'extracts|info|description' }
      const answer = await wiki.query(lang, params, call)
      const { general, searchinfo } = answer.value
      return {
        pages: ranked(answer.value).map(hit),
        ...(searchinfo?.totalhits !== undefined && { total: searchinfo.totalhits }),
        ...(searchinfo?.suggestion !== undefined && { suggestion: searchinfo.suggestion }),
        ...provenanceOf(answer, 'Pages', general.base),
      }
    },
  })
}

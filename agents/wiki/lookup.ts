import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { input, output } from '../../schemas/shape.ts'
import { type Cached, type UpstreamCall, upstreamCallOf } from '../../src/common/upstream.ts'
import type { WikiPage, WikiQuery } from './answer.ts'
import { Lang, provenance, provenanceOf } from './fields.ts'
import { hit, PageHit, ranked, searchParams, Words } from './hit.ts'
import type { MediaWiki } from './mediawiki.ts'
import { PageSummary, summarise, summaryParams } from './summary.ts'

const Input = z.strictObject({ query: Words.describe('Page title or search term.'), lang: Lang })

const Output = z
  .object({
    page: PageSummary.nullable().describe(
      'The page of that title, else the best hit; null when nothing is found.',
    ),
    results: z.array(PageHit).describe('The other hits.'),
    ...provenance,
  })
  .meta({ id: 'PageLookup' })

interface Best {
  readonly answer: Cached<WikiQuery>
  readonly page: WikiPage
  /** The redirect that led to the page. */
  readonly from?: string
}

/**
 * Action `lookup`: the page that a title or a search term means, and the other hits. One round trip returns the hits
 * with their summaries and the title closest to the words. A second one is made if the page of that title is not among
 * the hits. Used by POST /a2a/utility/wiki. Throws the errors of the wiki's client.
 */
export function lookup(wiki: MediaWiki): Action<z.output<typeof Input>, z.output<typeof Output>> {
  return defineAction({
    name: 'lookup',
    title: 'Look up an encyclopedia page',
    description: 'Get the page that a title or a search term means, and the other hits.',
    input: input(Input),
    output: output(Output),
    access: { scope: 'a2a:call' },
    effect: 'read',
    hasForeign: () => true,
    advertised: false,
    async run({ query, lang }, context) {
      const call = upstreamCallOf(context)
      const params = { ...searchParams(query, 6), ...summaryParams, ...titleParams(query) }
      const answer = await wiki.query(lang, params, call)
      const hits = ranked(answer.value)
      const best = await bestOf(answer, hits, lang, call)
      return {
        page: best && (await summarise(wiki, best.answer, best.page, { lang, from: best.from }, call)),
        results: hits.filter(({ pageid }) => pageid !== best?.page.pageid).map(hit),
        ...provenanceOf(answer, 'Pages', answer.value.general.base),
      }
    },
  })

  async function bestOf(
    answer: Cached<WikiQuery>,
    hits: readonly WikiPage[],
    lang: string,
    call: UpstreamCall,
  ): Promise<Best | null> {
    const [first] = hits
    const fallback = first ? { answer, page: first } : null
    const near = answer.value.search[0]?.title
    if (near === undefined) return fallback
    const to = endOf(near, answer.value)
    const page = hits.find(({ title }) => title === to)
    if (page) return { answer, page, ...(to !== near && { from: near }) }
    return (await ofTitle(near, lang, call)) ?? fallback
  }

  async function ofTitle(titles: string, lang: string, call: UpstreamCall): Promise<Best | null> {
    const answer = await wiki.query(lang, { ...summaryParams, titles }, call)
    const [page] = answer.value.pages
    if (page?.pageid === undefined || page.missing) return null
    const from = answer.value.redirects[0]?.from
    return { answer, page, ...(from !== undefined && { from }) }
  }
}

/** The page that a title means, in any usual spelling, redirects included. */
function titleParams(query: string) {
  return { list: 'search', srsearch: query, srwhat: 'nearmatch', srlimit: 1, srprop: '', srinfo: '' }
}

function endOf(title: string, { redirects }: WikiQuery): string {
  return redirects.find(({ from }) => from === title)?.to ?? title
}

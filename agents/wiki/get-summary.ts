import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { Failure } from '../../schemas/failure.ts'
import { input, output } from '../../schemas/shape.ts'
import { upstreamCallOf } from '../../src/common/upstream.ts'
import type { WikiPage, WikiQuery } from './answer.ts'
import { Lang, ToolLang } from './fields.ts'
import type { MediaWiki } from './mediawiki.ts'
import { PageSummary, summarise, summaryParams } from './summary.ts'

const digits = /^[1-9]\d{0,9}$/

/** The titles that MediaWiki accepts; `#` would silently name another page. */
const Title = z
  .string()
  .trim()
  .min(1)
  .max(255)
  .regex(/^[^#<>[\]|{}\p{Cc}]+$/u, 'A title contains none of # < > [ ] | { }.')

const Fields = z.strictObject({
  page_id: z
    .union([z.int().positive(), z.string().regex(digits)], 'Give the id of a page, such as 736.')
    .optional()
    .describe('Id of the page, as search_page returns it.'),
  title: Title.optional().describe('Title of the page, instead of its id.'),
  lang: Lang,
  sentences: z
    .int()
    .min(1)
    .max(10)
    .optional()
    .describe('Number of sentences; the whole introduction if absent.'),
})
const Input = Fields.refine(({ page_id, title }) => (page_id === undefined) !== (title === undefined), {
  error: 'Give either a page_id or a title.',
  path: ['page_id'],
})

type GetSummary = Action<z.output<typeof Input>, z.output<typeof PageSummary>>

/**
 * Action `get_summary`: the introduction of one page. Throws `not_found`, `invalid_request` and the errors of the
 * wiki's client.
 */
export function getSummary(wiki: MediaWiki): GetSummary {
  return defineAction({
    name: 'get_summary',
    title: 'Get a summary',
    description: 'Get an article summary.',
    input: input(Input),
    output: output(PageSummary),
    access: { scope: 'a2a:call' },
    effect: 'read',
    hasForeign: () => true,
    advertised: true,
    tool: {
      description: 'Gets the introduction of an encyclopedia article. Example: {"title": "Ada Lovelace"}.',
      input: input(
        z.object({
          page_id: z.int().optional(),
          title: Fields.shape.title,
          lang: ToolLang,
        }),
      ),
    },
    async run({ page_id, title, lang, sentences }, context) {
      const call = upstreamCallOf(context)
      const reference = page_id === undefined ? { titles: title ?? '' } : { pageids: Number(page_id) }
      const answer = await wiki.query(lang, { ...summaryParams, ...reference }, call)
      const page = existing(answer.value, title ?? String(page_id))
      const from = answer.value.redirects[0]?.from
      return summarise(wiki, answer, page, { lang, sentences, from }, call)
    },
  })
}

function existing({ pages }: WikiQuery, reference: string): WikiPage {
  const [page] = pages
  if (page?.invalid) throw new Failure('invalid_request', `“${reference}” cannot be a title of this wiki.`)
  if (page && !page.missing && page.pageid !== undefined) return page
  throw new Failure('not_found', `The wiki has no page “${reference}”.`, {
    hint: 'search_page finds pages by their words.',
  })
}

import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { Failure } from '../../schemas/failure.ts'
import { input, output } from '../../schemas/shape.ts'
import { type Query, whole } from './answer.ts'
import { isDisambiguation, Option, optionsOf } from './disambiguation.ts'
import { Lang, provenance, provenanceOf } from './fields.ts'
import type { MediaWiki } from './mediawiki.ts'
import { clip } from './text.ts'

const longest = 8_000
const digits = /^[1-9]\d{0,9}$/

/** What MediaWiki takes as one title; `#` would silently name another page. */
export const Title = z
  .string()
  .trim()
  .min(1)
  .max(255)
  .regex(/^[^#<>[\]|{}\p{Cc}]+$/u, 'A title has none of # < > [ ] | { }.')

const Input = z
  .strictObject({
    page_id: z
      .union([z.int().positive(), z.string().regex(digits)], 'Give the id of a page, such as 736.')
      .optional()
      .describe('Id of the page, as search_page gives it.'),
    title: Title.optional().describe('Title of the page, instead of its id.'),
    lang: Lang,
    sentences: z
      .int()
      .min(1)
      .max(10)
      .optional()
      .describe('How many sentences; the whole introduction if absent.'),
  })
  .refine(({ page_id, title }) => (page_id === undefined) !== (title === undefined), {
    error: 'Give either a page_id or a title.',
    path: ['page_id'],
  })

export const Summary = z.object({
  page_id: z.int().positive(),
  title: z.string(),
  lang: z.string(),
  extract: z.string().describe('The introduction, as plain text.'),
  truncated: z.boolean(),
  description: z.string().optional(),
  url: z.url(),
  permanent_url: z.url().describe('The very revision that was read.'),
  revision_id: z.int().positive(),
  last_modified: z.iso.datetime(),
  thumbnail: z.object({ url: z.url(), width: z.int(), height: z.int() }).optional(),
  is_disambiguation: z.boolean(),
  options: z.array(Option).describe('The pages a disambiguation page links to.'),
  redirected_from: z.string().optional(),
  ...provenance,
})

export type GetSummary = Action<z.output<typeof Input>, z.output<typeof Summary>>

/** Action `get_summary`: the introduction of one page. Throws `not_found`, `invalid_request` and what the wiki's client throws. */
export function getSummary(wiki: MediaWiki): GetSummary {
  return defineAction({
    name: 'get_summary',
    title: 'Get a summary',
    description: 'Get an article summary.',
    input: input(Input),
    output: output(Summary),
    access: { scope: 'a2a:call' },
    effect: 'read',
    advertised: true,
    async run({ page_id, title, lang, sentences }, { signal }) {
      const asked = page_id === undefined ? { titles: title ?? '' } : { pageids: Number(page_id) }
      const answer = await wiki.query(lang, { ...params, ...asked }, signal)
      const { page, revision } = existing(answer.value, title ?? String(page_id))
      const { text, truncated } = clip(page.extract ?? '', { sentences, characters: longest })
      const is_disambiguation = isDisambiguation(page)
      const from = answer.value.redirects[0]?.from
      return {
        page_id: page.pageid,
        title: page.title,
        lang: wiki.by_language ? lang : (page.pagelanguage ?? lang),
        extract: text,
        truncated,
        ...(page.description !== undefined && { description: page.description }),
        url: page.fullurl,
        permanent_url: permanent(page.fullurl, revision.revid),
        revision_id: revision.revid,
        last_modified: revision.timestamp,
        ...(page.thumbnail && { thumbnail: thumbnail(page.thumbnail) }),
        is_disambiguation,
        options: is_disambiguation ? await optionsOf(wiki, lang, page.pageid, signal) : [],
        ...(from !== undefined && { redirected_from: from }),
        ...provenanceOf(answer, page.title, page.fullurl),
      }
    },
  })
}

const params = {
  prop: 'extracts|info|pageprops|revisions|pageimages|description|categories',
  exintro: 1,
  explaintext: 1,
  inprop: 'url',
  rvprop: 'ids|timestamp',
  piprop: 'thumbnail',
  pithumbsize: 320,
  cllimit: 'max',
}

function existing({ pages }: Query, asked: string) {
  const [page] = pages
  if (page?.invalid) throw new Failure('invalid_request', `“${asked}” cannot be a title of this wiki.`)
  if (!page || page.missing || page.pageid === undefined) {
    throw new Failure('not_found', `The wiki has no page “${asked}”.`, {
      hint: 'search_page finds pages by their words.',
    })
  }
  const revision = page.revisions?.[0]
  if (!revision) throw new Failure('upstream_invalid', 'The wiki sent a page without its revision.')
  return { page: whole(page), revision }
}

function permanent(url: string, revision: number): string {
  const address = new URL(url)
  address.searchParams.set('oldid', String(revision))
  return address.href
}

function thumbnail({ source, width, height }: { source: string; width: number; height: number }) {
  return { url: source, width, height }
}

import { z } from 'zod'
import { Failure } from '../../schemas/failure.ts'
import type { Cached, UpstreamCall } from '../../src/common/upstream.ts'
import { type WikiPage, type WikiQuery, whole } from './answer.ts'
import { isDisambiguation, optionsOf, PageOption } from './disambiguation.ts'
import { provenance, provenanceOf } from './fields.ts'
import type { MediaWiki } from './mediawiki.ts'
import { clip } from './text.ts'

const maxCharacters = 8_000

export const PageSummary = z
  .object({
    page_id: z.int().positive(),
    title: z.string(),
    lang: z.string(),
    extract: z.string().describe('The introduction, as plain text.'),
    truncated: z.boolean(),
    description: z.string().optional(),
    url: z.url(),
    permanent_url: z.url().describe('The exact revision that was read.'),
    revision_id: z.int().positive(),
    last_modified: z.iso.datetime(),
    thumbnail: z.object({ url: z.url(), width: z.int(), height: z.int() }).optional(),
    is_disambiguation: z.boolean(),
    options: z.array(PageOption).describe('The pages to which a disambiguation page links.'),
    redirected_from: z.string().optional(),
    ...provenance,
  })
  .meta({ id: 'PageSummary' })

/** Query parameters for the properties of a summary. */
export const summaryParams = {
  prop: 'extracts|info|pageprops|revisions|pageimages|description|categories',
  exintro: 1,
  explaintext: 1,
  inprop: 'url',
  rvprop: 'ids|timestamp',
  piprop: 'thumbnail',
  pithumbsize: 320,
  cllimit: 'max',
}

/**
 * The summary of a page in an answer to `summaryParams`, reached by a redirect from `from` or directly. The options of
 * a disambiguation page need a second request. Throws Failure `upstream_invalid` for an incomplete page, and the
 * errors of the wiki's client.
 */
export async function summarise(
  wiki: MediaWiki,
  answer: Cached<WikiQuery>,
  found: WikiPage,
  requested: {
    readonly lang: string
    readonly sentences?: number | undefined
    readonly from?: string | undefined
  },
  call: UpstreamCall,
): Promise<z.output<typeof PageSummary>> {
  const { lang, sentences, from } = requested
  const page = whole(found)
  const revision = page.revisions?.[0]
  if (!revision) throw new Failure('upstream_invalid', 'The wiki sent a page without its revision.')
  const { text, truncated } = clip(page.extract ?? '', { sentences, characters: maxCharacters })
  const is_disambiguation = isDisambiguation(page)
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
    options: is_disambiguation ? await optionsOf(wiki, lang, page.pageid, call) : [],
    ...(from !== undefined && { redirected_from: from }),
    ...provenanceOf(answer, page.title, page.fullurl),
  }
}

function permanent(url: string, revision: number): string {
  const address = new URL(url)
  address.searchParams.set('oldid', String(revision))
  return address.href
}

function thumbnail({ source, width, height }: { source: string; width: number; height: number }) {
  return { url: source, width, height }
}

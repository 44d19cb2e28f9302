import { z } from 'zod'
import type { UpstreamCall } from '../../src/common/upstream.ts'
import { type WikiPage, whole } from './answer.ts'
import type { MediaWiki } from './mediawiki.ts'

export const PageOption = z
  .object({
    page_id: z.int().positive(),
    title: z.string(),
    url: z.url(),
    description: z.string().optional(),
  })
  .meta({ id: 'PageOption' })

/** The Disambiguator extension marks such pages; without it, the usual category of an English wiki does. */
export function isDisambiguation({ pageprops, categories }: WikiPage): boolean {
  if (pageprops && 'disambiguation' in pageprops) return true
  return (categories ?? []).some(({ title }) =>
    /^[^:]+:(all )?(article )?disambiguation( pages)?$/i.test(title),
  )
}

/** The articles that a page links to, by title; at most 50, without pages that do not exist. */
export async function optionsOf(
  wiki: MediaWiki,
  lang: string,
  page_id: number,
  call: UpstreamCall,
): Promise<z.output<typeof PageOption>[]> {
  const answer = await wiki.query(lang, { ...params, pageids: page_id }, call)
  return answer.value.pages
    .filter(({ pageid }) => pageid !== undefined && pageid !== page_id)
    .map(option)
    .toSorted((left, right) => (left.title < right.title ? -1 : 1))
}

const params = {
  generator: 'links',
  gplnamespace: 0,
  gpllimit: 50,
  prop: 'info|description',
  inprop: 'url',
}

function option(found: WikiPage): z.output<typeof PageOption> {
  const { pageid, title, fullurl, description } = whole(found)
  return { page_id: pageid, title, url: fullurl, ...(description !== undefined && { description }) }
}

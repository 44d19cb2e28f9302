import { z } from 'zod'
import { CacheState, Source } from '../../schemas/source.ts'
import type { Cached } from '../../src/common/upstream.ts'
import type { WikiQuery } from './answer.ts'

/** The language of the wiki: the part of its host name, never a whole host name. */
export const Lang = z
  .string()
  .max(12)
  .regex(/^[a-z][a-z-]*[a-z]$/, 'Use a language code of the wiki, such as en or de.')
  .default('en')
  .describe('Language of the wiki, such as en or de; ignored by a wiki with one language.')

/** The language as tools show it to language models. */
export const ToolLang = Lang.describe('Language, such as en or de.')

const License = z.object({ name: z.string(), url: z.string() }).meta({ id: 'WikiLicense' })

/** The provenance fields of every answer. */
export const provenance = {
  source: Source,
  license: License.nullable().describe("The wiki's licence; null if it states none."),
  attribution: z.string().describe('The attribution to show beside the text.'),
  fetched_at: z.iso.datetime(),
  cache: CacheState,
  warnings: z.array(z.string()),
}

/** Renders the provenance of an answer; `title` and `url` are of the page, or of the wiki. */
export function provenanceOf(answer: Cached<WikiQuery>, title: string, url: string) {
  const { general, rightsinfo } = answer.value
  const license = licenseOf(rightsinfo)
  const rights = license ? `, ${license.name}` : ''
  const warnings = answer.in_trouble
    ? [`The wiki does not answer now; this is its answer of ${answer.cache.age_s} seconds ago.`]
    : []
  return {
    source: { name: general.sitename, url: general.base, provider: 'mediawiki' },
    license,
    attribution: `${title}, by the contributors of ${general.sitename} (${url})${rights}`,
    fetched_at: new Date(answer.at).toISOString(),
    cache: answer.cache,
    warnings,
  }
}

function licenseOf(rights: WikiQuery['rightsinfo']): z.infer<typeof License> | null {
  const absolute = rights.url.startsWith('//') ? `https:${rights.url}` : rights.url
  const url = /^https?:\/\//.test(absolute) ? absolute : ''
  return rights.text === '' && url === '' ? null : { name: rights.text || url, url }
}

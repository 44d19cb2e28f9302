import { z } from 'zod'
import { Failure } from '../../schemas/failure.ts'

const WebUrl = z.url({ protocol: /^https?$/ })
const Id = z.int().positive()

/** A page as MediaWiki describes it (formatversion 2); its fields depend on the requested `prop`. */
const WikiPage = z.object({
  pageid: Id.optional(),
  title: z.string().optional(),
  missing: z.boolean().optional(),
  invalid: z.boolean().optional(),
  index: z.int().optional(),
  snippet: z.string().max(20_000).optional(),
  wordcount: z.int().nonnegative().optional(),
  extract: z.string().optional(),
  description: z.string().optional(),
  fullurl: WebUrl.optional(),
  pagelanguage: z.string().optional(),
  pageprops: z.record(z.string(), z.unknown()).optional(),
  revisions: z.array(z.object({ revid: Id, timestamp: z.iso.datetime() })).optional(),
  thumbnail: z.object({ source: WebUrl, width: Id, height: Id }).optional(),
  categories: z.array(z.object({ title: z.string() })).optional(),
})
export type WikiPage = z.infer<typeof WikiPage>

const Site = z.object({ sitename: z.string(), base: WebUrl })

const WikiQuery = z.object({
  general: Site,
  rightsinfo: z.object({ url: z.string(), text: z.string() }),
  pages: z.array(WikiPage).default([]),
  /** The result of list=search: the page that best matches the words as a title. */
  search: z.array(z.object({ title: z.string() })).default([]),
  redirects: z.array(z.object({ from: z.string(), to: z.string(), index: z.int().optional() })).default([]),
  searchinfo: z
    .object({ totalhits: z.int().nonnegative().optional(), suggestion: z.string().optional() })
    .optional(),
})
export type WikiQuery = z.infer<typeof WikiQuery>

const WikiRefusal = z.object({ code: z.string(), text: z.string().optional(), info: z.string().optional() })
export type WikiRefusal = z.infer<typeof WikiRefusal>

const Answer = z.union([
  z.object({ errors: z.array(WikiRefusal).min(1) }).transform(({ errors }) => ({ refusal: errors[0] })),
  z.object({ error: WikiRefusal }).transform(({ error }) => ({ refusal: error })),
  z.object({ query: WikiQuery }),
])

/** Reads the body of an action=query answer. Throws Failure `upstream_invalid` for anything else. */
export function readAnswer(body: Uint8Array): { refusal?: WikiRefusal | undefined; query?: WikiQuery } {
  const answer = Answer.safeParse(parse(body))
  if (answer.success) return answer.data
  throw new Failure('upstream_invalid', 'The wiki did not send an answer to a query.', {}, answer.error)
}

/** Returns a page that exists. Throws Failure `upstream_invalid` if the wiki left out a requested field. */
export function whole(page: WikiPage): WikiPage & { pageid: number; title: string; fullurl: string } {
  const { pageid, title, fullurl } = page
  if (pageid === undefined || title === undefined || fullurl === undefined) {
    throw new Failure('upstream_invalid', 'The wiki sent a page without its id, title or address.')
  }
  return { ...page, pageid, title, fullurl }
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch (cause) {
    throw new Failure('upstream_invalid', 'The wiki did not answer with JSON.', {}, cause)
  }
}

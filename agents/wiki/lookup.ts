import { z } from 'zod'
import { type Action, type Context, defineAction } from '../../schemas/action.ts'
import { Failure } from '../../schemas/failure.ts'
import { input, output } from '../../schemas/shape.ts'
import { Lang } from './fields.ts'
import { type GetSummary, Summary, Title } from './get-summary.ts'
import { Hit, type SearchPage, Words } from './search-page.ts'

const Input = z.strictObject({ query: Words.describe('Page title or search term.'), lang: Lang })

const Output = z.object({
  page: Summary.nullable().describe('The page of that title, else the best hit; null when nothing is found.'),
  results: z.array(Hit).describe('The other hits.'),
})

/** Action `lookup`: the page that a title or a search term means, and the other hits. It stands behind POST /a2a/utility/wiki. */
export function lookup(
  search: SearchPage,
  summary: GetSummary,
): Action<z.output<typeof Input>, z.output<typeof Output>> {
  return defineAction({
    name: 'lookup',
    title: 'Look up',
    description: 'Get the page that a title or a search term means, and the other hits.',
    input: input(Input),
    output: output(Output),
    access: { scope: 'a2a:call' },
    effect: 'read',
    advertised: false,
    async run({ query, lang }, context) {
      const title = Title.safeParse(query)
      const [titled, { pages }] = await Promise.all([
        title.success ? orNull(summary.run({ title: title.data, lang }, context)) : null,
        search.run({ query, lang, limit: 6 }, context),
      ])
      const page = titled ?? (await best(pages, lang, context))
      return { page, results: pages.filter(({ page_id }) => page_id !== page?.page_id) }
    },
  })

  async function best(pages: readonly { page_id: number }[], lang: string, context: Context<never>) {
    const first = pages[0]
    return first ? orNull(summary.run({ page_id: first.page_id, lang }, context)) : null
  }
}

async function orNull<Value>(promise: Promise<Value>): Promise<Value | null> {
  try {
    return await promise
  } catch (thrown) {
    const absent = thrown instanceof Failure && ['not_found', 'invalid_request'].includes(thrown.code)
    if (absent) return null
    throw thrown
  }
}

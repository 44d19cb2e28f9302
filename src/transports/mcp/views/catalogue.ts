import { knownCategories } from '../../../../schemas/categories.ts'
import { counted } from '../../../../schemas/counted.ts'
import type { AgentPage } from '../../../../schemas/search.ts'
import { monotonic } from '../../../common/clock.ts'
import type { Ask } from './ask.ts'
import type { Tool } from './tools.ts'

interface CatalogueOptions {
  readonly tools: ReadonlyMap<string, Tool>
  /** Hosted agents that lack a setting, so that each call of their tools fails. */
  readonly unconfigured?: readonly string[] | undefined
  readonly ask: Ask
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

/** The result of `tools/list`: frozen, and replaced only when its text changes. */
export type Catalogue = () => Promise<{ readonly tools: readonly object[] }>

/** Time between two reads of the listed agents, in milliseconds. */
const fresh = 10_000
/** Maximum time to wait for a description, in milliseconds. */
const timeout = 1000
const maxCategories = 6
const minAgents = 10
/** Before the description of a tool whose calls all fail, so that a model takes another one. */
const notConfigured = 'Fails until the operator of this gateway configures it.'

/**
 * The tools, with a rough count of the listed agents in the description of search_agents. The count is refreshed
 * on demand when it is ten seconds old.
 */
export function createCatalogue({ tools, unconfigured = [], ask, clock }: CatalogueOptions): Catalogue {
  const listings = [...tools.values()].map(({ listing, agent }) =>
    agent !== undefined && unconfigured.includes(agent)
      ? { ...listing, description: `${notConfigured} ${listing.description}` }
      : listing,
  )
  const search = tools.get('search_agents')?.listing
  // A clock that was set back would keep the description as long.
  const time = monotonic(clock)
  let words: string | undefined
  let current = Object.freeze({ tools: listings as readonly object[] })
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined

  async function refresh(): Promise<void> {
    readAt = time()
    const exchange = {
      caller: { client: 'local' as const, identify: () => null },
      signal: AbortSignal.timeout(timeout),
      notify: async () => {},
    }
    const input = { sort: 'name', limit: 1, facets: true }
    // If the read fails, the previous description is used.
    const found = await ask('search_agents', input, exchange).catch(() => undefined)
    const now = found === undefined ? undefined : wordsOf(found as AgentPage)
    if (now === undefined || now === words) return
    words = now
    const described = listings.map((listing) =>
      listing === search ? { ...listing, description: `${listing.description} ${now}` } : listing,
    )
    current = Object.freeze({ tools: described })
  }

  return async () => {
    if (!search) return current
    if (time() - readAt >= fresh) {
      reading ??= refresh().finally(() => {
        reading = undefined
      })
    }
    await reading
    return current
  }
}

/** Rounds to two significant digits: the text of a prompt must not change with each new agent. */
function wordsOf({ total, facets }: AgentPage): string {
  const rounded = (count: number) => Number(count.toPrecision(2))
  const largest = knownCategories(facets)
    .filter(([, count]) => count >= minAgents)
    .toSorted(([a, many], [b, few]) => rounded(few) - rounded(many) || (a < b ? -1 : 1))
    .slice(0, maxCategories)
    .map(([name]) => name)
    .toSorted()
  const count = counted(
    total,
    'agent',
    `${total >= 100 ? 'About ' : ''}${rounded(total).toLocaleString('en-US')}`,
  )
  const most =
    largest.length > 0
      ? `, most of them in ${largest.length === 1 ? 'the category' : 'the categories'} ${largest.join(', ')}`
      : ''
  return `${count} ${total === 1 ? 'is' : 'are'} listed${most}.`
}

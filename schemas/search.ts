import { z } from 'zod'
import { BriefHit, Detail } from './brief.ts'
import { SearchHit } from './card.ts'
import { type FacetName, facetNames, filterShape } from './entry-fields.ts'
import { FederationMode, federatedShape } from './federation.ts'
import { notBlank } from './names.ts'
import { cursor, nextCursor } from './paging.ts'

/** The filters, one for each filterable field of an entry, by the names that callers use. */
const Filters = z.strictObject(filterShape).partial().meta({ id: 'SearchFilters' })

const fields = {
  limit: z.int().min(1).max(100).default(5).describe('Maximum number of agents, 1 to 100.'),
  filters: Filters.optional(),
  cursor,
  sort: z.enum(['relevance', 'newest', 'name']).meta({ id: 'Sort' }).default('relevance'),
  facets: z
    .boolean()
    .default(false)
    .describe(`Count ${facetNames.join(', ')} over all matching agents.`),
  facet_choices: z
    .boolean()
    .optional()
    .describe(
      'With facets: count the values of a filtered field without its own filter, so that each count says what its value would find. Tags are counted with theirs: all must match.',
    ),
  discovery: z
    .boolean()
    .optional()
    .describe('Show for each agent the names of its capabilities and requests that it serves.'),
  exact: z
    .boolean()
    .optional()
    .describe('Search for the words as they are written, without corrections and synonyms.'),
  min_score: z.number().min(0).max(1).optional().describe('Leave out agents with a lower score, 0 to 1.'),
  max_tokens: z
    .int()
    .min(50)
    .max(100_000)
    .optional()
    .describe('End the page if the answer would exceed about this many language-model tokens.'),
  detail: Detail,
  federation: FederationMode,
}
const intent = z
  .string()
  .trim()
  .min(1)
  .max(1000)
  .meta({ ...notBlank, description: 'What the agent should do, in plain words.' })

export const SearchInput = z.strictObject({ query: intent.optional(), ...fields })
export type SearchInput = z.output<typeof SearchInput>
export type SearchQuery = Omit<SearchInput, 'detail' | 'federation'>

/** The part of the input that tools show to language models. */
export const ToolSearchInput = SearchInput.pick({ query: true, limit: true, cursor: true }).extend({
  filters: Filters.pick({ category: true, callable: true }).optional(),
})

/** The input of a search with a required intent. */
export const IntentInput = z.strictObject({ query: intent, ...fields }).meta({ id: 'SearchRequest' })

/** A registry with fewer agents waits for its operator to fill it. */
export const fewAgents = 20

/** Numbers of agents, by a value of theirs. */
export const Counts = z.record(z.string(), z.int().min(0)).meta({ id: 'Counts' })
const facetCounts = Object.fromEntries(facetNames.map((name) => [name, Counts])) as Record<
  FacetName,
  typeof Counts
>

const Facets = z.object(facetCounts).meta({ id: 'Facets' })

/** A word of a query, or several, for which a search used another one. */
export const Correction = z
  .object({
    from: z.string().describe('As the query has it.'),
    to: z.string().describe('What the search used instead.'),
  })
  .meta({ id: 'Correction' })
export type Correction = z.infer<typeof Correction>

const page = {
  total: z.int().describe('Number of matching agents, on all pages.'),
  facets: Facets.optional(),
  notice: z
    .string()
    .optional()
    .describe(
      'Present if no agent fits, none fits well, or, for language models, none can be called as it is.',
    ),
  corrected: z
    .array(Correction)
    .optional()
    .describe('Misspelt words of the query and what was searched for instead; `exact` prevents this.'),
  degraded: z.string().optional().describe('The part of the search that was not available.'),
  ...federatedShape,
}

export const AgentPage = z
  .object({
    agents: z.array(SearchHit),
    ...page,
    next_cursor: nextCursor,
  })
  .meta({ id: 'AgentPage' })
export type AgentPage = z.infer<typeof AgentPage>

export const BriefAgentPage = z
  .object({
    agents: z.array(BriefHit),
    callable_agents: z
      .array(BriefHit)
      .optional()
      .describe('Where none of `agents` can be called at once: at most two others that fit and can be.'),
    ...page,
    next_cursor: z.string().optional().describe('Absent on the last page.'),
  })
  .meta({ id: 'BriefAgentPage' })
export type BriefAgentPage = z.infer<typeof BriefAgentPage>

/** The agents found, in the form that the search asks for. */
export const AnyAgentPage = z.union([AgentPage, BriefAgentPage])
export type AnyAgentPage = z.infer<typeof AnyAgentPage>

/** A listed agent whose name completes what somebody types. */
const Suggestion = z.object({ name: z.string(), package_name: z.string() }).meta({ id: 'Suggestion' })

export const Suggestions = z.object({ suggestions: z.array(Suggestion) }).meta({ id: 'Suggestions' })
export type Suggestions = z.infer<typeof Suggestions>

/** Package names with one prefix, and behind one name. */
export const NameCompletion = z.object({
  names: z.array(z.string()),
  total: z.int().nullable().describe('Number of matches; null above 1,000.'),
  more: z.boolean().describe('More names match than this list holds.'),
})
export type NameCompletion = z.infer<typeof NameCompletion>

import { z } from 'zod'
import { Found } from './card.ts'
import { State } from './entry.ts'
import { notBlank, Slug, Tag } from './names.ts'

export const Filters = z.strictObject({
  target: Slug.optional().describe('Audience of the agent, such as developer.'),
  category: Slug.optional(),
  tags: z.array(Tag).max(20).optional().describe('Every one of these tags.'),
  state: State.optional().describe('STAGE asks for your own unpublished agents, with mine.'),
  live: z
    .boolean()
    .optional()
    .describe('True: agents that answer. False: those that are dead or stale. Of some nobody knows.'),
  deprecated: z.boolean().optional().describe('False leaves out agents that nobody should begin to use.'),
  mine: z.boolean().optional().describe('Only agents that you own.'),
})

const fields = {
  limit: z.int().min(1).max(100).default(5).describe('How many agents at most, 1 to 100.'),
  filters: Filters.optional(),
  cursor: z.string().max(2000).optional().describe('next_cursor of the page before.'),
  sort: z.enum(['relevance', 'newest', 'name']).default('relevance'),
  facets: z.boolean().default(false).describe('Count tags, categories and targets over all that match.'),
  min_score: z.number().min(0).max(1).optional().describe('Leave out agents that score less, 0 to 1.'),
  max_tokens: z
    .int()
    .min(50)
    .max(100_000)
    .optional()
    .describe('End the page where the answer would cost a language model more tokens than this, about.'),
}
const intent = z
  .string()
  .trim()
  .min(1)
  .max(1000)
  .meta({ ...notBlank, description: 'What the agent should do, in plain words.' })

export const SearchInput = z.strictObject({ query: intent.optional(), ...fields })
export type SearchInput = z.output<typeof SearchInput>

/** The same with an intent that must be given. */
export const IntentInput = z.strictObject({ query: intent, ...fields })

const Counts = z.record(z.string(), z.int())

export const SearchOutput = z.object({
  agents: z.array(Found),
  total: z.int().describe('How many agents match, on all pages.'),
  next_cursor: z.string().nullable().describe('Null on the last page.'),
  facets: z.object({ tags: Counts, categories: Counts, targets: Counts }).optional(),
  notice: z.string().optional().describe('Said where nothing fits, or nothing fits well.'),
  degraded: z.string().optional().describe('What part of the search was not available, where one was not.'),
})
export type SearchOutput = z.infer<typeof SearchOutput>

/** Package names that begin alike. */
export const NameCompletion = z.object({
  names: z.array(z.string()),
  total: z.int().nullable().describe('How many there are; null above 1,000.'),
  more: z.boolean().describe('There are more than are given.'),
})
export type NameCompletion = z.infer<typeof NameCompletion>

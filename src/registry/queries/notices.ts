import { fittingConfidence } from '../../../schemas/brief.ts'
import { isCallable } from '../../../schemas/callable.ts'
import { likeCategories } from '../../../schemas/categories.ts'
import type { BriefAgentPage, SearchQuery } from '../../../schemas/search.ts'
import type { Hits } from '../../search/search-index.ts'

/** What a caller reads where no agent fits, or none fits well. */
export function noticeOf(
  { total, confidence = 0 }: Hits,
  filters: SearchQuery['filters'] = {},
): string | undefined {
  if (total === 0) {
    const names = Object.entries(filters).flatMap(([name, value]) => (value === undefined ? [] : name))
    if (names.length === 0) return 'No agent fits this. Say it in other words.'
    const like = [filters.category ?? []].flat().flatMap(likeCategories)
    const meant = like.length > 0 ? ` Categories that resemble it: ${like.join(', ')}.` : ''
    return `No agent fits this with the filters ${names.join(', ')}.${meant} Search without them, or say it in other words.`
  }
  return confidence < fittingConfidence ? 'No agent fits this well; these are the nearest.' : undefined
}

/** What a model reads that can call none of the agents that it found. */
export const noneAtOnce =
  'None of these can be called at once. A `package` runs here once it is approved: call_agent asks the user, or says whom to ask. The filter {"callable": ["hosted", "open", "stated"]} finds agents that need no approval.'

/** What a model reads that can call others than those that fit best. */
export const othersAtOnce =
  'None of `agents` can be called at once; `callable_agents` can. A `package` runs here once it is approved: call_agent asks the user, or says whom to ask.'

/** True if a model can call none of the agents that it found, and has not said which ones it wants. */
export function lacksCallable(
  { query, filters = {}, cursor }: SearchQuery,
  agents: BriefAgentPage['agents'],
): boolean {
  return query !== undefined && !cursor && !filters.callable && agents.length > 0 && !agents.some(isCallable)
}

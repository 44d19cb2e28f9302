import { nearest } from './nearest.ts'
import type { AgentPage } from './search.ts'

/**
 * The categories that the gateway names by itself: usual ones, and those of the lists that registries are filled from.
 * Publishers choose categories, and people and models read these texts as the gateway's own. Neither many entries nor
 * many owners may buy a word in them, so the words are fixed here.
 */
const names = new Set(
  `aggregators art art-and-culture automation browser-automation business calendar cloud cloud-platforms code-execution
  coding coding-agents command-line commerce communication content customer-data-platforms data data-platforms
  data-science-tools databases design developer developer-tools devops documents ecommerce education embedded-system
  email entertainment file-systems files finance finance-fintech food games gaming government health healthcare
  knowledge knowledge-memory language legal location-services maps marketing media memory monitoring music news
  observability productivity real-estate research sales science search search-data-extraction security shopping social
  sports storage support support-service-management tools translation translation-services travel
  travel-transportation utilities version-control video weather`.split(/\s+/),
)

/** The known categories among the counted ones, the most frequent first. A search still counts and filters by all. */
export function knownCategories(facets: AgentPage['facets']): [name: string, count: number][] {
  return Object.entries(facets?.categories ?? {}).filter(([name]) => names.has(name))
}

/** The known categories that resemble one which is not known. */
export function likeCategories(category: string): string[] {
  return names.has(category) ? [] : nearest(category, names)
}

import { facetNames, facets, filters } from '../../../schemas/entry-fields.ts'
import type { Hits, IndexQuery } from '../search-index.ts'

/** A search whose counts have those of each filtered field taken without its filter. A tag narrows other tags: all must match. */
export async function withChoices(
  query: IndexQuery,
  search: (query: IndexQuery) => Promise<Hits>,
): Promise<Hits> {
  const found = await search(query)
  if (!found.facets || !query.facet_choices) return found
  const chosen = facetNames.filter((name) => {
    const field = facets[name]
    return query.filter[field] !== undefined && filters[field].compare !== 'every'
  })
  const choices = { ...found.facets }
  for (const name of chosen) {
    const { [facets[name]]: _, ...filter } = query.filter
    const others = await search({ ...query, filter, limit: 1 })
    choices[name] = others.facets?.[name] ?? {}
  }
  return { ...found, facets: choices }
}

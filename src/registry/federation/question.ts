import { publisherOf, typeOfProtocol } from '../../../schemas/ard.ts'
import type { SearchQuery } from '../../../schemas/search.ts'

/** A search as other registries take it. */
export interface Question {
  readonly text: string
  readonly filter: Readonly<Record<string, readonly string[]>>
}

/** The search for other registries, or the reason why it cannot be passed on. */
export function questionFor(input: SearchQuery, ownUrl: string): Question | string {
  const { query, cursor, sort, min_score, filters = {} } = input
  if (query === undefined) return 'A list without a query is of this registry alone.'
  if (cursor !== undefined) return 'Further pages are of this registry alone.'
  if (sort !== 'relevance') return 'Only a list by relevance can be merged.'
  if (min_score !== undefined) return 'Scores of different registries do not compare.'
  const { protocol, labels, tags, publisher, ...others } = filters
  const [local] = Object.entries(others).find(([, value]) => value !== undefined) ?? []
  if (local !== undefined) return `Other registries do not know the filter ${local}.`
  if (tags && tags.length + (labels?.length ?? 0) > 1)
    return 'Other registries take one of the tags, not all.'
  const publishers = publisher?.filter((domain) => domain !== 'none' && domain !== publisherOf(ownUrl))
  if (publishers?.length === 0) return 'The publisher is this registry.'
  return {
    text: query,
    filter: present({
      type: protocol?.map(typeOfProtocol),
      tags: [...(labels ?? []), ...(tags ?? [])],
      publisher: publishers,
    }),
  }
}

function present(filter: Readonly<Record<string, readonly string[] | undefined>>): Question['filter'] {
  const stated = Object.entries(filter).flatMap(([path, values = []]) =>
    values.length > 0 ? [[path, [...new Set(values)]] as const] : [],
  )
  return Object.fromEntries(stated)
}

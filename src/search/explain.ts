import type { Match } from '../../schemas/card.ts'
import { addWeight } from './capability-terms.ts'
import type { TableEntry } from './entry-table.ts'
import type { WeighedTerm } from './text-index.ts'

/** Why nothing but the filter put an entry where it is. */
export const listed: Match = { terms: [], capability: null, similarity: null, scores: {} }

/** Says which words of the query an entry has, and which of its capabilities has the most telling ones. */
export function explain(
  slot: number,
  entry: TableEntry,
  query: readonly WeighedTerm[],
  lexical: number,
): Match {
  const found = query.filter(({ list }) => list.has(slot))
  const words = new Set(found.flatMap((term) => [...term.words]))
  return {
    terms: [...words],
    capability: bestCapability(entry, found),
    similarity: null,
    scores: { lexical },
  }
}

/** The first of those with the largest weight of terms; null when no capability has any. */
function bestCapability({ document, text }: TableEntry, found: readonly WeighedTerm[]): string | null {
  const weights = new Float64Array(document.capabilities.length)
  for (const { list, weight } of found) addWeight(weights, text.capabilities, list, weight)
  const most = weights.reduce((one, other) => Math.max(one, other), 0)
  return most > 0 ? (document.capabilities[weights.indexOf(most)]?.name ?? null) : null
}

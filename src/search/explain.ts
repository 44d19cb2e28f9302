import type { Match } from '../../schemas/card.ts'
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
  let best: string | null = null
  let bestWeight = 0
  text.capabilities.forEach((terms, index) => {
    const weight = found.reduce((sum, term) => (terms.includes(term.list) ? sum + term.weight : sum), 0)
    if (weight <= bestWeight) return
    best = document.capabilities[index]?.name ?? null
    bestWeight = weight
  })
  return best
}

const ends = /(?<=[.!?;])\s+|[,;\n]|\b(?:and|then|also)\b/i
const minWords = 3
const maxClauses = 4

/**
 * The parts of a query that asks for several things, at most 4: the texts between sentence ends, commas, "and", "then"
 * and "also" that have at least 3 words. Empty if there is only one part.
 */
export function clausesOf(text: string): string[] {
  const parts = text.split(ends).map((part) => part.trim())
  const clauses = parts.filter((part) => part.split(/\s+/).length >= minWords)
  return clauses.length > 1 ? clauses.slice(0, maxClauses) : []
}

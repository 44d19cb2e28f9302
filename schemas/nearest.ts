/**
 * The candidates closest to a misspelt word, best first: those within a third of its length in edits (at least two, and
 * fewer than it has letters), or that contain it. Comparison ignores case. At most `limit` answers.
 */
export function nearest(word: string, candidates: Iterable<string>, limit = 3): string[] {
  const target = word.toLowerCase().slice(0, 100)
  // A word of which nothing is left is not misspelt.
  const reach = Math.min(Math.max(2, Math.floor(target.length / 3)), target.length - 1)
  const ranked: { candidate: string; edits: number }[] = []
  for (const candidate of candidates) {
    const other = candidate.toLowerCase()
    const contains = target.length > 2 && (other.includes(target) || target.includes(other))
    const edits = contains ? 1 : distance(target, other, reach)
    if (edits <= reach) ranked.push({ candidate, edits })
  }
  ranked.sort((a, b) => a.edits - b.edits || (a.candidate < b.candidate ? -1 : 1))
  return ranked.slice(0, limit).map((entry) => entry.candidate)
}

/** Levenshtein distance. Stops with reach + 1 as soon as the distance must exceed `reach`. */
function distance(a: string, b: string, reach: number): number {
  if (Math.abs(a.length - b.length) > reach) return reach + 1
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const substitution = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1)
      current.push(Math.min((previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, substitution))
    }
    if (Math.min(...current) > reach) return reach + 1
    previous = current
  }
  return previous[b.length] ?? reach + 1
}

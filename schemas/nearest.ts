/**
 * The candidates closest to a misspelt word, best first: those within a third of its length in edits (at least two, at
 * most twelve, and fewer than it has letters), or that contain it. Comparison ignores case. At most `limit` answers.
 */
export function nearest(word: string, candidates: Iterable<string>, limit = 3): string[] {
  const target = word.toLowerCase().slice(0, 100)
  // A word of which nothing is left is not misspelt.
  const reach = Math.min(Math.max(2, Math.floor(target.length / 3)), maxReach, target.length - 1)
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

/** Strangers choose the candidates: a longer reach in long names would take milliseconds. */
const maxReach = 12

/**
 * Levenshtein distance. Stops with reach + 1 as soon as the distance must exceed `reach`, and looks only at the columns
 * that `reach` edits lead to.
 */
function distance(a: string, b: string, reach: number): number {
  const exceeded = reach + 1
  if (Math.abs(a.length - b.length) > reach) return exceeded
  let previous = new Uint16Array(b.length + 1).map((_, column) => Math.min(column, exceeded))
  for (let row = 1; row <= a.length; row++) {
    const current = new Uint16Array(b.length + 1).fill(exceeded)
    if (row <= reach) current[0] = row
    let least = current[0] ?? exceeded
    for (let column = Math.max(1, row - reach); column <= Math.min(b.length, row + reach); column++) {
      const substitution = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1)
      const edits = Math.min((previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, substitution)
      current[column] = edits
      least = Math.min(least, edits)
    }
    if (least > reach) return exceeded
    previous = current
  }
  return previous[b.length] ?? exceeded
}

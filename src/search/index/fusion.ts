import type { Likeness } from './meaning.ts'
import type { Scoreboard } from './scoreboard.ts'

/** The share of meaning in a score, 0 to below 1, by how much the words of the query can tell (their largest score). */
export type MeaningShare = (most: number) => number

/** Words that tell much have up to 0.7 of the score; the fewer and the more common they are, the more meaning leads. */
export const shareOfMeaning: MeaningShare = (most) => 1 - (0.7 * most) / (most + 10)

/** What counts as found by meaning alone: of the greatest likeness found, and of likeness as such. */
const leastOfGreatest = 0.5
const leastSimilarity = 0.15

/**
 * Turns the lexical scores on the board into the final ones, 0 to 1 (above 1 for an exact name): a share of them is
 * likeness in meaning, as far as the model understands the query, and the rest is words. Each is taken as its share
 * of the geometric mean of the best that was found and the best there can be (`most`; a cosine of 1): neither wholly
 * relative, which would make much of a poor best, nor wholly absolute, which would let long queries count for nothing.
 * What is like enough in meaning alone joins the board.
 *
 * In the end each score counts by its slot's weight, above 0 to 1, where it has one.
 *
 * Returns the lexical part of an entry's score, 0 to 1.
 */
export function fuse(
  board: Scoreboard,
  most: number,
  likeness: Likeness | undefined,
  slotOf: (id: string) => number | undefined,
  shareOf: MeaningShare,
  weights: ReadonlyMap<number, number> = new Map(),
): (slot: number, id: string) => number {
  const share = likeness ? shareOf(most) * likeness.trust : 0
  const found = [...(likeness?.near.values() ?? [])].flatMap(({ id, similarity }) => {
    const slot = slotOf(id)
    return slot === undefined || similarity <= 0 ? [] : { slot, similarity }
  })
  const greatest = found.reduce((highest, { similarity }) => Math.max(highest, similarity), 0)
  const least = Math.max(leastSimilarity, leastOfGreatest * greatest)
  const partOf = (similarity: number) => (share * Math.max(0, similarity)) / Math.sqrt(greatest || 1)

  board.scale((1 - share) / Math.sqrt(most * Math.min(board.highest() || most, most)))
  for (const { slot, similarity } of found) {
    if (similarity >= least || board.scores[slot] !== 0) board.add(slot, partOf(similarity))
  }
  board.weigh(weights)
  return (slot, id) => {
    const words =
      (board.scores[slot] ?? 0) / (weights.get(slot) ?? 1) - partOf(likeness?.near.get(id)?.similarity ?? 0)
    return Math.max(0, words / (1 - share))
  }
}

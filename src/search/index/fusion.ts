import type { Likeness } from './meaning.ts'
import type { Scoreboard } from './scoreboard.ts'
import type { Adjustment } from './text-index.ts'

/**
 * The share of meaning in a score, 0 to below 1. `maxScore` is the largest score that the words of the query can give:
 * informative words contribute up to 0.7 of the score; the fewer and the more common the words are, the larger the
 * share of meaning.
 */
function shareOfMeaning(maxScore: number): number {
  return 1 - (0.7 * maxScore) / (maxScore + 10)
}

/**
 * Words lose up to this part of the share of meaning where the meaning is further away: a rare word that means something
 * else, such as a weekday that is the name of a product, does not outweigh what the query means.
 */
const maxLoss = 0.3

/** The share of words that are compared one by one in a score (docs/search-quality.md). */
const shareOfLikeWords = 2 / 7

/** Thresholds for entries found by meaning alone: relative to the greatest similarity found, and absolute. */
const minShareOfMaximum = 0.5
const leastSimilarity = 0.15

/** The board has the lexical scores. */
interface Fused {
  readonly board: Scoreboard
  /** The largest score that the words of the query can give. */
  readonly maxScore: number
  readonly likeness: Likeness | undefined
  readonly slotOf: (id: string) => number | undefined
  readonly weights: readonly number[]
  readonly adjustments: ReadonlyMap<number, Adjustment>
  /** Those with an exact name: their words are not compared. */
  readonly named: ReadonlySet<number>
  /** How like the words of the best entries are to those of the query; undefined if that cannot be told. */
  readonly likeWords: () => ReadonlyMap<number, number> | undefined
}

/** The parts of the scores of entries, 0 to 1. */
interface Parts {
  lexicalOf(slot: number, id: string): number
  /** Undefined for an entry whose words were not compared. */
  likeWordsOf(slot: number): number | undefined
}

/**
 * Turns the lexical scores on the board into final scores, 0 to 1 (above 1 for an exact name). A share of each score
 * is similarity in meaning, weighted by how well the model understands the query; the rest is words. Both are divided
 * by the geometric mean of the best found and the best possible (`maxScore`; a cosine of 1): a purely relative score
 * would overrate a poor best, and a purely absolute one would underrate long queries. Entries of sufficient similarity
 * join the board without words.
 *
 * Each score is multiplied by the weight of its slot, above 0 to 1, and by its adjustment, if it has them. Of the best
 * entries, `likeWords` then compares each word with those of the query; their likeness, 0 to 1, is a share of the score.
 *
 * Returns what tells the parts of the scores.
 */
export function fuse({
  board,
  maxScore,
  likeness,
  slotOf,
  weights,
  adjustments,
  named,
  likeWords,
}: Fused): Parts {
  const share = likeness ? shareOfMeaning(maxScore) * likeness.trust : 0
  const factor = (1 - share) / Math.sqrt(maxScore * Math.min(board.highest || maxScore, maxScore))
  const found = [...(likeness?.near.values() ?? [])].flatMap(({ id, similarity }) => {
    const slot = slotOf(id)
    if (slot === undefined || similarity <= 0) return []
    return { slot, similarity, words: (board.scores[slot] ?? 0) * factor }
  })
  const maxSimilarity = found.reduce((highest, { similarity }) => Math.max(highest, similarity), 0)
  const least = Math.max(leastSimilarity, minShareOfMaximum * maxSimilarity)
  const partOf = (similarity: number) => (share * Math.max(0, similarity)) / Math.sqrt(maxSimilarity || 1)
  const factorOf = (slot: number) => (weights[slot] ?? 1) * adjustmentOf(adjustments.get(slot))

  board.weigh(weights)
  board.factor = factor
  for (const { slot, similarity, words } of found) {
    if (words === 0 && similarity < least) continue
    // The bonus of an exact name stays whole.
    const lessened = Math.min(words, 1 - share) * share * Math.min(maxLoss, 1 - similarity / maxSimilarity)
    board.set(slot, (words - lessened + partOf(similarity)) * (weights[slot] ?? 1))
  }
  for (const [slot, adjustment] of adjustments) {
    const score = board.scoreOf(slot)
    // Only an exact name exceeds 1.
    if (score > 0) board.set(slot, Math.min(Math.max(1, score), score * adjustmentOf(adjustment)))
  }
  const alike = likeness && likeWords()
  if (alike) {
    const whole = Array.from(named, (slot) => [slot, board.scoreOf(slot)] as const)
    board.factor *= 1 - shareOfLikeWords
    for (const [slot, score] of whole) if (score > 0) board.set(slot, score)
    for (const [slot, part] of alike)
      board.set(slot, Math.min(1, board.scoreOf(slot) + shareOfLikeWords * part * factorOf(slot)))
  }
  return {
    lexicalOf(slot, id) {
      const score = board.scoreOf(slot) / factorOf(slot)
      const fused =
        alike && !named.has(slot)
          ? (score - shareOfLikeWords * (alike.get(slot) ?? 0)) / (1 - shareOfLikeWords)
          : score
      return Math.max(0, (fused - partOf(likeness?.near.get(id)?.similarity ?? 0)) / (1 - share))
    },
    likeWordsOf: (slot) => alike?.get(slot),
  }
}

function adjustmentOf({ excluded = 1, direction = 1 }: Adjustment = {}): number {
  return excluded * direction
}

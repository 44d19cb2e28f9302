import type { Position } from '../search-index.ts'
import { compareTies, orders, type PositionedSlot } from './order.ts'
import type { Scoreboard } from './scoreboard.ts'

/**
 * The `limit` best scores after a position, best first. Holds at most `limit` scores at a time; a score below the
 * lowest of them costs one comparison.
 */
export function takeBest(
  board: Scoreboard,
  scores: Float64Array,
  describe: (slot: number) => Omit<Position, 'key'>,
  limit: number,
  after: Position | undefined,
): PositionedSlot[] {
  const best: Scored[] = []
  const { slots, size } = board
  let worst: Scored | undefined
  for (let index = 0; index < size; index++) {
    const slot = slots[index] ?? 0
    const key = scores[slot] ?? 0
    if (worst && key < worst.key) continue
    const described = describe(slot)
    if (worst && key === worst.key && compareTies(described, worst) >= 0) continue
    const { id, tie = '' } = described
    const scored = { slot, key, tie, id }
    if (after && orders.relevance(scored, after) <= 0) continue
    insert(best, scored)
    if (best.length > limit) best.pop()
    if (best.length === limit) worst = best[limit - 1]
  }
  return best.map(({ slot, key, tie, id }) => ({ slot, position: { key, tie, id } }))
}

/** A position whose key is a number, so that comparing costs no conversion. */
interface Scored {
  readonly slot: number
  readonly key: number
  readonly tie: string
  readonly id: string
}

/** The order `relevance`, over numbers. */
function comesBefore(left: Scored, right: Scored): boolean {
  return left.key === right.key ? compareTies(left, right) < 0 : left.key > right.key
}

function insert(sorted: Scored[], scored: Scored): void {
  let index = sorted.push(scored) - 1
  for (let before = sorted[index - 1]; before; before = sorted[index - 1]) {
    if (comesBefore(before, scored)) break
    sorted[index--] = before
  }
  sorted[index] = scored
}

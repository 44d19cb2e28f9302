import { Highest } from '../../common/highest.ts'
import { takeFirst } from '../../common/take-first.ts'
import type { Position } from '../search-index.ts'
import { compareTies, orders, type PositionedSlot } from './order.ts'
import type { Scoreboard } from './scoreboard.ts'

/**
 * The `limit` best scores after a position, best first. A score below the lowest of them costs one comparison of
 * numbers: only the slots of the others are described.
 */
export function takeBest(
  board: Scoreboard,
  describe: (slot: number) => Omit<Position, 'key'>,
  limit: number,
  after: Position | undefined,
): PositionedSlot[] {
  const { slots, scores, factor, size } = board
  const end = after ? Number(after.key) : Number.POSITIVE_INFINITY
  const isLater = (slot: number, key: number) =>
    key < end || (after !== undefined && key === end && compareTies(describe(slot), after) > 0)
  const highest = new Highest(limit)
  const candidates: number[] = []
  let { least } = highest
  for (let index = 0; index < size; index++) {
    const slot = slots[index] ?? 0
    const key = (scores[slot] ?? 0) * factor
    if (key < least || !isLater(slot, key)) continue
    highest.offer(key)
    least = highest.least
    candidates.push(slot)
  }
  const best: PositionedSlot[] = []
  for (const slot of candidates) {
    const key = (scores[slot] ?? 0) * factor
    if (key < least) continue
    const { id, tie = '' } = describe(slot)
    best.push({ slot, position: { key, tie, id } })
  }
  return takeFirst(best, limit, (left, right) => orders.relevance(left.position, right.position))
}

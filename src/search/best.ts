import { compareId, orders, type Placed } from './order.ts'
import type { Scoreboard } from './scoreboard.ts'
import type { Position } from './search-index.ts'

/**
 * The `limit` best scores after a position, best first. Keeps no more than `limit` at a time: what does not
 * reach the worst of them costs one comparison.
 */
export function takeBest(
  board: Scoreboard,
  scores: Float64Array,
  idOf: (slot: number) => string,
  limit: number,
  after: Position | undefined,
): Placed[] {
  const best: Placed[] = []
  let worst = { key: 0, id: '' }
  const { slots, size } = board
  for (let index = 0; index < size; index++) {
    const slot = slots[index] ?? 0
    const key = scores[slot] ?? 0
    if (key < worst.key) continue
    const id = idOf(slot)
    if (key === worst.key && compareId(id, worst.id) > 0) continue
    const position = { key, id }
    if (after && orders.relevance(position, after) <= 0) continue
    insert(best, { slot, position })
    if (best.length > limit) best.pop()
    if (best.length === limit) worst = best[limit - 1]?.position as typeof worst
  }
  return best
}

function insert(sorted: Placed[], placed: Placed): void {
  let index = sorted.push(placed) - 1
  for (let before = sorted[index - 1]; before; before = sorted[index - 1]) {
    if (orders.relevance(before.position, placed.position) < 0) break
    sorted[index--] = before
  }
  sorted[index] = placed
}

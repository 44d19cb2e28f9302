import type { Position } from '../search-index.ts'
import { compareTies, type PositionedSlot } from './order.ts'
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
    const scored = new Scored(slot, key, describe)
    if (worst && !comesBefore(scored, worst)) continue
    if (after && !isBehind(scored, after)) continue
    insert(best, scored)
    if (best.length > limit) best.pop()
    if (best.length === limit) worst = best[limit - 1]
  }
  return best.map(({ slot, key, described: { id, tie = '' } }) => ({ slot, position: { key, tie, id } }))
}

/** What orders equal scores is read only where scores are equal. */
class Scored {
  readonly slot: number
  readonly key: number
  readonly #describe: (slot: number) => Omit<Position, 'key'>
  #described: Omit<Position, 'key'> | undefined

  constructor(slot: number, key: number, describe: (slot: number) => Omit<Position, 'key'>) {
    this.slot = slot
    this.key = key
    this.#describe = describe
  }

  get described(): Omit<Position, 'key'> {
    this.#described ??= this.#describe(this.slot)
    return this.#described
  }
}

/** The order `relevance`, over numbers, so that comparing costs no conversion. */
function comesBefore(left: Scored, right: Scored): boolean {
  return left.key === right.key ? compareTies(left.described, right.described) < 0 : left.key > right.key
}

function isBehind(scored: Scored, after: Position): boolean {
  return scored.key === after.key ? compareTies(scored.described, after) > 0 : scored.key < Number(after.key)
}

function insert(sorted: Scored[], scored: Scored): void {
  let index = sorted.push(scored) - 1
  for (let before = sorted[index - 1]; before; before = sorted[index - 1]) {
    if (comesBefore(before, scored)) break
    sorted[index--] = before
  }
  sorted[index] = scored
}

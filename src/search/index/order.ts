import { Failure } from '../../../schemas/failure.ts'
import { compareAscii, compareText } from '../../common/compare.ts'
import type { Position, Sort } from '../search-index.ts'

/** A slot and its position in the order of a query. */
export interface PositionedSlot {
  readonly slot: number
  readonly position: Position
}

/**
 * Negative if the first position comes before the second. The order is total: only the same id at the same key is
 * equal.
 */
export type ComparePositions = (left: Position, right: Position) => number

/** The only definition of each sort order. */
export const orders: Readonly<Record<Sort, ComparePositions>> = {
  relevance: (left, right) => descending(left.key, right.key) || compareAscii(left.id, right.id),
  newest: (left, right) => descending(left.key, right.key) || compareAscii(right.id, left.id),
  name: (left, right) => compareText(String(left.key), String(right.key)) || compareAscii(left.id, right.id),
}

/** Throws Failure `invalid_request` for a position that cannot come from this sort. */
export function checkPosition(position: Position, sort: Sort): void {
  const type = sort === 'name' ? 'string' : 'number'
  if (typeof position.key === type && !Number.isNaN(position.key)) return
  throw new Failure('invalid_request', 'The cursor belongs to another sort.')
}

function descending(left: Position['key'], right: Position['key']): number {
  return Number(right) - Number(left)
}

import { Failure } from '../../../schemas/failure.ts'
import { compareAscii, compareText } from '../../common/compare.ts'
import type { Position, Sort } from '../search-index.ts'

/** A slot and its position in the order of a query. */
export interface PositionedSlot {
  readonly slot: number
  readonly position: Position
}

/** Negative when the first position comes before the second. Total: only the same id at the same key is equal. */
export type ComparePositions = (one: Position, other: Position) => number

/** The one definition of each sort order. */
export const orders: Readonly<Record<Sort, ComparePositions>> = {
  relevance: (one, other) => descending(one.key, other.key) || compareAscii(one.id, other.id),
  newest: (one, other) => descending(one.key, other.key) || compareAscii(other.id, one.id),
  name: (one, other) => compareText(String(one.key), String(other.key)) || compareAscii(one.id, other.id),
}

/** Throws Failure `invalid_request` for a position that cannot come from this sort. */
export function checkPosition(position: Position, sort: Sort): void {
  const type = sort === 'name' ? 'string' : 'number'
  if (typeof position.key === type && !Number.isNaN(position.key)) return
  throw new Failure('invalid_request', 'The cursor belongs to another sort.')
}

function descending(one: Position['key'], other: Position['key']): number {
  return Number(other) - Number(one)
}

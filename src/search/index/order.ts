import { Failure } from '../../../schemas/failure.ts'
import type { Position, Sort } from '../search-index.ts'

/** A slot and where it stands in the order asked for. */
export interface Placed {
  readonly slot: number
  readonly position: Position
}

/** Negative when the first position comes before the second. Total: only the same id at the same key is equal. */
export type Compare = (one: Position, other: Position) => number

/** The one definition of what comes first. */
export const orders: Readonly<Record<Sort, Compare>> = {
  relevance: (one, other) => descending(one.key, other.key) || compareId(one.id, other.id),
  newest: (one, other) => descending(one.key, other.key) || compareId(other.id, one.id),
  name: (one, other) => compareText(String(one.key), String(other.key)) || compareId(one.id, other.id),
}

/** Refuses a position that cannot come from this sort. */
export function checkPosition(position: Position, sort: Sort): void {
  const wanted = sort === 'name' ? 'string' : 'number'
  if (typeof position.key === wanted && !Number.isNaN(position.key)) return
  throw new Failure('invalid_request', 'The cursor belongs to another sort.')
}

/** By code points, as UTF-8 and SQL's binary collation order texts (JavaScript's own order is by UTF-16 units). */
export function compareText(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length)
  for (let index = 0; index < shorter; index++) {
    const unit = one.charCodeAt(index)
    const otherUnit = other.charCodeAt(index)
    if (unit !== otherUnit) return surrogatesLast(unit) - surrogatesLast(otherUnit)
  }
  return one.length - other.length
}

/** Ids are ASCII, where JavaScript's own order is that of the bytes. */
export function compareId(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

function surrogatesLast(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}

function descending(one: Position['key'], other: Position['key']): number {
  return Number(other) - Number(one)
}

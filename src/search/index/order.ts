import type { Callable } from '../../../schemas/callable.ts'
import type { VerificationLevel } from '../../../schemas/entry-parts.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { LivenessStatus } from '../../../schemas/liveness.ts'
import { compareAscii, compareText } from '../../common/compare.ts'
import { withoutCommand } from '../query/pasted.ts'
import type { IndexQuery, Position, SearchDocument, Sort } from '../search-index.ts'

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
  relevance: (left, right) => descending(left.key, right.key) || compareTies(left, right),
  newest: (left, right) => descending(left.key, right.key) || compareTies(left, right),
  name: (left, right) => compareText(String(left.key), String(right.key)) || compareTies(left, right),
}

const byVerification: Readonly<Record<VerificationLevel, number>> = {
  domain_verified: 0,
  unverified: 1,
  unclaimed: 2,
}
const byLiveness: Readonly<Record<LivenessStatus, number>> = {
  alive: 0,
  unknown: 1,
  degraded: 2,
  unreachable: 3,
  stale: 4,
  dead: 5,
}
/** The lower, the sooner a caller can use it. */
export const byUse: Readonly<Record<Callable, number>> = {
  hosted: 0,
  open: 0,
  stated: 1,
  needs_key: 2,
  needs_sign_in: 3,
  package: 4,
  no: 5,
}

/**
 * The order of equals: verified agents first, then those that answer, then those that a caller can use sooner, then by
 * name. A package name is unique in a registry, so every node has the same order; ids are random and only a last
 * resort.
 */
export function tieOf({
  verification_level,
  liveness,
  callable,
  name,
  package_name,
}: Pick<SearchDocument, 'verification_level' | 'liveness' | 'callable' | 'name' | 'package_name'>): string {
  const ranks = `${byVerification[verification_level]}${byLiveness[liveness]}${byUse[callable]}`
  return `${ranks}${name.slice(0, maxTieName).toLowerCase()}\n${package_name}`
}

/** Maximum characters of a name in a tie, which is a part of cursors. */
const maxTieName = 40

export function compareTies(left: Omit<Position, 'key'>, right: Omit<Position, 'key'>): number {
  return compareAscii(left.tie ?? '', right.tie ?? '') || compareAscii(left.id, right.id)
}

/**
 * The text of a query, and its sort. A command that installs a package stands for the package; without a text,
 * `relevance` means `newest`. Throws Failure `invalid_request` for a position of another sort.
 */
export function textAndSort(query: IndexQuery): { readonly text: string; readonly sort: Sort } {
  const written = query.text?.trim() ?? ''
  const text = query.exact ? written : withoutCommand(written)
  const sort = text === '' && query.sort === 'relevance' ? 'newest' : query.sort
  if (query.after) checkPosition(query.after, sort)
  return { text, sort }
}

function checkPosition(position: Position, sort: Sort): void {
  const type = sort === 'name' ? 'string' : 'number'
  if (typeof position.key === type && !Number.isNaN(position.key)) return
  throw new Failure('invalid_request', 'The cursor belongs to another sort.')
}

function descending(left: Position['key'], right: Position['key']): number {
  return Number(right) - Number(left)
}

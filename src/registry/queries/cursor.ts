import { hash } from 'node:crypto'
import { Failure } from '../../../schemas/failure.ts'
import { decodeCursor, encodeCursor } from '../../common/cursor.ts'
import type { Position } from '../../search/search-index.ts'

/** An opaque cursor that holds a position in the answer to one question; another question refuses it. */
export function encodePosition(position: Position, question: unknown): string {
  return encodeCursor([position.key, position.tie ?? '', position.id, digest(question)])
}

/**
 * The position in a cursor. Throws Failure `invalid_request` for an invalid cursor and for a cursor of another
 * question.
 */
export function decodePosition(cursor: string, question: unknown): Position {
  const decoded = decodeCursor(cursor)
  const [key, tie, id, owner] = Array.isArray(decoded) && decoded.length === 4 ? decoded : []
  const isPosition =
    (typeof key === 'number' || typeof key === 'string') && typeof tie === 'string' && typeof id === 'string'
  if (isPosition && owner === digest(question)) return { key, tie, id }
  throw unknownCursor()
}

/** Of a list that was read with one item more than a page: the page, and its last item if there are more. */
export function takePage<Item>(
  found: readonly Item[],
  limit: number,
): { readonly page: Item[]; readonly last: Item | undefined } {
  const page = found.slice(0, limit)
  return { page, last: found.length > limit ? page.at(-1) : undefined }
}

/** The number in the id of a cursor. Throws as decoding does: a forged cursor can hold any id. */
export function numberIn(id: string): number {
  const number = Number(id)
  if (Number.isSafeInteger(number)) return number
  throw unknownCursor()
}

function unknownCursor(): Failure {
  return new Failure('invalid_request', 'The cursor does not belong to this query.', {
    errors: [{ pointer: '/cursor', detail: 'Send next_cursor unchanged, with the same query.' }],
  })
}

function digest(question: unknown): string {
  return hash('sha256', JSON.stringify(question), 'base64url').slice(0, 12)
}

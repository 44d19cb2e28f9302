import { hash } from 'node:crypto'
import { Failure } from '../../../schemas/failure.ts'
import type { Position } from '../../search/search-index.ts'

/** An opaque cursor that holds a position and belongs to one question; another question refuses it. */
export function encodeCursor(position: Position, question: unknown): string {
  return Buffer.from(JSON.stringify([position.key, position.id, digest(question)])).toString('base64url')
}

/** The position in a cursor. Throws Failure `invalid_request` for junk and for a cursor of another question. */
export function decodeCursor(cursor: string, question: unknown): Position {
  const [key, id, owner] = parse(cursor)
  const isPosition = (typeof key === 'number' || typeof key === 'string') && typeof id === 'string'
  if (isPosition && owner === digest(question)) return { key, id }
  throw unknownCursor()
}

/** The number that the id in a cursor is. Throws as decoding does: whoever makes cursors up gets that far. */
export function numberIn(id: string): number {
  const number = Number(id)
  if (Number.isSafeInteger(number)) return number
  throw unknownCursor()
}

function unknownCursor(): Failure {
  return new Failure('invalid_request', 'The cursor does not belong to this query.', {
    errors: [{ pointer: '/cursor', detail: 'Send next_cursor back as it was given, with the same query.' }],
  })
}

function parse(cursor: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(value) && value.length === 3 ? value : []
  } catch {
    return []
  }
}

function digest(question: unknown): string {
  return hash('sha256', JSON.stringify(question), 'base64url').slice(0, 12)
}

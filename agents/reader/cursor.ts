import { createHash } from 'node:crypto'
import { z } from 'zod'
import { Failure } from '../../schemas/failure.ts'
import { decodeCursor, encodeCursor } from '../../src/common/cursor.ts'

const Cursor = z.strictObject({
  /** Characters already returned. */
  offset: z.int().positive(),
  /** Digest of the URL and the options. */
  request: z.string(),
  /** Digest of the whole document. */
  document: z.string(),
})
type Cursor = z.infer<typeof Cursor>

export function writeCursor(cursor: Cursor): string {
  return encodeCursor(cursor)
}

/** Throws Failure `invalid_request` for anything that `writeCursor` did not write for this request. */
export function readCursor(text: string, request: string): Cursor {
  const result = Cursor.safeParse(decodeCursor(text))
  if (!result.success) throw invalidCursor('The cursor is malformed. Send next_cursor as it was returned.')
  if (result.data.request !== request) {
    throw invalidCursor('The cursor belongs to another URL or other options.')
  }
  return result.data
}

/** The error for a page that has changed since the cursor was issued. */
export function pageChanged(): Failure {
  return invalidCursor('The page has changed since the cursor was issued. Read it again without a cursor.')
}

export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16)
}

function invalidCursor(detail: string): Failure {
  return new Failure('invalid_request', detail, { errors: [{ pointer: '/cursor', detail }] })
}

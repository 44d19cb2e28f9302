import { createHash } from 'node:crypto'
import { z } from 'zod'
import { Failure } from '../../schemas/failure.ts'

const Cursor = z.strictObject({
  /** Characters already given. */
  offset: z.int().positive(),
  /** Of what was asked: URL and options. */
  request: z.string(),
  /** Of the whole document. */
  document: z.string(),
})
export type Cursor = z.infer<typeof Cursor>

export function writeCursor(cursor: Cursor): string {
  return Buffer.from(JSON.stringify(cursor)).toString('base64url')
}

/** Throws Failure `invalid_request` for anything that `writeCursor` did not write for this very request. */
export function readCursor(text: string, request: string): Cursor {
  const result = Cursor.safeParse(parse(text))
  if (!result.success) throw unfit('This is not a cursor from here.')
  if (result.data.request !== request) throw unfit('This cursor belongs to another URL or other options.')
  return result.data
}

/** The page is no longer the one that a cursor continues. */
export function changed(): Failure {
  return unfit('The page has changed since; read it again without a cursor.')
}

export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString())
  } catch {
    return undefined
  }
}

function unfit(detail: string): Failure {
  return new Failure('invalid_request', detail, { errors: [{ pointer: '/cursor', detail }] })
}

import { parseJson } from './json.ts'

/** A JSON value as an opaque cursor, safe in URLs. */
export function encodeCursor(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/** The JSON value in a cursor; undefined for anything that `encodeCursor` did not write. The caller checks its shape. */
export function decodeCursor(cursor: string): unknown {
  return parseJson(Buffer.from(cursor, 'base64url').toString())
}

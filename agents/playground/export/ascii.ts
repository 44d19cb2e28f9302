/** JSON in visible ASCII: no line breaks, no invisible characters, no characters that reorder text. */
export function toAscii(value: unknown): string {
  return JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** One word of a POSIX shell, whatever it contains (XCU section 2.2.2). */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/**
 * JSON in visible ASCII: no invisible characters, no characters that reorder text, and no line breaks but those of
 * `indent`.
 */
export function toAscii(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replace(
    /[^\x20-\x7e\n]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** One word of a POSIX shell, whatever it contains (XCU section 2.2.2). */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Variables as they are typed in a shell: `UNITS=metric MODE='a b'`. */
export function assignments(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${asWord(value)}`)
    .join(' ')
}

/** The text as it is typed in a shell: a word that a shell would read otherwise is quoted. */
export function asWord(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : quote(text)
}

/**
 * An RFC 3339 time in UTC with nine digits of a second, so that times of any precision sort as text; undefined for
 * text that is not a time.
 */
export function sortableTime(text: string): string | undefined {
  const at = Date.parse(text)
  const [, digits = ''] = /\.(\d+)/.exec(text) ?? []
  if (Number.isNaN(at)) return undefined
  const second = new Date(Math.floor(at / 1000) * 1000).toISOString().slice(0, -'.000Z'.length)
  return `${second}.${digits.slice(0, 9).padEnd(9, '0')}Z`
}

/** A sortable time with the digits that it needs. */
export function shortTime(sortable: string): string {
  return sortable.replace(/\.?0*Z$/, 'Z')
}

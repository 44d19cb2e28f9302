/**
 * An RFC 3339 time in UTC with nine digits of a second, so that times of any precision sort as text; undefined for
 * text that is not a time. A time without an offset is in UTC.
 */
export function sortableTime(text: string): string | undefined {
  const [, day, time = '00:00:00', digits = '', zone = 'Z'] = pattern.exec(text) ?? []
  // Date does not know leap seconds.
  const at = Date.parse(`${day}T${time.replace(/:60$/, ':59')}${zone.toUpperCase()}`)
  if (Number.isNaN(at)) return undefined
  const second = new Date(at).toISOString().slice(0, -'.000Z'.length)
  // The offset may lead to a year of another length, which does not sort.
  if (second.length !== 'yyyy-mm-ddThh:mm:ss'.length) return undefined
  return `${second}.${digits.slice(0, 9).padEnd(9, '0')}Z`
}

/** A day, and perhaps a time of it, its fraction and its offset. */
const pattern = /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d:\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)?)?$/

/** A sortable time with the digits that it needs. */
export function shortTime(sortable: string): string {
  return sortable.replace(/\.?0*Z$/, 'Z')
}

import type { SourceItem } from './source-items.ts'

/** Words of a filter that are no patterns of names. */
const words = new Set(['latest', 'remote', 'package'])

/**
 * Whether a change is mirrored. A registry that is asked only for the latest versions does not say which were deleted,
 * so it is asked for all changes.
 */
export function passesAsChange(item: SourceItem, filter: readonly string[]): boolean {
  const isOfOther = item.kind === 'server' && !item.is_latest && item.status !== 'deleted'
  return passes(item, filter) && !(isOfOther && filter.includes('latest'))
}

/**
 * Whether an agent is mirrored: it has what each word of the filter names, and its name fits one of the patterns, if
 * there are any. In a pattern * stands for any characters.
 */
export function passes(item: SourceItem, filter: readonly string[]): boolean {
  const { endpoints, packages } = item.kind === 'server' ? item.fields : item.facts
  if (filter.includes('remote') && endpoints.length === 0) return false
  if (filter.includes('package') && packages.length === 0) return false
  const patterns = filter.filter((word) => !words.has(word))
  const name = item.kind === 'server' ? item.key : item.facts.package_name
  return patterns.length === 0 || patterns.some((pattern) => fits(name.toLowerCase(), pattern.toLowerCase()))
}

function fits(name: string, pattern: string): boolean {
  const [head = '', ...parts] = pattern.split('*')
  const tail = parts.pop()
  if (tail === undefined) return name === head
  if (!name.startsWith(head)) return false
  let at = head.length
  for (const part of parts) {
    const found = name.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return name.length - tail.length >= at && name.endsWith(tail)
}

import { Failure } from '../../../../schemas/failure.ts'

/** The parts of a filter text: the values of each path, and the time after which agents were created. */
interface ListFilter {
  readonly filter: Readonly<Record<string, readonly string[]>>
  readonly created_after?: number
}

const maxLength = 2000
const subject = /\s*([A-Za-z][\w.]{0,60})\s*(=|:|>=|>)\s*/y
const value = /(?:'([^']*)'|"([^"]*)"|([^\s,'"]+))\s*/y
const comma = /,\s*/y
const conjunction = /AND\s+/iy

/** Names of the list's filter (section 7.4) for paths of the query. */
const names: ReadonlyMap<string, string> = new Map([
  ['publisherId', 'publisher'],
  ['category', 'metadata.category'],
])

/**
 * Reads `type = 'a','b' AND publisherId = 'example.com'`: commas mean OR. Throws Failure `invalid_request` with the
 * position.
 */
export function readListFilter(text: string): ListFilter {
  if (text.length > maxLength) throw new Failure('invalid_request', 'The filter is too long.')
  const filter: Record<string, readonly string[]> = {}
  let createdAfter: number | undefined
  let at = 0

  function take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found) at = pattern.lastIndex
    return found
  }

  do {
    const [, stated = '', operator] = take(subject) ?? refused(at)
    const values: string[] = []
    do {
      const found = take(value) ?? refused(at)
      values.push(found[1] ?? found[2] ?? found[3] ?? '')
    } while (take(comma))
    const path = names.get(stated) ?? stated
    if (path === 'createdAfter') createdAfter = timeOf(values)
    else if (operator?.startsWith('>'))
      throw new Failure('invalid_request', `${stated} is compared only by =.`)
    else if (Object.hasOwn(filter, path)) throw new Failure('invalid_request', `${stated} is stated twice.`)
    else filter[path] = values
  } while (take(conjunction))
  if (at < text.length) refused(at)
  return { filter, ...(createdAfter !== undefined && { created_after: createdAfter }) }
}

function timeOf([text = '', ...more]: readonly string[]): number {
  const time = Date.parse(text)
  if (Number.isNaN(time) || more.length > 0) {
    throw new Failure('invalid_request', 'createdAfter takes one time, such as 2026-01-31T00:00:00Z.')
  }
  return time
}

function refused(at: number): never {
  throw new Failure('invalid_request', `The filter cannot be read from character ${at + 1}.`, {
    hint: "Write it as type = 'application/mcp-server-card+json' AND tags = 'weather','sea'.",
  })
}

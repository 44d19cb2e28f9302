const maxLength = 256 * 1024
const maxDepth = 32

/** True for JSON-LD that is small and shallow enough for recursive readers. Does not parse it. */
export function isBoundedLinkedData(json: string): boolean {
  if (json.length > maxLength) return false
  let depth = 0
  let inString = false
  for (let index = 0; index < json.length; index++) {
    const character = json[index]
    if (inString) {
      if (character === '\\') index++
      else if (character === '"') inString = false
    } else if (character === '"') inString = true
    else if (character === '{' || character === '[') {
      if (++depth > maxDepth) return false
    } else if (character === '}' || character === ']') depth--
  }
  return true
}

/** An object of JSON-LD, such as an Article or a Person. */
export type Thing = Readonly<Record<string, unknown>>

const maxThings = 2000

/** All objects in bounded JSON-LD, outer ones first; documents that are not JSON are left out. */
export function thingsIn(documents: readonly string[]): Thing[] {
  const things: Thing[] = []
  const rest = documents.map(parseLoosely).reverse()
  while (rest.length > 0 && things.length < maxThings) {
    const value = rest.pop()
    if (Array.isArray(value)) rest.push(...value.slice(0, maxThings).reverse())
    else if (typeof value === 'object' && value !== null) {
      things.push(value as Thing)
      rest.push(...Object.values(value).reverse())
    }
  }
  return things
}

/** Tolerates line breaks inside strings, which are common. */
function parseLoosely(json: string): unknown {
  try {
    return JSON.parse(json.replace(/[\n\r\t]+/g, ' '))
  } catch {
    return null
  }
}

/** True if the name of one of the object's types matches; `Article$` matches `NewsArticle` too. */
export function isA(thing: Thing, ending: RegExp): boolean {
  const types = Array.isArray(thing['@type']) ? thing['@type'] : [thing['@type']]
  return types.some((type) => typeof type === 'string' && ending.test(type))
}

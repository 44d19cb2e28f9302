const largest = 256 * 1024
const deepest = 32

/** True for JSON-LD small and shallow enough to be walked by recursive readers. Does not parse it. */
export function isTameLinkedData(json: string): boolean {
  if (json.length > largest) return false
  let depth = 0
  let inString = false
  for (let index = 0; index < json.length; index++) {
    const character = json[index]
    if (inString) {
      if (character === '\\') index++
      else if (character === '"') inString = false
    } else if (character === '"') inString = true
    else if (character === '{' || character === '[') {
      if (++depth > deepest) return false
    } else if (character === '}' || character === ']') depth--
  }
  return true
}

/** One thing that JSON-LD tells of. */
export type Thing = Readonly<Record<string, unknown>>

const mostThings = 2000

/** All things in tame JSON-LD, from the outside in; what is not JSON is left out. */
export function thingsIn(documents: readonly string[]): Thing[] {
  const things: Thing[] = []
  const rest = documents.map(parseLoosely).reverse()
  while (rest.length > 0 && things.length < mostThings) {
    const value = rest.pop()
    if (Array.isArray(value)) rest.push(...value.slice(0, mostThings).reverse())
    else if (typeof value === 'object' && value !== null) {
      things.push(value as Thing)
      rest.push(...Object.values(value).reverse())
    }
  }
  return things
}

/** Line breaks inside strings are common and are let pass. */
function parseLoosely(json: string): unknown {
  try {
    return JSON.parse(json.replace(/[\n\r\t]+/g, ' '))
  } catch {
    return null
  }
}

/** The first of its types that ends so: `Article` is `NewsArticle` too. */
export function isA(thing: Thing, ending: RegExp): boolean {
  const types = Array.isArray(thing['@type']) ? thing['@type'] : [thing['@type']]
  return types.some((type) => typeof type === 'string' && ending.test(type))
}

import { isRecord } from '../../../schemas/json.ts'

const maxDepth = 64
const maxValues = 50_000
const maxCharacters = 256 * 1024

/**
 * The reason why a value from outside cannot be canonicalised: it is too deep, too large, or has content that RFC 8785
 * does not cover (lone surrogates, numbers beyond a double) or that is unsafe to copy (`__proto__`). Null if it can be
 * canonicalised.
 */
export function refusalOf(value: unknown): string | null {
  const waiting: { value: unknown; depth: number }[] = [{ value, depth: 0 }]
  let values = 0
  let characters = 0
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value: current, depth } = next
    if (depth > maxDepth) return `it is nested deeper than ${maxDepth} levels`
    if (typeof current === 'string') {
      characters += current.length
      if (!current.isWellFormed()) return 'it has text that is not well-formed Unicode'
    } else if (Array.isArray(current) || isRecord(current)) {
      const keys = Array.isArray(current) ? [] : Object.keys(current)
      if (keys.includes('__proto__')) return 'it has a member named __proto__'
      if (!keys.every((key) => key.isWellFormed())) return 'it has a name that is not well-formed Unicode'
      characters += keys.reduce((sum, key) => sum + key.length, 0)
      const children = Object.values(current)
      values += children.length
      if (values > maxValues) return `it has more than ${maxValues} values`
      for (const child of children) waiting.push({ value: child, depth: depth + 1 })
    } else if (!isPlain(current)) return 'it has a value that JSON cannot carry'
    if (characters > maxCharacters) return `it has more than ${maxCharacters} characters`
  }
  return null
}

function isPlain(value: unknown): boolean {
  return value === null || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
}

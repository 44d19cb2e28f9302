import { isRecord } from '../../../schemas/json.ts'

const maxDepth = 64

export interface JsonLimits {
  readonly max_values: number
  /** Of all texts and names together. */
  readonly max_characters: number
}

const outside: JsonLimits = { max_values: 50_000, max_characters: 256 * 1024 }

/**
 * The reason why a value cannot be canonicalised: it is too deep, too large, or has content that RFC 8785 does not
 * cover (lone surrogates, numbers beyond a double) or that is unsafe to copy (`__proto__`). Null if it can be
 * canonicalised. The limits are those of values from outside unless others are given.
 */
export function refusalOf(
  value: unknown,
  { max_values, max_characters }: JsonLimits = outside,
): string | null {
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
      if (values > max_values) return `it has more than ${max_values} values`
      for (const child of children) waiting.push({ value: child, depth: depth + 1 })
    } else if (!isPlain(current)) return 'it has a value that JSON cannot carry'
    if (characters > max_characters) return `it has more than ${max_characters} characters`
  }
  return null
}

function isPlain(value: unknown): boolean {
  return value === null || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
}

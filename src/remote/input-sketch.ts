import { isRecord } from '../../schemas/json.ts'

const maxLength = 500
const maxDepth = 2
const maxChoices = 12
/** Names and choices without spaces: a publisher writes no sentence into a hint of the gateway. */
const word = /^[\p{L}\p{M}\p{N}_.$-]{1,60}$/u

/**
 * The input that a schema of a listed agent describes, in one line: `{city: string, days?: integer}`, where `?` marks
 * what may be absent. Undefined if it says nothing, or is too long without what is optional.
 */
export function inputSketch(schema: unknown): string | undefined {
  return [true, false]
    .map((withOptional) => objectSketch(schema, withOptional, 0))
    .find((sketch) => sketch !== undefined && sketch.length <= maxLength)
}

function objectSketch(schema: unknown, withOptional: boolean, depth: number): string | undefined {
  const { properties, required } = isRecord(schema) ? schema : {}
  if (!isRecord(properties)) return undefined
  const needed = new Set(Array.isArray(required) ? required : [])
  const fields = Object.entries(properties)
    .filter(([name]) => word.test(name) && (withOptional || needed.has(name)))
    .map(
      ([name, field]) => `${name}${needed.has(name) ? '' : '?'}: ${typeSketch(field, withOptional, depth)}`,
    )
  return fields.length > 0 ? `{${fields.join(', ')}}` : undefined
}

function typeSketch(schema: unknown, withOptional: boolean, depth: number): string {
  const { type, enum: choices, items } = isRecord(schema) ? schema : {}
  if (Array.isArray(choices) && choices.length <= maxChoices) {
    if (choices.every(isWord)) return choices.map((choice) => JSON.stringify(choice)).join(' | ')
  }
  if (type === 'array' && depth < maxDepth) {
    const item = typeSketch(items, withOptional, depth + 1)
    return item.includes(' | ') ? `(${item})[]` : `${item}[]`
  }
  if (type === 'object' && depth < maxDepth) return objectSketch(schema, withOptional, depth + 1) ?? 'object'
  const names = (Array.isArray(type) ? type : [type]).filter(
    (name) => typeof name === 'string' && word.test(name),
  )
  return names.length > 0 ? names.join(' | ') : 'any'
}

/** An object or an array could hold a sentence. */
function isWord(choice: unknown): boolean {
  if (typeof choice === 'string') return word.test(choice)
  return choice === null || typeof choice === 'number' || typeof choice === 'boolean'
}

import { isRecord, type JsonSchema } from '../../../../schemas/json.ts'

/**
 * Keywords that cost a model tokens and tell it little: descriptions state what matters, and the action checks its input
 * in each call.
 */
const left = new Set([
  ...['minLength', 'maxLength', 'pattern', 'format'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  ...['minItems', 'maxItems', 'additionalProperties', 'examples'],
])

/** An input schema as language models see it: types, names, descriptions, choices and defaults. */
export function modelSchema(schema: JsonSchema): JsonSchema {
  const shown = Object.entries(schema).filter(([keyword]) => !left.has(keyword))
  return Object.fromEntries(shown.map(([keyword, value]) => [keyword, inner(keyword, value)]))
}

function inner(keyword: string, value: unknown): unknown {
  if (keyword === 'properties' && isRecord(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, schemaOf(field)]))
  }
  if (keyword === 'items') return schemaOf(value)
  if (keyword === 'anyOf' && Array.isArray(value)) return value.map(schemaOf)
  return value
}

function schemaOf(value: unknown): unknown {
  return isRecord(value) ? modelSchema(value) : value
}

/** Any value that JSON can carry (RFC 8259). No other values cross the router. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

export type JsonObject = { readonly [key: string]: Json }

/** A JSON Schema (2020-12) document. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** True for a plain object; false for null and arrays. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The fields of an object that are not undefined. */
export function presentFields<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(present) as { [K in keyof T]?: Exclude<T[K], undefined> }
}

/** The schema of a field within an object's schema, by its path; `{}` if there is none. */
export function schemaAt(schema: JsonSchema, path: readonly PropertyKey[]): JsonSchema {
  let current: unknown = schema
  for (const key of path) {
    const properties = isRecord(current) ? current.properties : undefined
    current = isRecord(properties) ? properties[String(key)] : undefined
  }
  return isRecord(current) ? current : {}
}

/** The schema of the list, for a field that takes a list or one of its values. */
export function listForm(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema
  const [list] = Array.isArray(anyOf) ? anyOf : []
  return isRecord(list) && list.type === 'array' ? { ...rest, ...list } : schema
}

/** JSON with the keys of every object in one order, so that equal values have equal texts. */
export function orderedText(value: unknown): string {
  return JSON.stringify(value, inOrder)
}

function inOrder(_: string, value: unknown): unknown {
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)))
}

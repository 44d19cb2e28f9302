/** Any value that JSON can carry (RFC 8259). Nothing else crosses the router. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

export type JsonObject = { readonly [key: string]: Json }

/** A JSON Schema (2020-12) document. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** True for a plain object: neither null nor an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

import { isRecord, type JsonSchema } from '../../../../schemas/json.ts'

/** Moves the `$defs` of schemas into the components of one document. */
export interface Definitions {
  /** The members of `#/components/schemas`. */
  readonly schemas: Readonly<Record<string, unknown>>
  /** Returns the schema without its `$defs`, which are added under names that begin with `name`. */
  add(name: string, schema: JsonSchema): Record<string, unknown>
}

export function createDefinitions(): Definitions {
  const schemas: Record<string, unknown> = {}
  return {
    schemas,
    add(name, { $defs, ...schema }) {
      const prefix = `#/components/schemas/${name}.`
      for (const [key, definition] of Object.entries(isRecord($defs) ? $defs : {})) {
        schemas[`${name}.${key}`] = redirected(definition, prefix)
      }
      return redirected(schema, prefix) as Record<string, unknown>
    },
  }
}

function redirected(value: unknown, prefix: string): unknown {
  if (Array.isArray(value)) return value.map((item) => redirected(item, prefix))
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$ref' && typeof inner === 'string'
        ? inner.replace('#/$defs/', prefix)
        : redirected(inner, prefix),
    ]),
  )
}

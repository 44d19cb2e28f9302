import { isRecord, type JsonSchema } from '../../../../schemas/json.ts'

/** Schemas come with `$defs` of their own; in one document these stand among the components. */
export interface Definitions {
  /** What `#/components/schemas` holds. */
  readonly schemas: Readonly<Record<string, unknown>>
  /** The schema without its `$defs`, which are kept under names that begin with `name`. */
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

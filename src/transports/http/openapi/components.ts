import { isDeepStrictEqual } from 'node:util'
import { isRecord, type JsonSchema } from '../../../../schemas/json.ts'

/** Gathers what several operations of a document share, so that each of it stands in the document once. */
export interface Components {
  /** The members of `#/components/schemas`, in the order of their names. */
  schemas(): Record<string, JsonSchema>
  /** The members of `#/components/parameters`. */
  parameters(): Record<string, unknown>
  /** The members of `#/components/links`. */
  links(): Record<string, unknown>
  /** Returns the schema without its `$defs`, which become components of the same names. */
  add(schema: JsonSchema): JsonSchema
  /**
   * Makes a schema without a name of its own a component, and returns the reference to it; to the component that is
   * equal to it, if there is one.
   */
  name(name: string, schema: JsonSchema): JsonSchema
  /** The schema that a reference points to, else the schema itself. */
  resolve(schema: JsonSchema): JsonSchema
  /** A reference to the parameter, which becomes a component; the parameter itself if another one has its name. */
  parameter(parameter: Parameter): unknown
  /** A reference to the link, which becomes a component. */
  link(link: Link): unknown
}

/** OpenAPI's Parameter Object. */
export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: true
  readonly description?: string
  readonly allowEmptyValue?: true
  readonly schema: JsonSchema
}

/** OpenAPI's Link Object. */
interface Link {
  readonly operationId: string
  readonly parameters: Readonly<Record<string, string>>
}

const prefix = '#/components/schemas/'

export function createComponents(): Components {
  const schemas = new Map<string, JsonSchema>([
    ['JsonObject', { type: 'object', additionalProperties: true }],
  ])
  const parameters = new Map<string, Parameter>()
  const links = new Map<string, Link>()

  function set(name: string, schema: JsonSchema): JsonSchema {
    const before = schemas.get(name)
    if (before && JSON.stringify(before) !== JSON.stringify(schema))
      throw new Error(`Two schemas have the id ${name}.`)
    schemas.set(name, schema)
    return { $ref: `${prefix}${name}` }
  }
  return {
    schemas: () => Object.fromEntries([...schemas].sort(([left], [right]) => (left < right ? -1 : 1))),
    parameters: () => Object.fromEntries(parameters),
    links: () => Object.fromEntries(links),
    add({ $defs, ...schema }) {
      for (const [name, { id: _, ...definition }] of Object.entries(definitionsIn($defs)))
        set(name, redirected(definition) as JsonSchema)
      return redirected(schema) as JsonSchema
    },
    name(name, schema) {
      if ('$ref' in schema) return schema
      const [equal = name] = [...schemas].find(([, candidate]) => isDeepStrictEqual(candidate, schema)) ?? []
      return set(equal, schemas.get(equal) ?? schema)
    },
    resolve({ $ref, ...schema }) {
      return typeof $ref === 'string' ? (schemas.get($ref.slice(prefix.length)) ?? {}) : schema
    },
    parameter(parameter) {
      const { name } = parameter
      const before = parameters.get(name) ?? parameter
      if (JSON.stringify(before) !== JSON.stringify(parameter)) return parameter
      parameters.set(name, parameter)
      return { $ref: `#/components/parameters/${name}` }
    },
    link(link) {
      links.set(link.operationId, link)
      return { $ref: `#/components/links/${link.operationId}` }
    },
  }
}

function definitionsIn($defs: unknown): Record<string, JsonSchema> {
  return isRecord($defs) ? ($defs as Record<string, JsonSchema>) : {}
}

/** True for a schema of objects with any members. */
function isAnyObject({ type, properties, additionalProperties }: Record<string, unknown>): boolean {
  if (type !== 'object' || !isRecord(additionalProperties)) return false
  return Object.keys({ ...additionalProperties, ...(isRecord(properties) && properties) }).length === 0
}

/** Generated clients have one type for all of them. */
function anyObject({ description }: Record<string, unknown>): JsonSchema {
  return { $ref: `${prefix}JsonObject`, ...(description !== undefined && { description }) }
}

function redirected(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redirected)
  if (!isRecord(value)) return value
  if (isAnyObject(value)) return anyObject(value)
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$ref' && typeof inner === 'string' ? inner.replace('#/$defs/', prefix) : redirected(inner),
    ]),
  )
}

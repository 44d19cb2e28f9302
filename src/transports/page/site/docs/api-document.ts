import { isRecord, type JsonSchema } from '../../../../../schemas/json.ts'

/** What the pages read of the OpenAPI document that the gateway serves. */
export interface ApiDocument {
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly parameters: Readonly<Record<string, ApiParameter>>
    readonly responses: Readonly<Record<string, ApiAnswer>>
  }
}

interface ApiOperation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly (ApiParameter | Reference)[]
  readonly requestBody?: { readonly content: Readonly<Record<string, ApiContent>> }
  readonly responses: Readonly<Record<string, ApiAnswer | Reference>>
}

interface ApiParameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema?: JsonSchema
}

interface ApiAnswer {
  readonly description: string
  readonly content?: Readonly<Record<string, ApiContent>>
}

interface ApiContent {
  readonly schema?: JsonSchema
  readonly example?: unknown
}

interface Reference {
  readonly $ref: string
}

/** One operation with its address. */
export interface ApiRow extends ApiOperation {
  readonly method: string
  readonly path: string
}

/** The operations with a tag, in the order of the document. */
export function operationsOf({ paths }: ApiDocument, tag: string): ApiRow[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { tags }]) => tags[0] === tag)
      .map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  )
}

/** What a reference of the document names, else the value itself. */
export function resolved<Value extends object>(
  { components }: ApiDocument,
  value: Value | Reference,
): Value | undefined {
  if (!('$ref' in value)) return value
  const [kind = '', name = ''] = nameOf(value.$ref)
  const group = Reflect.get(components, kind)
  return isRecord(group) ? (group[name] as unknown as Value) : undefined
}

/** The kind and the name of a component that a reference leads to. */
function nameOf(reference: string): string[] {
  return reference.replace('#/components/', '').split('/')
}

/** The name of the schema that a schema refers to. */
export function schemaName({ $ref }: JsonSchema): string | undefined {
  return typeof $ref === 'string' ? nameOf($ref)[1] : undefined
}

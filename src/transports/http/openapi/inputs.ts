import { isRecord, type Json, type JsonSchema, listForm } from '../../../../schemas/json.ts'
import type { Components, Parameter } from './components.ts'
import type { Row } from './row.ts'

/** OpenAPI's Parameter Objects of a row: path, query, and the conditions of RFC 9110. */
export function parametersOf(row: Row, components: Components): unknown[] {
  const fieldAt = fieldsOf(row, components)
  const parameters = [...pathParameters(row, fieldAt), ...queryParameters(row, fieldAt), ...conditions(row)]
  return parameters.map((parameter) => components.parameter(parameter))
}

type FieldAt = (path: readonly string[]) => JsonSchema

/** The schema of a field of the input, through references. */
function fieldsOf({ action }: Row, components: Components): FieldAt {
  const input = components.add(action.input.named ?? action.input.json)
  return (path) =>
    path.reduce<JsonSchema>((schema, name) => {
      const { properties } = components.resolve(schema)
      const field = isRecord(properties) ? properties[name] : undefined
      return isRecord(field) ? field : {}
    }, input)
}

function pathParameters({ route }: Row, fieldAt: FieldAt): Parameter[] {
  return Object.entries(route.parameters ?? {}).map(([name, field]) => ({
    name,
    in: 'path',
    required: true,
    schema: fieldAt([field]),
  }))
}

/** A form also sends its empty fields: optional texts and lists may be empty. */
function queryParameters({ route, action }: Row, fieldAt: FieldAt): Parameter[] {
  const { required } = action.input.json
  const needed = new Set(Array.isArray(required) ? required : [])
  return Object.entries(route.query ?? {}).map(([name, field]) => {
    const schema = listForm(fieldAt(field.split('.')))
    const value = route.defaults?.[field]
    const isNeeded = needed.has(field) && value === undefined
    const mayBeEmpty = !isNeeded && (schema.type === 'string' || schema.type === 'array')
    return {
      name,
      in: 'query',
      ...(isNeeded && { required: true }),
      ...(mayBeEmpty && { allowEmptyValue: true }),
      schema: value === undefined ? schema : withDefault(schema, value),
    }
  })
}

/** The default of a row replaces that of the action, which the description of an input states. */
function withDefault({ description, ...schema }: JsonSchema, value: Json): JsonSchema {
  const meaning = typeof description === 'string' ? description.replace(/ ?Default: .*$/, '') : ''
  return { ...(meaning !== '' && { description: meaning }), ...schema, default: value }
}

/** RFC 9110 section 13. */
function conditions({ route, action }: Row): Parameter[] {
  const header = (
    name: string,
    description: string,
    schema: JsonSchema = { type: 'string' },
  ): Parameter[] => [{ name, in: 'header', description, schema }]
  if (route.events) return header('Last-Event-ID', 'Number of the last event that the caller has.')
  if (route.method === 'get' && !route.uncached)
    return header('If-None-Match', 'ETags that the caller has; 304 if one of them matches.')
  if (action.idempotency === 'key')
    return header(
      'Idempotency-Key',
      'Names this call. The gateway runs it once and repeats the answer for a day. Needs a token.',
      { type: 'string', pattern: '^[!-~]{1,200}$' },
    )
  if (route.conditional)
    return header('If-Match', 'ETag of the entry as last read; 412 if the entry has changed.')
  return []
}

export function answerSchema({ route, action }: Row, components: Components): JsonSchema {
  const schema = components.add(action.output.named ?? action.output.json)
  return route.body === 'input' ? inOne('output', schema) : schema
}

/** The input without the fields that the path and the headers hold; undefined if nothing is left. */
export function bodySchema({ route, action }: Row, components: Components): JsonSchema | undefined {
  if (!route.body) return undefined
  const input = components.add(action.input.named ?? action.input.json)
  if (route.body === 'input') return { ...inOne('input', input), additionalProperties: false }
  const taken = new Set([
    ...Object.values(route.parameters ?? {}),
    ...(route.conditional ? ['expected_revision'] : []),
    ...(action.idempotency === 'key' ? ['idempotency_key'] : []),
  ])
  if (taken.size === 0) return input
  // Generators read no conditions; the description states them.
  const { properties, required, if: _, then: __, ...rest } = components.resolve(input)
  const left = Object.entries(isRecord(properties) ? properties : {}).filter(([name]) => !taken.has(name))
  if (left.length === 0) return undefined
  const needed = Array.isArray(required) ? required.filter((name) => !taken.has(name)) : []
  return {
    ...rest,
    properties: Object.fromEntries(left),
    ...(needed.length > 0 && { required: needed }),
  }
}

/** True if a body must be sent: it has a required field, or the action needs one of several. */
export function needsBody({ action }: Row, body: JsonSchema, components: Components): boolean {
  const stated = components.resolve(components.add(action.input.named ?? action.input.json))
  const { required } = components.resolve(body)
  return Array.isArray(required) || conditionKeywords.some((keyword) => keyword in stated)
}

const conditionKeywords = ['anyOf', 'oneOf', 'if', 'minProperties']

function inOne(field: string, schema: JsonSchema): JsonSchema {
  return { type: 'object', required: [field], properties: { [field]: schema } }
}

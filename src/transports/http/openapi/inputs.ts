import { isRecord, type JsonSchema, schemaAt } from '../../../../schemas/json.ts'
import { type NamedRow, parameterNames, type Row } from './row.ts'

/** OpenAPI's Parameter Objects of a row: path, query, and the conditions of RFC 9110. */
export function parametersOf(row: NamedRow): unknown[] {
  return [...pathParameters(row), ...queryParameters(row), ...conditions(row)]
}

function pathParameters(row: NamedRow): unknown[] {
  return parameterNames(row).map(([own, shared]) => ({
    name: shared,
    in: 'path',
    required: true,
    schema: schemaAt(row.action.input.json, [row.route.parameters?.[own] ?? own]),
  }))
}

/** A form also sends its empty fields: optional texts and lists may be empty. */
function queryParameters({ route, action }: Row): unknown[] {
  const { required } = action.input.json
  const needed = new Set(Array.isArray(required) ? required : [])
  return Object.entries(route.query ?? {}).map(([name, field]) => {
    const schema = schemaAt(action.input.json, field.split('.'))
    const value = route.defaults?.[field]
    const isNeeded = needed.has(field) && value === undefined
    const mayBeEmpty = !isNeeded && (schema.type === 'string' || schema.type === 'array')
    return {
      name,
      in: 'query',
      ...(isNeeded && { required: true }),
      ...(mayBeEmpty && { allowEmptyValue: true }),
      schema: value === undefined ? schema : { ...schema, default: value },
    }
  })
}

/** RFC 9110 section 13. */
function conditions({ route, action }: Row): unknown[] {
  const header = (name: string, description: string, schema: JsonSchema = { type: 'string' }) => [
    { name, in: 'header', description, schema },
  ]
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

export function answerSchema({ route, action }: Row): JsonSchema {
  return route.body === 'input' ? inOne('output', action.output.json) : action.output.json
}

/** The input without the fields that the path and the headers hold. */
export function bodySchema({ route, action }: Row): JsonSchema {
  const schema = action.input.json
  if (route.body === 'input') return { ...inOne('input', schema), additionalProperties: false }
  const taken = new Set([
    ...Object.values(route.parameters ?? {}),
    ...(route.conditional ? ['expected_revision'] : []),
    ...(action.idempotency === 'key' ? ['idempotency_key'] : []),
  ])
  const left = ([name]: [string, unknown]) => !taken.has(name)
  const { properties, required, ...rest } = schema
  const needed = Array.isArray(required) ? required.filter((name) => !taken.has(name)) : []
  return {
    ...rest,
    properties: Object.fromEntries(Object.entries(isRecord(properties) ? properties : {}).filter(left)),
    ...(needed.length > 0 && { required: needed }),
  }
}

/** An object of one field; definitions stay at the root, where references point. */
function inOne(field: string, { $defs, ...schema }: JsonSchema): JsonSchema {
  return {
    type: 'object',
    required: [field],
    properties: { [field]: schema },
    ...($defs !== undefined && { $defs }),
  }
}

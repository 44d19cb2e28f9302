import { Failure } from '../../../schemas/failure.ts'
import { isRecord, type JsonSchema, listForm, schemaAt } from '../../../schemas/json.ts'
import { nearest } from '../../../schemas/nearest.ts'

/**
 * Query parameters as fields of an action's input, coerced by the action's schema: numbers and booleans are
 * converted, lists may be repeated or comma-separated. A value that cannot be converted stays text, and the schema
 * refuses it. Throws Failure `invalid_request` for unknown names (with the nearest) and for repeated scalars.
 */
export function readQuery(
  search: string,
  fields: Readonly<Record<string, string>>,
  schema: JsonSchema,
): Record<string, unknown> {
  const input: Record<string, unknown> = {}
  if (search === '') return input
  const values = new URLSearchParams(search)
  for (const name of new Set(values.keys())) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (field === undefined) throw unknownParameter(name, Object.keys(fields))
    const path = field.split('.')
    const value = coerce(name, values.getAll(name), listForm(schemaAt(schema, path)))
    if (value !== undefined) assign(input, path, value)
  }
  return input
}

function coerce(name: string, values: readonly string[], schema: JsonSchema): unknown {
  if (schema.type === 'array')
    return values.flatMap((value) => value.split(',')).filter((value) => value !== '')
  const [value = '', ...more] = values
  if (more.length > 0) {
    throw new Failure('invalid_request', `The query parameter ${name} occurs ${values.length} times.`, {
      errors: [{ pointer: `/${name}`, detail: 'Give it once.' }],
    })
  }
  if (schema.type === 'integer' || schema.type === 'number')
    return /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(value) ? Number(value) : value
  if (schema.type === 'boolean') return value === 'true' ? true : value === 'false' ? false : value
  // A form also sends its empty fields.
  return value === '' ? undefined : value
}

/** Sets a field, and creates the objects on its path. */
export function assign(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [key = '', ...rest] = path
  if (rest.length === 0) {
    target[key] = value
    return
  }
  const inner = isRecord(target[key]) ? target[key] : {}
  target[key] = inner
  assign(inner, rest, value)
}

function unknownParameter(name: string, names: readonly string[]): Failure {
  const close = nearest(name, names)
  const takes = names.length > 0 ? `It takes ${names.join(', ')}.` : 'It takes none.'
  return new Failure('invalid_request', `The query parameter ${name} is unknown.`, {
    errors: [{ pointer: `/${name}`, detail: 'This query parameter is unknown.' }],
    hint: takes,
    ...(close.length > 0 && { nearest: close }),
  })
}

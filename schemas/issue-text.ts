import type { z } from 'zod'
import { counted } from './counted.ts'
import { isRecord, type JsonSchema, listForm } from './json.ts'

/** Messages that zod makes itself; a schema with a message of its own says better what is wrong. */
const standardMessage = /^(Invalid|Too (big|small)|Unrecognized)/

/**
 * What to give in place of a value that a schema refuses, in plain words; `schema` is the JSON Schema of the field, whose
 * bounds the text names. With the refused `value`, the text says what came in its place.
 */
export function issueText(issue: z.core.$ZodIssue, schema: JsonSchema = {}, value?: unknown): string {
  if (!standardMessage.test(issue.message)) return issue.message
  if (issue.code === 'unrecognized_keys') return `There is no field ${issue.keys.join(', ')}.`
  if (issue.code === 'invalid_type') return ofType(issue.expected, schema, value)
  if (issue.code === 'too_small' || issue.code === 'too_big') return within(issue, schema)
  if (issue.code === 'invalid_value') return oneOf(issue.values)
  if (issue.code === 'invalid_format') return ofFormat(issue)
  if (issue.code === 'not_multiple_of') return `Give a multiple of ${issue.divisor}.`
  return 'This value is not accepted.'
}

function ofType(expected: string, schema: JsonSchema, value: unknown): string {
  const expectedType = nameOf(expected, schema)
  if (expectedType === undefined) return 'This value has the wrong type.'
  const received = kindOf(value, isScalar(expected))
  if (expected === 'array' && received !== undefined)
    return `Give a list${exampleIn(schema)}, not ${received}.`
  // 1.5 is a number too: only what is expected helps.
  const isNumber = received === 'a number' && ['number', 'nan', 'int'].includes(expected)
  return received === undefined || isNumber
    ? `Give ${expectedType}.`
    : `Give ${expectedType}, not ${received}.`
}

/** A list of texts as JSON writes it: for one value, many callers send that value alone. */
function exampleIn({ items }: JsonSchema): string {
  if (!isRecord(items) || items.type !== 'string') return ''
  const [value = 'text'] = Array.isArray(items.enum) ? items.enum : []
  return ` such as ["${value}"]`
}

/** True for types whose texts are no secrets, so that a message may quote them. */
function isScalar(expected: string): boolean {
  return ['number', 'nan', 'int', 'boolean', 'null'].includes(expected)
}

function nameOf(expected: string, schema: JsonSchema): string | undefined {
  if (expected === 'number' || expected === 'nan') return `a number${range(schema)}`
  if (expected === 'int') return `a whole number${range(schema)}`
  if (expected === 'string') return 'a text'
  if (expected === 'boolean') return 'true or false'
  if (expected === 'array' || expected === 'tuple') return 'a list'
  if (expected === 'object' || expected === 'record') return 'an object'
  return expected === 'null' ? 'null' : undefined
}

function kindOf(value: unknown, quotes: boolean): string | undefined {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'string') return quotes ? `the text ${quoted(value)}` : 'a text'
  if (typeof value === 'number') return 'a number'
  if (typeof value === 'boolean') return String(value)
  return typeof value === 'object' ? 'an object' : undefined
}

const maxQuoted = 30

function quoted(text: string): string {
  return JSON.stringify(text.length > maxQuoted ? `${text.slice(0, maxQuoted)}…` : text)
}

type SizeIssue = z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig

function within(issue: SizeIssue, schema: JsonSchema): string {
  const isSmall = issue.code === 'too_small'
  const bound = Number(isSmall ? issue.minimum : issue.maximum)
  const side = isSmall
    ? issue.inclusive === false
      ? 'more than'
      : 'at least'
    : issue.inclusive === false
      ? 'less than'
      : 'at most'
  if (issue.origin === 'string') return `Give ${side} ${counted(bound, 'character')}.`
  if (issue.origin === 'array' || issue.origin === 'set') return `Give ${side} ${counted(bound, 'item')}.`
  if (issue.origin === 'object' || issue.origin === 'record')
    return `Give ${side} ${counted(bound, 'field')}.`
  return `Give a number${range(schema) || ` of ${side} ${bound}`}.`
}

/** The bounds that the schema states, except those of every safe integer. */
function range({ minimum, maximum }: JsonSchema): string {
  const low = typeof minimum === 'number' && minimum > Number.MIN_SAFE_INTEGER ? minimum : undefined
  const high = typeof maximum === 'number' && maximum < Number.MAX_SAFE_INTEGER ? maximum : undefined
  if (low !== undefined && high !== undefined) return ` from ${low} to ${high}`
  if (low !== undefined) return ` of at least ${low}`
  return high === undefined ? '' : ` of at most ${high}`
}

function oneOf(values: readonly unknown[]): string {
  return values.length === 1 ? `Give ${String(values[0])}.` : `Give one of ${values.join(', ')}.`
}

const formats: Readonly<Record<string, string>> = {
  url: 'a URL such as https://example.com/',
  uuid: 'a UUID',
  email: 'an email address',
  datetime: 'a date and time such as 2026-01-31T12:00:00Z',
  date: 'a date such as 2026-01-31',
  base64: 'base64',
}

function ofFormat(issue: z.core.$ZodIssueInvalidStringFormat): string {
  const { format } = issue
  if (format === 'regex') return 'The text has characters or a form that is not accepted.'
  return `Give ${formats[format] ?? 'another text: this one has the wrong form'}.`
}

/** The schema of a field or an item, through objects and lists; `{}` if there is none. */
export function fieldSchema(schema: JsonSchema, path: readonly PropertyKey[]): JsonSchema {
  return path.reduce<JsonSchema>((current, key) => {
    const { properties, items } = current
    const inner = typeof key === 'number' ? items : isRecord(properties) ? properties[String(key)] : undefined
    return isRecord(inner) ? listForm(inner) : {}
  }, schema)
}

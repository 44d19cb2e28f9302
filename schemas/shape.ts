import { z } from 'zod'
import { Failure, type FieldError } from './failure.ts'
import { fieldSchema, issueText } from './issue-text.ts'
import { isRecord, type JsonSchema, schemaAt } from './json.ts'
import { agentAliases, agentGuesses } from './names.ts'
import { nearest } from './nearest.ts'

/** A type that can be checked at run time and shown as JSON Schema. */
export interface Shape<T> {
  readonly json: JsonSchema
  /** The same schema, with the types that have an `id` in its `$defs`; absent for a schema of a listed agent. */
  readonly named?: JsonSchema
  /** The value, typed, with defaults filled in. Throws Failure `invalid_request` with JSON pointers. */
  parse(value: unknown): T
}

/** The lists that take one value as well. */
const listsOrOne = new WeakSet<object>()

/** Maximum values of one field of a filter. */
const maxValues = 20

/** A list that callers may also give as its one value: a query takes both forms, so that a body does too. */
export function listOrOne<Item extends z.ZodType<unknown, string>>(item: Item) {
  const list = z.preprocess(
    (value) => (typeof value === 'string' ? [value] : value),
    z.array(item).max(maxValues),
  )
  // Descriptions make copies, which share the definition.
  listsOrOne.add(list._zod.def)
  return list
}

/** States the one value beside the list. */
function withOne({ zodSchema, jsonSchema }: Converted): void {
  const isMarked = listsOrOne.has(zodSchema._zod.def)
  if (!isMarked || !isRecord(jsonSchema.items)) return
  const { type, items, maxItems, ...rest } = jsonSchema
  for (const key of ['type', 'items', 'maxItems'] as const) delete jsonSchema[key]
  Object.assign(jsonSchema, { ...rest, anyOf: [{ type, items, maxItems }, items] })
}

/** A shape for input: fields with a default are optional in its JSON Schema. */
export function input<T>(type: z.ZodType<T>): Shape<T> {
  return shape(type, 'input')
}

/** A shape for outputs. */
export function output<T>(type: z.ZodType<T>): Shape<T> {
  return shape(type, 'output')
}

function shape<T>(type: z.ZodType<T>, io: 'input' | 'output'): Shape<T> {
  const named = io === 'input' ? agentNames(type) : undefined
  return {
    get json() {
      return toJsonSchema(type, io)
    },
    get named() {
      const { $schema: _, ...schema } = z.toJSONSchema(type, {
        io,
        unrepresentable: 'any',
        override: (converted) => {
          if (io === 'input') withoutDefault(converted)
          else shortened(converted)
          withOne(converted)
        },
      })
      return schema
    },
    parse(stated) {
      const value = named ? withAgent(stated, named) : stated
      const result = type.safeParse(value)
      if (result.success) return result.data
      throw invalid(result.error.issues, this.json, value)
    },
  }
}

interface AgentNames {
  readonly aliases: readonly string[]
  readonly guesses: readonly string[]
}

/** The other names under which an input takes its field `agent`: those that are no fields of its own. */
function agentNames(type: z.ZodType): AgentNames | undefined {
  if (!(type instanceof z.ZodObject) || !('agent' in type.shape)) return undefined
  const isFree = (name: string) => !(name in type.shape)
  return { aliases: agentAliases.filter(isFree), guesses: agentGuesses.filter(isFree) }
}

/** The input with its agent under the name `agent`. A guess counts only if there is no other name. */
function withAgent(value: unknown, { aliases, guesses }: AgentNames): unknown {
  const input = withAgentField(value, aliases)
  if (!isRecord(input) || input.agent !== undefined) return input
  const guess = guesses.find((name) => input[name] !== undefined)
  return guess === undefined ? input : withAgentField(input, [guess])
}

/** The value with its agent under the name `agent`. Throws Failure `invalid_request` for one that is stated twice. */
export function withAgentField(value: unknown, aliases: readonly string[]): unknown {
  if (!isRecord(value)) return value
  const [alias] = aliases.filter((name) => value[name] !== undefined)
  if (alias === undefined) return value
  const stated = ['agent', ...aliases].filter((name) => value[name] !== undefined)
  if (stated.length > 1) {
    const detail = `${stated.join(' and ')} mean the same. Give only agent.`
    throw Failure.invalidField(`/${alias}`, detail)
  }
  const { [alias]: text, ...rest } = value
  return { agent: text, ...rest }
}

type Converted = Parameters<NonNullable<z.core.ToJSONSchemaParams['override']>>[0]

/**
 * The short form for documents: no patterns that a format states already, no bounds that every integer has. Objects are
 * open unless their type is strict: answers gain fields, and a reader must ignore the ones that it does not know.
 */
function shortened({ zodSchema, jsonSchema }: Converted): void {
  const isStrict = zodSchema instanceof z.core.$ZodObject && zodSchema._zod.def.catchall !== undefined
  if (!isStrict && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
  if (jsonSchema.format === 'uuid' || jsonSchema.format === 'date-time') delete jsonSchema.pattern
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
}

/** Generators make a field with a default a required one, so that the description of an input states the default. */
function withoutDefault(converted: Converted): void {
  shortened(converted)
  const { jsonSchema } = converted
  if (jsonSchema.default === undefined) return
  const text = `Default: ${JSON.stringify(jsonSchema.default)}.`
  jsonSchema.description = [jsonSchema.description, text].filter(Boolean).join(' ')
  delete jsonSchema.default
}

/** The metadata of types without their ids, by which zod would move the types to `$defs`. */
const withoutIds = z.registry<z.GlobalMeta>()
withoutIds.get = (type) => {
  const { id: _, ...meta } = z.globalRegistry.get(type) ?? {}
  return meta as never
}

/** A type is converted once in a process, however many gateways run in it. */
const converted = {
  input: new WeakMap<z.ZodType, JsonSchema>(),
  output: new WeakMap<z.ZodType, JsonSchema>(),
}

function toJsonSchema(type: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const cached = converted[io].get(type)
  if (cached) return cached
  const { $schema: _, ...json } = z.toJSONSchema(type, {
    io,
    unrepresentable: 'any',
    metadata: withoutIds,
    override: withOne,
  })
  converted[io].set(type, json)
  return json
}

/** Maximum number of reported errors, so that a body with thousands of errors does not get an answer of that size. */
const maxErrors = 20

function invalid(issues: readonly z.core.$ZodIssue[], json: JsonSchema, value: unknown): Failure {
  const shown = withoutSequels(issues)
    .toSorted((left, right) => rank(left) - rank(right))
    .slice(0, maxErrors)
  const errors = shown.flatMap((issue) => fieldErrors(issue, json, value)).slice(0, maxErrors)
  const close = [...new Set(shown.flatMap((issue) => nearestFields(issue, json)))].slice(0, maxErrors)
  const first = errors[0]
  const message = first ? `${first.pointer || 'The input'}: ${first.detail}` : 'The input is not valid.'
  const hint = shown.flatMap((issue) => fieldsHint(issue, json, close.length))[0]
  return new Failure('invalid_request', message, {
    errors,
    ...(hint !== undefined && { hint }),
    ...(close.length > 0 && { nearest: close }),
  })
}

/** A value of the wrong type has that issue alone: zod counts the characters of a text in the place of a list too. */
function withoutSequels(issues: readonly z.core.$ZodIssue[]): readonly z.core.$ZodIssue[] {
  const mistyped = new Set(
    issues.filter(({ code }) => code === 'invalid_type').map(({ path }) => pointer(path)),
  )
  if (mistyped.size === 0) return issues
  return issues.filter(({ code, path }) => code === 'invalid_type' || !mistyped.has(pointer(path)))
}

/** What is missing or wrong says more than what there is too much of. */
function rank({ code }: z.core.$ZodIssue): number {
  return code === 'unrecognized_keys' ? 1 : 0
}

function nearestFields(issue: z.core.$ZodIssue, json: JsonSchema): string[] {
  if (issue.code !== 'unrecognized_keys') return []
  const names = fieldNames(json, issue.path)
  return issue.keys.slice(0, maxErrors).flatMap((key) => nearest(key, names))
}

/** What an object takes that got fields which are like none of its own; `close` of them are. */
function fieldsHint(issue: z.core.$ZodIssue, json: JsonSchema, close: number): string[] {
  if (issue.code !== 'unrecognized_keys' || issue.keys.length <= close) return []
  const names = fieldNames(json, issue.path)
  if (names.length === 0) return []
  return [`${pointer(issue.path) || 'It'} takes ${names.join(', ')}.`]
}

function fieldNames(json: JsonSchema, path: readonly PropertyKey[]): string[] {
  const { properties } = schemaAt(json, path)
  return isRecord(properties) ? Object.keys(properties) : []
}

function fieldErrors(issue: z.core.$ZodIssue, json: JsonSchema, value: unknown): FieldError[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, maxErrors).map((key) => ({
      pointer: pointer([...issue.path, key]),
      detail: 'There is no such field.',
    }))
  }
  const mayBeMissing = ['invalid_type', 'invalid_value', 'invalid_union'].includes(issue.code)
  const path = statedPath(value, issue.path)
  const current = at(value, path)
  const missing = mayBeMissing && current === undefined
  const detail = missing
    ? 'This field is required.'
    : issueText(issue, fieldSchema(json, issue.path), current)
  return [{ pointer: pointer(path), detail }]
}

/** The path to a text that was given in the place of a list of one. */
function statedPath(value: unknown, path: readonly PropertyKey[]): readonly PropertyKey[] {
  const outer = path.slice(0, -1)
  return path.at(-1) === 0 && typeof at(value, outer) === 'string' ? outer : path
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  let current = value
  for (const key of path) {
    if (typeof current !== 'object' || current === null) return undefined
    current = Reflect.get(current, key)
  }
  return current
}

const maxKey = 100

/** JSON Pointer (RFC 6901). Callers choose the keys, so each key is cut after 100 characters. */
export function pointer(path: readonly PropertyKey[]): string {
  const keys = path.map((key) => String(key).slice(0, maxKey))
  return keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

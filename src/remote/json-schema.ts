import type { FieldError } from '../../schemas/failure.ts'
import { isRecord, type JsonSchema } from '../../schemas/json.ts'
import { pointer } from '../../schemas/shape.ts'

type Path = readonly PropertyKey[]

/** Looks at one value under one schema; true where it fits, or where it cannot be told. */
interface Run {
  readonly root: JsonSchema
  readonly errors: FieldError[]
  /** What is left to look at. */
  steps: number
}

const mostSteps = 20_000
const deepest = 64
const mostErrors = 20
const longestPattern = 200
const longestMatched = 1000

/**
 * What is wrong with a value by a JSON Schema (2020-12, and what of draft 7 is written otherwise), at most 20 errors.
 * The schema is hostile input: it is walked, never compiled, for at most 20,000 steps; references lead into the schema
 * itself alone; patterns that could take long are passed over, as are keywords that are not known. Where the steps run
 * out the value passes: the agent whose schema it is will judge.
 */
export function errorsBySchema(schema: JsonSchema, value: unknown): readonly FieldError[] {
  const run: Run = { root: schema, errors: [], steps: mostSteps }
  check(schema, value, [], run, 0)
  return run.steps > 0 ? run.errors.slice(0, mostErrors) : []
}

function check(schema: unknown, value: unknown, path: Path, run: Run, depth: number): void {
  run.steps -= 1
  if (run.steps <= 0 || depth > deepest || run.errors.length >= mostErrors) return
  if (schema === false) complain(run, path, 'There is no such field.')
  if (!isRecord(schema)) return
  if (typeof schema.$ref === 'string') check(resolve(schema.$ref, run.root), value, path, run, depth + 1)
  if (!checkType(schema, value, path, run)) return
  checkValue(schema, value, path, run)
  if (typeof value === 'string') checkText(schema, value, path, run)
  if (typeof value === 'number') checkNumber(schema, value, path, run)
  if (Array.isArray(value)) checkList(schema, value, path, run, depth)
  if (isRecord(value)) checkObject(schema, value, path, run, depth)
  checkCombined(schema, value, path, run, depth)
}

function complain(run: Run, path: Path, detail: string): void {
  run.errors.push({ pointer: pointer(path), detail })
}

/** Whether a value fits, without saying why not. */
function fits(schema: unknown, value: unknown, run: Run, depth: number): boolean {
  const trial: Run = { root: run.root, errors: [], steps: run.steps }
  check(schema, value, [], trial, depth + 1)
  run.steps = trial.steps
  return trial.errors.length === 0
}

function resolve(reference: string, root: JsonSchema): unknown {
  if (!reference.startsWith('#')) return true
  const keys = reference.slice(1).split('/').slice(1)
  let current: unknown = root
  for (const key of keys.map(unescaped)) {
    const holds = typeof current === 'object' && current !== null && Object.hasOwn(current, key)
    current = holds ? Reflect.get(current as object, key) : undefined
  }
  return current ?? true
}

function unescaped(key: string): string {
  const plain = key.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(plain)
  } catch {
    return plain
  }
}

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === 'boolean',
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  array: Array.isArray,
  object: isRecord,
}

function checkType({ type, nullable }: JsonSchema, value: unknown, path: Path, run: Run): boolean {
  const names = (Array.isArray(type) ? type : [type]).filter((one) => typeof one === 'string')
  const known = names.filter((name) => Object.hasOwn(types, name))
  if (known.length === 0 || known.length < names.length) return true
  if (known.some((name) => types[name]?.(value)) || (nullable === true && value === null)) return true
  complain(run, path, `This must be ${known.join(' or ')}.`)
  return false
}

function checkValue(schema: JsonSchema, value: unknown, path: Path, run: Run): void {
  const { enum: allowed } = schema
  if (Array.isArray(allowed) && !allowed.some((one) => isSame(one, value, run))) {
    const shown = allowed.slice(0, 20).map((one) => (JSON.stringify(one) ?? '').slice(0, 60))
    complain(run, path, `This must be one of ${shown.join(', ')}.`)
  }
  if (Object.hasOwn(schema, 'const') && !isSame(schema.const, value, run)) {
    complain(run, path, `This must be ${(JSON.stringify(schema.const) ?? '').slice(0, 60)}.`)
  }
}

function isSame(one: unknown, other: unknown, run: Run): boolean {
  run.steps -= 1
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) !== Array.isArray(other) || run.steps <= 0) return false
  const keys = Object.keys(one)
  if (keys.length !== Object.keys(other).length) return false
  return keys.every(
    (key) => Object.hasOwn(other, key) && isSame(Reflect.get(one, key), Reflect.get(other, key), run),
  )
}

function checkText({ minLength, maxLength, pattern }: JsonSchema, text: string, path: Path, run: Run): void {
  const atLeast = isNumber(minLength) && minLength > 0 ? minLength : 0
  // A character may be two code units, so only what is near the bound is counted.
  if (atLeast > 0 && (text.length < atLeast || characters(text, atLeast * 2) < atLeast)) {
    complain(run, path, `This must have at least ${atLeast} characters.`)
  }
  if (isNumber(maxLength) && text.length > maxLength && characters(text, maxLength * 2) > maxLength) {
    complain(run, path, `This must have at most ${maxLength} characters.`)
  }
  if (typeof pattern !== 'string' || text.length > longestMatched) return
  if (quickPattern(pattern)?.test(text) === false) complain(run, path, `This must match ${pattern}.`)
}

/** Code points, counted where there are at most so many code units; else the units. */
function characters(text: string, most: number): number {
  return text.length > most ? text.length : [...text].length
}

/** Groups that repeat, and anything that looks around or back, could take for ever. */
const slow = /\)[*+?{]|\(\?[=!<]|\\[1-9k]/
const unbounded = /[*+]|\{\d+,\}/g

/** The pattern where it cannot take longer than the square of its text. */
function quickPattern(pattern: string): RegExp | undefined {
  if (pattern.length > longestPattern || slow.test(pattern)) return undefined
  const loops = pattern.match(unbounded)?.length ?? 0
  if (loops > (pattern.startsWith('^') ? 2 : 1)) return undefined
  try {
    return new RegExp(pattern, 'u')
  } catch {
    return undefined
  }
}

function checkNumber(schema: JsonSchema, value: number, path: Path, run: Run): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema
  if (isNumber(minimum) && value < minimum) complain(run, path, `This must be at least ${minimum}.`)
  if (isNumber(maximum) && value > maximum) complain(run, path, `This must be at most ${maximum}.`)
  if (isNumber(exclusiveMinimum) && value <= exclusiveMinimum) {
    complain(run, path, `This must be more than ${exclusiveMinimum}.`)
  }
  if (isNumber(exclusiveMaximum) && value >= exclusiveMaximum) {
    complain(run, path, `This must be less than ${exclusiveMaximum}.`)
  }
  if (!isNumber(multipleOf) || multipleOf <= 0) return
  const quotient = value / multipleOf
  if (Math.abs(quotient - Math.round(quotient)) > 1e-9) {
    complain(run, path, `This must be a multiple of ${multipleOf}.`)
  }
}

function checkList(schema: JsonSchema, list: readonly unknown[], path: Path, run: Run, depth: number): void {
  const { minItems, maxItems } = schema
  if (isNumber(minItems) && list.length < minItems) {
    complain(run, path, `This must have at least ${minItems} items.`)
  }
  if (isNumber(maxItems) && list.length > maxItems) {
    complain(run, path, `This must have at most ${maxItems} items.`)
  }
  const first = Array.isArray(schema.prefixItems)
    ? schema.prefixItems
    : Array.isArray(schema.items)
      ? schema.items
      : []
  const rest = Array.isArray(schema.items) ? schema.additionalItems : schema.items
  for (const [index, item] of list.entries()) {
    const under = index < first.length ? first[index] : rest
    if (under === undefined) continue
    if (run.steps <= 0) return
    check(under, item, [...path, index], run, depth + 1)
  }
  const { contains, minContains = 1 } = schema
  if (contains === undefined || !isNumber(minContains)) return
  let found = 0
  for (const item of list) if (found < minContains && fits(contains, item, run, depth)) found += 1
  if (found < minContains) complain(run, path, 'An item that is asked for is missing.')
}

function checkObject(
  schema: JsonSchema,
  value: Record<string, unknown>,
  path: Path,
  run: Run,
  depth: number,
): void {
  const { required, properties, additionalProperties, propertyNames, minProperties, maxProperties } = schema
  for (const key of Array.isArray(required) ? required : []) {
    if (typeof key === 'string' && !Object.hasOwn(value, key)) {
      complain(run, [...path, key], 'This field is required.')
    }
  }
  const keys = Object.keys(value)
  if (isNumber(minProperties) && keys.length < minProperties) {
    complain(run, path, `This must have at least ${minProperties} fields.`)
  }
  if (isNumber(maxProperties) && keys.length > maxProperties) {
    complain(run, path, `This must have at most ${maxProperties} fields.`)
  }
  const stated = isRecord(properties) ? properties : {}
  const patterns = isRecord(schema.patternProperties) ? Object.entries(schema.patternProperties) : []
  const readable = patterns.map(([pattern, under]) => [quickPattern(pattern), under] as const)
  for (const key of keys) {
    if (run.steps <= 0) return
    const at = [...path, key]
    const matching = readable.filter(
      ([pattern]) => pattern === undefined || pattern.test(key.slice(0, longestMatched)),
    )
    if (Object.hasOwn(stated, key)) check(stated[key], value[key], at, run, depth + 1)
    for (const [pattern, under] of matching) if (pattern) check(under, value[key], at, run, depth + 1)
    if (!Object.hasOwn(stated, key) && matching.length === 0) {
      check(additionalProperties, value[key], at, run, depth + 1)
    }
    if (propertyNames !== undefined && !fits(propertyNames, key, run, depth)) {
      complain(run, at, 'A field may not be called so.')
    }
  }
  checkDependent(schema, value, path, run, depth)
}

function checkDependent(
  schema: JsonSchema,
  value: Record<string, unknown>,
  path: Path,
  run: Run,
  depth: number,
): void {
  const dependent = { ...asRecord(schema.dependencies), ...asRecord(schema.dependentRequired) }
  for (const [key, asked] of Object.entries(dependent)) {
    if (!Object.hasOwn(value, key) || !Array.isArray(asked)) continue
    for (const other of asked) {
      if (typeof other === 'string' && !Object.hasOwn(value, other)) {
        complain(run, [...path, other], `This field is required beside ${key.slice(0, 100)}.`)
      }
    }
  }
  for (const [key, under] of Object.entries(asRecord(schema.dependentSchemas))) {
    if (Object.hasOwn(value, key)) check(under, value, path, run, depth + 1)
  }
}

function checkCombined(schema: JsonSchema, value: unknown, path: Path, run: Run, depth: number): void {
  const { allOf, anyOf, oneOf, not } = schema
  for (const one of Array.isArray(allOf) ? allOf : []) check(one, value, path, run, depth + 1)
  if (Array.isArray(anyOf) && anyOf.length > 0 && !anyOf.some((one) => fits(one, value, run, depth))) {
    complain(run, path, 'This fits none of the forms that it may have.')
  }
  if (Array.isArray(oneOf) && oneOf.length > 0) {
    const fitting = oneOf.filter((one) => fits(one, value, run, depth)).length
    if (fitting !== 1) {
      complain(
        run,
        path,
        `This fits ${fitting === 0 ? 'none' : 'more than one'} of the forms that it may have.`,
      )
    }
  }
  if (not !== undefined && fits(not, value, run, depth)) complain(run, path, 'This may not be so.')
  if (schema.if === undefined) return
  const next = fits(schema.if, value, run, depth) ? schema.then : schema.else
  if (next !== undefined) check(next, value, path, run, depth + 1)
}

function asRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number'
}

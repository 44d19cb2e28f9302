import { isRecord } from '../../common/json.ts'
import { matchPattern } from './pattern.ts'

/** A JSON Schema document, an object. */
export type Schema = { readonly [keyword: string]: unknown }

export interface SchemaError {
  /** JSON Pointer (RFC 6901) to the value; each key cut to 100 characters. */
  readonly pointer: string
  readonly detail: string
}

export type Path = readonly PropertyKey[]

/** The state of one validation. */
export interface Run {
  readonly root: Schema
  readonly errors: SchemaError[]
  /** False if only the result counts: one error without its text is enough. */
  readonly hasDetails: boolean
  /** Steps left. */
  steps: number
  /** A keyword was ignored, so a value that passes may still be invalid. */
  isUncertain: boolean
  /** What references lead to, by their text. */
  readonly references: Map<string, unknown>
  /** Patterns that were tried. */
  readonly patterns: Set<string>
}

const maxErrors = 20
/** Number of ways in which a pattern may match that counts as one step. */
const waysPerStep = 1000
/** Characters that are counted in a step. */
const charactersPerStep = 100
/** Steps to prepare a class of Unicode characters, which has hundreds of ranges. */
const stepsPerClass = 50
const withoutDetails: SchemaError = { pointer: '', detail: '' }

/** `detail` may be a function if the text is costly: it runs only if the text is needed. */
export function addError(run: Run, path: Path, detail: string | (() => string)): void {
  if (hasEnoughErrors(run)) return
  if (!run.hasDetails) run.errors.push(withoutDetails)
  else run.errors.push({ pointer: pointer(path), detail: typeof detail === 'string' ? detail : detail() })
}

/** True if further errors would not be reported. */
export function hasEnoughErrors({ errors, hasDetails }: Run): boolean {
  return errors.length >= (hasDetails ? maxErrors : 1)
}

const maxKeyLength = 100

function pointer(path: Path): string {
  const keys = path.map((key) => String(key).slice(0, maxKeyLength))
  return keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
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

export function checkType({ type }: Schema, value: unknown, path: Path, run: Run): boolean {
  const names = (Array.isArray(type) ? type : [type]).filter((name) => typeof name === 'string')
  const knownNames = names.filter((name) => Object.hasOwn(types, name))
  if (knownNames.length === 0 || knownNames.length < names.length) return true
  if (knownNames.some((name) => types[name]?.(value))) return true
  addError(run, path, () => `This must be ${knownNames.join(' or ')}, not ${kindOf(value, knownNames)}.`)
  return false
}

/** What came; a text is quoted where a number or a boolean belongs, since such a text is no secret. */
function kindOf(value: unknown, expectedTypes: readonly string[]): string {
  const isComplex = expectedTypes.some((name) => name === 'object' || name === 'array')
  if (typeof value === 'string') return isComplex ? 'a text' : `the text ${excerpt(value)}`
  if (typeof value !== 'object') return excerpt(value)
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : 'an object'
}

export function checkValue(schema: Schema, value: unknown, path: Path, run: Run): void {
  const { enum: allowed } = schema
  if (Array.isArray(allowed) && !allowed.some((candidate) => isSame(candidate, value, run))) {
    addError(run, path, () => `This must be one of ${allowed.slice(0, 20).map(excerpt).join(', ')}.`)
  }
  if (Object.hasOwn(schema, 'const') && !isSame(schema.const, value, run)) {
    addError(run, path, () => `This must be ${excerpt(schema.const)}.`)
  }
}

/** JSON of a value, cut to 60 characters. */
function excerpt(value: unknown): string {
  return (JSON.stringify(value) ?? '').slice(0, 60)
}

function isSame(left: unknown, right: unknown, run: Run): boolean {
  run.steps -= 1
  if (left === right) return true
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false
  if (Array.isArray(left) !== Array.isArray(right) || run.steps <= 0) return false
  const keys = Object.keys(left)
  if (keys.length !== Object.keys(right).length) return false
  return keys.every(
    (key) => Object.hasOwn(right, key) && isSame(Reflect.get(left, key), Reflect.get(right, key), run),
  )
}

export function checkText(
  { minLength, maxLength, pattern }: Schema,
  text: string,
  path: Path,
  run: Run,
): void {
  const atLeast = isNumber(minLength) && minLength > 0 ? minLength : 0
  // A character may be two UTF-16 code units, so characters are counted only near the bound.
  if (atLeast > 0 && (text.length < atLeast || countCharacters(text, atLeast * 2, run) < atLeast)) {
    addError(run, path, `The number of characters must be at least ${atLeast}.`)
  }
  if (
    isNumber(maxLength) &&
    text.length > maxLength &&
    countCharacters(text, maxLength * 2, run) > maxLength
  ) {
    addError(run, path, `The number of characters must be at most ${maxLength}.`)
  }
  if (typeof pattern === 'string' && matches(pattern, text, run) === false) {
    addError(run, path, `This must match ${pattern}.`)
  }
}

/** Undefined if the pattern is not tried. */
export function matches(pattern: string, text: string, run: Run): boolean | undefined {
  if (!run.patterns.has(pattern)) {
    run.steps -= (pattern.match(/\\p/gi)?.length ?? 0) * stepsPerClass
    run.patterns.add(pattern)
    if (run.steps <= 0) return undefined
  }
  const { matches, ways } = matchPattern(pattern, text)
  run.steps -= Math.ceil(ways / waysPerStep)
  run.isUncertain ||= matches === undefined
  return matches
}

/** Code points; UTF-16 code units if there are more than `maxUnits` of them. */
function countCharacters(text: string, maxUnits: number, run: Run): number {
  if (text.length > maxUnits) return text.length
  run.steps -= Math.ceil(text.length / charactersPerStep)
  return [...text].length
}

export function checkNumber(schema: Schema, value: number, path: Path, run: Run): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema
  if (isNumber(minimum) && value < minimum) addError(run, path, `This must be at least ${minimum}.`)
  if (isNumber(maximum) && value > maximum) addError(run, path, `This must be at most ${maximum}.`)
  if (isNumber(exclusiveMinimum) && value <= exclusiveMinimum) {
    addError(run, path, `This must be more than ${exclusiveMinimum}.`)
  }
  if (isNumber(exclusiveMaximum) && value >= exclusiveMaximum) {
    addError(run, path, `This must be less than ${exclusiveMaximum}.`)
  }
  if (!isNumber(multipleOf) || multipleOf <= 0) return
  const quotient = value / multipleOf
  if (Math.abs(quotient - Math.round(quotient)) > 1e-9 * Math.max(1, Math.abs(quotient))) {
    addError(run, path, `This must be a multiple of ${multipleOf}.`)
  }
}

export function isNumber(value: unknown): value is number {
  return typeof value === 'number'
}

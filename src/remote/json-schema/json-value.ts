import type { FieldError } from '../../../schemas/failure.ts'
import { isRecord, type JsonSchema } from '../../../schemas/json.ts'
import { pointer } from '../../../schemas/shape.ts'
import { matchPattern } from './pattern.ts'

export type Path = readonly PropertyKey[]

/** Looks at one value under one schema; true where it fits, or where it cannot be told. */
export interface Run {
  readonly root: JsonSchema
  readonly errors: FieldError[]
  /** Whether anybody is told of the errors; else the first one is enough. */
  readonly told: boolean
  /** What is left to look at. */
  steps: number
  /** Something was passed over, so that what fits may not fit. */
  unsure: boolean
}

const mostErrors = 20
/** Ways that a pattern may match which count as one step. */
const waysOfStep = 1000
const untold: FieldError = { pointer: '', detail: '' }

/** The detail may take time to say, and is asked for where it is told alone. */
export function complain(run: Run, path: Path, detail: string | (() => string)): void {
  if (isOver(run)) return
  if (!run.told) run.errors.push(untold)
  else run.errors.push({ pointer: pointer(path), detail: typeof detail === 'string' ? detail : detail() })
}

/** Whether more errors are of no use to anybody. */
export function isOver({ errors, told }: Run): boolean {
  return errors.length >= (told ? mostErrors : 1)
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

export function checkType({ type }: JsonSchema, value: unknown, path: Path, run: Run): boolean {
  const names = (Array.isArray(type) ? type : [type]).filter((one) => typeof one === 'string')
  const known = names.filter((name) => Object.hasOwn(types, name))
  if (known.length === 0 || known.length < names.length) return true
  if (known.some((name) => types[name]?.(value))) return true
  complain(run, path, `This must be ${known.join(' or ')}.`)
  return false
}

export function checkValue(schema: JsonSchema, value: unknown, path: Path, run: Run): void {
  const { enum: allowed } = schema
  if (Array.isArray(allowed) && !allowed.some((one) => isSame(one, value, run))) {
    complain(run, path, () => `This must be one of ${allowed.slice(0, 20).map(shown).join(', ')}.`)
  }
  if (Object.hasOwn(schema, 'const') && !isSame(schema.const, value, run)) {
    complain(run, path, () => `This must be ${shown(schema.const)}.`)
  }
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? '').slice(0, 60)
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

export function checkText(
  { minLength, maxLength, pattern }: JsonSchema,
  text: string,
  path: Path,
  run: Run,
): void {
  const atLeast = isNumber(minLength) && minLength > 0 ? minLength : 0
  // A character may be two code units, so only what is near the bound is counted.
  if (atLeast > 0 && (text.length < atLeast || characters(text, atLeast * 2) < atLeast)) {
    complain(run, path, `This must have at least ${atLeast} characters.`)
  }
  if (isNumber(maxLength) && text.length > maxLength && characters(text, maxLength * 2) > maxLength) {
    complain(run, path, `This must have at most ${maxLength} characters.`)
  }
  if (typeof pattern === 'string' && matches(pattern, text, run) === false) {
    complain(run, path, `This must match ${pattern}.`)
  }
}

export function matches(pattern: string, text: string, run: Run): boolean | undefined {
  const { matches, ways } = matchPattern(pattern, text)
  run.steps -= Math.ceil(ways / waysOfStep)
  run.unsure ||= matches === undefined
  return matches
}

/** Code points, counted where there are at most so many code units; else the units. */
function characters(text: string, most: number): number {
  return text.length > most ? text.length : [...text].length
}

export function checkNumber(schema: JsonSchema, value: number, path: Path, run: Run): void {
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
  if (Math.abs(quotient - Math.round(quotient)) > 1e-9 * Math.max(1, Math.abs(quotient))) {
    complain(run, path, `This must be a multiple of ${multipleOf}.`)
  }
}

export function isNumber(value: unknown): value is number {
  return typeof value === 'number'
}

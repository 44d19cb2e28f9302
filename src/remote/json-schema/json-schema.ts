import type { FieldError } from '../../../schemas/failure.ts'
import { isRecord, type JsonSchema } from '../../../schemas/json.ts'
import {
  checkNumber,
  checkText,
  checkType,
  checkValue,
  complain,
  isNumber,
  isOver,
  matches,
  type Path,
  type Run,
} from './json-value.ts'

type Fit = 'yes' | 'no' | 'unsure'

const mostSteps = 20_000
const deepest = 64
/** Keywords that could refuse a value, and are not looked at. */
const passedOver = [
  'format',
  'uniqueItems',
  'maxContains',
  'unevaluatedItems',
  'unevaluatedProperties',
  '$dynamicRef',
  '$recursiveRef',
]

/**
 * What is wrong with a value by a JSON Schema (2020-12, and what of draft 7 is written otherwise), at most 20 errors.
 * The schema is hostile input: it is walked, never compiled, for at most 20,000 steps; references lead into the schema
 * itself alone; patterns that could take long are passed over, as are keywords that are not known. Where the steps run
 * out the value passes: the agent whose schema it is will judge.
 */
export function errorsBySchema(schema: JsonSchema, value: unknown): readonly FieldError[] {
  const run: Run = { root: schema, errors: [], told: true, steps: mostSteps, unsure: false }
  check(schema, value, [], run, 0)
  return run.steps > 0 ? run.errors : []
}

function check(schema: unknown, value: unknown, path: Path, run: Run, depth: number): void {
  run.steps -= 1
  run.unsure ||= depth > deepest
  if (run.steps <= 0 || depth > deepest || isOver(run)) return
  if (schema === false) complain(run, path, 'There is no such field.')
  if (!isRecord(schema) || (schema.nullable === true && value === null)) return
  if (typeof schema.$ref === 'string') {
    checkReference(schema.$ref, value, path, run, depth)
    if (isOlder(run.root)) return
  }
  run.unsure ||= passedOver.some((keyword) => Object.hasOwn(schema, keyword))
  if (!checkType(schema, value, path, run)) return
  checkValue(schema, value, path, run)
  if (typeof value === 'string') checkText(schema, value, path, run)
  if (typeof value === 'number') checkNumber(schema, value, path, run)
  if (Array.isArray(value)) checkList(schema, value, path, run, depth)
  if (isRecord(value)) checkObject(schema, value, path, run, depth)
  checkCombined(schema, value, path, run, depth)
}

/** Whether a value fits, without saying why not. */
function fits(schema: unknown, value: unknown, run: Run, depth: number): Fit {
  const trial: Run = { root: run.root, errors: [], told: false, steps: run.steps, unsure: false }
  check(schema, value, [], trial, depth + 1)
  run.steps = trial.steps
  if (trial.errors.length > 0) return 'no'
  return trial.unsure ? 'unsure' : 'yes'
}

/** Before 2019-09 a reference is all that its schema says. */
function isOlder({ $schema }: JsonSchema): boolean {
  return typeof $schema === 'string' && /draft-0[3-7]/.test($schema)
}

function checkReference(reference: string, value: unknown, path: Path, run: Run, depth: number): void {
  const found = resolve(reference, run.root)
  run.unsure ||= found === undefined
  check(found ?? true, value, path, run, depth + 1)
}

/** What a JSON Pointer leads to in the schema; anchors and other documents are not followed. */
function resolve(reference: string, root: JsonSchema): unknown {
  if (reference !== '#' && !reference.startsWith('#/')) return undefined
  const keys = reference.slice(1).split('/').slice(1)
  let current: unknown = root
  for (const key of keys.map(unescaped)) {
    const holds = typeof current === 'object' && current !== null && Object.hasOwn(current, key)
    current = holds ? Reflect.get(current as object, key) : undefined
  }
  return current
}

function unescaped(key: string): string {
  const plain = key.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(plain)
  } catch {
    return plain
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
  let [sure, possible] = [0, 0]
  for (const item of list) {
    if (sure >= minContains) return
    const fit = fits(contains, item, run, depth)
    sure += fit === 'yes' ? 1 : 0
    possible += fit === 'no' ? 0 : 1
  }
  if (possible < minContains) complain(run, path, 'An item that is asked for is missing.')
  run.unsure ||= sure < minContains
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
    run.steps -= 1
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
  run.steps -= patterns.length
  for (const key of keys) {
    if (run.steps <= 0) return
    const at = [...path, key]
    let isStated = Object.hasOwn(stated, key)
    if (isStated) check(stated[key], value[key], at, run, depth + 1)
    for (const [pattern, under] of patterns) {
      if (run.steps <= 0) return
      const does = matches(pattern, key, run)
      if (does === true) check(under, value[key], at, run, depth + 1)
      isStated ||= does !== false
    }
    if (!isStated) check(additionalProperties, value[key], at, run, depth + 1)
    if (propertyNames === undefined) continue
    const fit = fits(propertyNames, key, run, depth)
    if (fit === 'no') complain(run, at, 'A field may not be called so.')
    run.unsure ||= fit === 'unsure'
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
    run.steps -= 1
    if (!Object.hasOwn(value, key) || !Array.isArray(asked)) continue
    for (const other of asked) {
      run.steps -= 1
      if (typeof other === 'string' && !Object.hasOwn(value, other)) {
        complain(run, [...path, other], `This field is required beside ${key.slice(0, 100)}.`)
      }
    }
  }
  for (const [key, under] of Object.entries(asRecord(schema.dependentSchemas))) {
    run.steps -= 1
    if (Object.hasOwn(value, key)) check(under, value, path, run, depth + 1)
  }
}

function checkCombined(schema: JsonSchema, value: unknown, path: Path, run: Run, depth: number): void {
  const { allOf, anyOf, oneOf, not } = schema
  for (const one of Array.isArray(allOf) ? allOf : []) check(one, value, path, run, depth + 1)
  if (Array.isArray(anyOf) && anyOf.length > 0) {
    const all = anyOf.map((one) => fits(one, value, run, depth))
    if (all.every((fit) => fit === 'no')) complain(run, path, 'This fits none of the forms that it may have.')
    run.unsure ||= !all.includes('yes')
  }
  if (Array.isArray(oneOf) && oneOf.length > 0) {
    const all = oneOf.map((one) => fits(one, value, run, depth))
    const sure = all.filter((fit) => fit === 'yes').length
    const isNone = all.every((fit) => fit === 'no')
    const many = isNone ? 'none' : 'more than one'
    if (isNone || sure > 1) complain(run, path, `This fits ${many} of the forms that it may have.`)
    run.unsure ||= all.includes('unsure')
  }
  if (not !== undefined) {
    const fit = fits(not, value, run, depth)
    if (fit === 'yes') complain(run, path, 'This may not be so.')
    run.unsure ||= fit === 'unsure'
  }
  if (schema.if === undefined) return
  const fit = fits(schema.if, value, run, depth)
  run.unsure ||= fit === 'unsure'
  const next = fit === 'unsure' ? undefined : fit === 'yes' ? schema.then : schema.else
  if (next !== undefined) check(next, value, path, run, depth + 1)
}

function asRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}

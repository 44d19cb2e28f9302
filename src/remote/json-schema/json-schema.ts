import { isRecord } from '../../common/json.ts'
import {
  addError,
  checkNumber,
  checkText,
  checkType,
  checkValue,
  hasEnoughErrors,
  isNumber,
  matches,
  type Path,
  type Run,
  type Schema,
  type SchemaError,
} from './json-value.ts'

type Match = 'yes' | 'no' | 'uncertain'

const maxSteps = 20_000
const maxDepth = 64
/** Keywords that could make a value invalid and are not evaluated. */
const ignoredKeywords = [
  'format',
  'uniqueItems',
  'maxContains',
  'unevaluatedItems',
  'unevaluatedProperties',
  '$dynamicRef',
  '$recursiveRef',
]

/**
 * Validates a value against a JSON Schema (2020-12, and the keywords that draft 7 writes differently); at most 20
 * errors. The schema is hostile input: it is interpreted, never compiled, in at most 20,000 steps; references lead
 * only into the schema itself; slow patterns and unknown keywords are ignored. A value passes if the steps run out or
 * the result is uncertain: the owner of the schema validates again.
 */
export function validate(schema: Schema, value: unknown): readonly SchemaError[] {
  const run: Run = {
    root: schema,
    errors: [],
    hasDetails: true,
    steps: maxSteps,
    isUncertain: false,
    references: new Map(),
    patterns: new Set(),
  }
  check(schema, value, [], run, 0)
  return run.steps > 0 ? run.errors : []
}

function check(schema: unknown, value: unknown, path: Path, run: Run, depth: number): void {
  run.steps -= 1
  run.isUncertain ||= depth > maxDepth
  if (run.steps <= 0 || depth > maxDepth || hasEnoughErrors(run)) return
  if (schema === false) addError(run, path, 'There is no such field.')
  if (!isRecord(schema) || (schema.nullable === true && value === null)) return
  if (typeof schema.$ref === 'string') {
    checkReference(schema.$ref, value, path, run, depth)
    if (isBefore2019(run.root)) return
  }
  run.isUncertain ||= ignoredKeywords.some((keyword) => Object.hasOwn(schema, keyword))
  if (!checkType(schema, value, path, run)) return
  checkValue(schema, value, path, run)
  if (typeof value === 'string') checkText(schema, value, path, run)
  if (typeof value === 'number') checkNumber(schema, value, path, run)
  if (Array.isArray(value)) checkArray(schema, value, path, run, depth)
  if (isRecord(value)) checkObject(schema, value, path, run, depth)
  checkCombined(schema, value, path, run, depth)
}

/** True if a value is valid; collects no error texts. */
function match(schema: unknown, value: unknown, run: Run, depth: number): Match {
  const trial: Run = { ...run, errors: [], hasDetails: false, isUncertain: false }
  check(schema, value, [], trial, depth + 1)
  run.steps = trial.steps
  if (trial.errors.length > 0) return 'no'
  return trial.isUncertain ? 'uncertain' : 'yes'
}

/** Before 2019-09, keywords beside `$ref` are ignored. */
function isBefore2019({ $schema }: Schema): boolean {
  return typeof $schema === 'string' && /draft-0[3-7]/.test($schema)
}

function checkReference(reference: string, value: unknown, path: Path, run: Run, depth: number): void {
  if (!run.references.has(reference)) run.references.set(reference, resolve(reference, run.root))
  const target = run.references.get(reference)
  run.isUncertain ||= target === undefined
  check(target ?? true, value, path, run, depth + 1)
}

/** The subschema that a JSON Pointer names; anchors and other documents are not followed. */
function resolve(reference: string, root: Schema): unknown {
  if (reference !== '#' && !reference.startsWith('#/')) return undefined
  const keys = reference.slice(1).split('/').slice(1)
  let current: unknown = root
  for (const key of keys.map(unescapeKey)) {
    const hasKey = typeof current === 'object' && current !== null && Object.hasOwn(current, key)
    current = hasKey ? Reflect.get(current as object, key) : undefined
  }
  return current
}

function unescapeKey(key: string): string {
  const plain = key.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(plain)
  } catch {
    return plain
  }
}

function checkArray(schema: Schema, array: readonly unknown[], path: Path, run: Run, depth: number): void {
  const { minItems, maxItems } = schema
  if (isNumber(minItems) && array.length < minItems) {
    addError(run, path, `The number of items must be at least ${minItems}.`)
  }
  if (isNumber(maxItems) && array.length > maxItems) {
    addError(run, path, `The number of items must be at most ${maxItems}.`)
  }
  const first = Array.isArray(schema.prefixItems)
    ? schema.prefixItems
    : Array.isArray(schema.items)
      ? schema.items
      : []
  const rest = Array.isArray(schema.items) ? schema.additionalItems : schema.items
  const end = rest === undefined ? Math.min(first.length, array.length) : array.length
  for (let index = 0; index < end && run.steps > 0; index++) {
    check(index < first.length ? first[index] : rest, array[index], [...path, index], run, depth + 1)
  }
  const { contains, minContains = 1 } = schema
  if (contains === undefined || !isNumber(minContains)) return
  let [certain, possible] = [0, 0]
  for (const item of array) {
    if (certain >= minContains) return
    const fit = match(contains, item, run, depth)
    certain += fit === 'yes' ? 1 : 0
    possible += fit === 'no' ? 0 : 1
  }
  if (possible < minContains) addError(run, path, 'A required item is missing (contains).')
  run.isUncertain ||= certain < minContains
}

function checkObject(
  schema: Schema,
  value: Record<string, unknown>,
  path: Path,
  run: Run,
  depth: number,
): void {
  const { required, properties, additionalProperties, propertyNames, minProperties, maxProperties } = schema
  for (const key of Array.isArray(required) ? required : []) {
    run.steps -= 1
    if (typeof key === 'string' && !Object.hasOwn(value, key)) {
      addError(run, [...path, key], 'This field is required.')
    }
  }
  const keys = Object.keys(value)
  if (isNumber(minProperties) && keys.length < minProperties) {
    addError(run, path, `The number of fields must be at least ${minProperties}.`)
  }
  if (isNumber(maxProperties) && keys.length > maxProperties) {
    addError(run, path, `The number of fields must be at most ${maxProperties}.`)
  }
  const declared = isRecord(properties) ? properties : {}
  const patterns = isRecord(schema.patternProperties) ? Object.entries(schema.patternProperties) : []
  run.steps -= patterns.length
  for (const key of keys) {
    if (run.steps <= 0) return
    const at = [...path, key]
    let isDeclared = Object.hasOwn(declared, key)
    if (isDeclared) check(declared[key], value[key], at, run, depth + 1)
    for (const [pattern, subschema] of patterns) {
      if (run.steps <= 0) return
      const isMatch = matches(pattern, key, run)
      if (isMatch === true) check(subschema, value[key], at, run, depth + 1)
      isDeclared ||= isMatch !== false
    }
    if (!isDeclared) check(additionalProperties, value[key], at, run, depth + 1)
    if (propertyNames === undefined) continue
    const fit = match(propertyNames, key, run, depth)
    if (fit === 'no') addError(run, at, 'This field name is not allowed.')
    run.isUncertain ||= fit === 'uncertain'
  }
  checkDependent(schema, value, path, run, depth)
}

function checkDependent(
  schema: Schema,
  value: Record<string, unknown>,
  path: Path,
  run: Run,
  depth: number,
): void {
  const dependent = { ...asRecord(schema.dependencies), ...asRecord(schema.dependentRequired) }
  for (const [key, names] of Object.entries(dependent)) {
    run.steps -= 1
    if (!Object.hasOwn(value, key) || !Array.isArray(names)) continue
    for (const other of names) {
      run.steps -= 1
      if (typeof other === 'string' && !Object.hasOwn(value, other)) {
        addError(run, [...path, other], `This field is required beside ${key.slice(0, 100)}.`)
      }
    }
  }
  for (const [key, subschema] of Object.entries(asRecord(schema.dependentSchemas))) {
    run.steps -= 1
    if (Object.hasOwn(value, key)) check(subschema, value, path, run, depth + 1)
  }
}

function checkCombined(schema: Schema, value: unknown, path: Path, run: Run, depth: number): void {
  const { allOf, anyOf, oneOf, not } = schema
  for (const subschema of Array.isArray(allOf) ? allOf : []) check(subschema, value, path, run, depth + 1)
  if (Array.isArray(anyOf) && anyOf.length > 0) {
    const all = anyOf.map((subschema) => match(subschema, value, run, depth))
    if (all.every((fit) => fit === 'no'))
      addError(run, path, 'This matches none of the allowed forms (anyOf).')
    run.isUncertain ||= !all.includes('yes')
  }
  if (Array.isArray(oneOf) && oneOf.length > 0) {
    const all = oneOf.map((subschema) => match(subschema, value, run, depth))
    const matching = all.filter((fit) => fit === 'yes').length
    const isNone = all.every((fit) => fit === 'no')
    const count = isNone ? 'none' : 'more than one'
    if (isNone || matching > 1) addError(run, path, `This matches ${count} of the allowed forms (oneOf).`)
    run.isUncertain ||= all.includes('uncertain')
  }
  if (not !== undefined) {
    const fit = match(not, value, run, depth)
    if (fit === 'yes') addError(run, path, 'This matches a form that is not allowed (not).')
    run.isUncertain ||= fit === 'uncertain'
  }
  if (schema.if === undefined) return
  const fit = match(schema.if, value, run, depth)
  run.isUncertain ||= fit === 'uncertain'
  const next = fit === 'uncertain' ? undefined : fit === 'yes' ? schema.then : schema.else
  if (next !== undefined) check(next, value, path, run, depth + 1)
}

function asRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}

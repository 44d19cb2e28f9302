import { Failure } from './failure.ts'

/** Maximum nesting of objects and arrays in a message. */
export const maximumDepth = 32
/** Maximum size of a message from a caller, in bytes of its JSON text. */
export const maxMessageBytes = 1024 * 1024
/** Maximum number of values (RFC 8259) in a message: each costs more memory than its bytes. */
export const maxMessageValues = 100_000

/**
 * Refuses nesting beyond 32 levels, `__proto__` keys, which would replace the prototype of a copy, and numbers beyond
 * those of JavaScript, such as `1e400`, which would be sent on as null. Iterative, so that depth costs no stack. Throws
 * Failure `invalid_request`.
 */
export function assertPlain(value: unknown): void {
  walk(value, unlimited)
}

/** True for a value that `assertPlain` accepts. */
export function isPlain(value: unknown): boolean {
  try {
    assertPlain(value)
    return true
  } catch {
    return false
  }
}

/**
 * The limits of a message from a caller, for every transport: the limits of `assertPlain`, 100,000 values, and
 * 1 MiB. The size is measured on the value, in the same walk, and is at most that of its JSON text: it
 * leaves out white space and the digits of numbers. Throws Failure `invalid_request` and `too_large`.
 */
export function assertMessage(value: unknown): void {
  walk(value, { size: 0, values: 0 })
}

/** A transport may add data from its address to a message: the agent, the action, the parameters of a path. */
const addedBytes = 4096

/** The counts so far; undefined if there is no limit. */
type Count = { size: number; values: number } | undefined

const unlimited: Count = undefined

function walk(value: unknown, count: Count): void {
  if (typeof value !== 'object' || value === null) return
  let level: object[] = [value]
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > maximumDepth) {
      throw new Failure('invalid_request', `The message is nested deeper than ${maximumDepth} levels.`)
    }
    const next: object[] = []
    for (const item of level) {
      collect(item, next, count)
      if (count) assertWithin(count)
    }
    level = next
  }
}

function collect(item: object, into: object[], count: Count): void {
  if (Array.isArray(item)) {
    if (count) add(count, item.length)
    for (const child of item) {
      if (typeof child === 'object' && child !== null) into.push(child)
      else if (typeof child === 'number') assertFinite(child)
      else if (count && typeof child === 'string') count.size += child.length
    }
    return
  }
  const keys = Object.keys(item)
  if (count) add(count, keys.length)
  for (const key of keys) {
    if (key === '__proto__') throw new Failure('invalid_request', 'A key named __proto__ is not accepted.')
    const child: unknown = Reflect.get(item, key)
    if (count) count.size += key.length + 3
    if (typeof child === 'object' && child !== null) into.push(child)
    else if (typeof child === 'number') assertFinite(child)
    else if (count && typeof child === 'string') count.size += child.length
  }
}

function assertFinite(number: number): void {
  if (Number.isFinite(number)) return
  throw new Failure('invalid_request', 'A number is beyond what a double holds, some 1.8e308.')
}

/** A value takes at least one character, plus one character that separates it from the next. */
function add(count: NonNullable<Count>, values: number): void {
  count.values += values
  count.size += 2 * values
}

function assertWithin({ size, values }: NonNullable<Count>): void {
  if (values > maxMessageValues) {
    throw new Failure('too_large', `The message holds more than ${maxMessageValues} values.`)
  }
  if (size > maxMessageBytes + addedBytes) {
    throw new Failure('too_large', `The message is larger than ${maxMessageBytes} bytes.`)
  }
}

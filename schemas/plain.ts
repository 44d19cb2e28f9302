import { Failure } from './failure.ts'

/** Deepest nesting of objects and arrays that a message may have. */
export const maximumDepth = 32

/**
 * Refuses what no honest JSON message holds: nesting beyond 32 levels and `__proto__` keys, which would
 * swap the prototype of a copy. Iterative, so that depth costs no stack. Throws Failure `invalid_request`.
 */
export function assertPlain(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  let level: object[] = [value]
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > maximumDepth) {
      throw new Failure('invalid_request', `The message is nested deeper than ${maximumDepth} levels.`)
    }
    const next: object[] = []
    for (const item of level) collect(item, next)
    level = next
  }
}

function collect(item: object, into: object[]): void {
  if (Array.isArray(item)) {
    for (const child of item) if (typeof child === 'object' && child !== null) into.push(child)
    return
  }
  for (const key of Object.keys(item)) {
    if (key === '__proto__') throw new Failure('invalid_request', 'A key named __proto__ is not accepted.')
    const child: unknown = Reflect.get(item, key)
    if (typeof child === 'object' && child !== null) into.push(child)
  }
}

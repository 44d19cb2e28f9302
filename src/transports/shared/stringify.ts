import { Failure } from '../../../schemas/failure.ts'
import type { Json } from '../../../schemas/json.ts'

/** Maximum length of an output, in characters of JSON. */
const maxAnswerLength = 1024 * 1024

const texts = new WeakMap<object, string>()
const bytes = new WeakMap<object, Buffer>()

/**
 * The JSON text of an output. A frozen output never changes, so its text is cached while the output is in use.
 * Throws Failure `too_large` for more than 1 MiB.
 */
export function stringify(value: Json): string {
  return isFrozen(value) ? remember(texts, value, write) : write(value)
}

/**
 * The JSON text for an HTTP response: cached UTF-8 bytes of a frozen output, else text, which Node writes in one
 * piece.
 */
export function toPayload(value: Json): Buffer | string {
  return isFrozen(value) ? remember(bytes, value, (output) => Buffer.from(write(output))) : write(value)
}

function write(value: Json): string {
  const text = JSON.stringify(value)
  if (text.length <= maxAnswerLength) return text
  throw new Failure('too_large', `The answer is longer than ${maxAnswerLength} characters.`, {
    hint: 'Request less at once: use a smaller limit, or a cursor.',
  })
}

function isFrozen(value: Json): value is Json & object {
  return typeof value === 'object' && value !== null && Object.isFrozen(value)
}

function remember<Written>(
  cache: WeakMap<object, Written>,
  value: Json & object,
  make: (value: Json) => Written,
): Written {
  const cached = cache.get(value)
  if (cached !== undefined) return cached
  const made = make(value)
  cache.set(value, made)
  return made
}

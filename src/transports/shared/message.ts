import { Failure } from '../../../schemas/failure.ts'
import { maxMessageBytes, maxMessageValues } from '../../../schemas/plain.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { createValueMeter } from '../../common/value-meter.ts'

/** The limits of a message before it is parsed. */
export interface MessageLimits {
  readonly maxBytes: number
  readonly maxValues: number
}

const withoutToken: MessageLimits = { maxBytes: 256 * 1024, maxValues: 10_000 }
const withToken: MessageLimits = { maxBytes: maxMessageBytes, maxValues: maxMessageValues }
/** A local process waits for its own messages alone. The router refuses too many values with the id of the message. */
export const localLimits: MessageLimits = { maxBytes: maxMessageBytes, maxValues: Number.POSITIVE_INFINITY }

/** Parsing takes CPU time from all callers, so a caller without a token may send less. */
export function messageLimits(principal: Principal | null): MessageLimits {
  return principal ? withToken : withoutToken
}

/** The Failure for a message or body above `maxBytes`. */
export function tooManyBytes(what: string, maxBytes: number): Failure {
  return new Failure('too_large', `The ${what} is larger than ${maxBytes} bytes.`, {
    ...(maxBytes === withoutToken.maxBytes && {
      hint: `With a token, up to ${withToken.maxBytes} bytes are accepted.`,
    }),
  })
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The text of bytes without a byte order mark. Other encodings are refused: their letters would be lost. */
function textOf(bytes: Buffer, what: string): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new Failure('invalid_request', `The ${what} is not in UTF-8.`, {
      errors: [{ pointer: '', detail: 'Send JSON in UTF-8 (RFC 8259).' }],
    })
  }
}

/**
 * The value of a JSON text, whose values are counted before it is parsed. Throws Failure `invalid_request` and
 * `too_large`.
 */
export function parseMessage(message: Buffer | string, limits: MessageLimits, what = 'message'): unknown {
  assertValues(message, limits, what)
  const text = typeof message === 'string' ? message : textOf(message, what)
  try {
    return JSON.parse(text)
  } catch (fault) {
    const detail = fault instanceof Error ? fault.message : 'Not JSON.'
    throw new Failure('invalid_request', `The ${what} is not JSON.`, { errors: [{ pointer: '', detail }] })
  }
}

/** The value of a JSON text, or the Failure for the answer to it. */
export function readMessage(text: Buffer | string, limits: MessageLimits): unknown {
  try {
    return parseMessage(text, limits)
  } catch (thrown) {
    return Failure.from(thrown)
  }
}

function assertValues(text: Buffer | string, { maxValues }: MessageLimits, what: string): void {
  // A value takes two characters or more, with what separates it from the next.
  if (text.length < 2 * maxValues) return
  const values = createValueMeter(false)(typeof text === 'string' ? Buffer.from(text) : text)
  if (values <= maxValues) return
  throw new Failure('too_large', `The ${what} holds more than ${maxValues} values.`, {
    ...(maxValues === withoutToken.maxValues && {
      hint: `With a token, up to ${withToken.maxValues} values are accepted.`,
    }),
  })
}

import type { IncomingMessage } from 'node:http'
import { Failure } from '../../../schemas/failure.ts'

/**
 * The failure of a request with two `Host` fields (RFC 9112 section 3.2) or two `Authorization` fields (RFC 9110
 * section 5.3): a proxy could obey one of them and the gateway the other. Undefined for any other request.
 */
export function repeatedField({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): Failure | undefined {
  const name = ['host', 'authorization'].find((field) => isRepeated(rawHeaders, field))
  if (name === undefined) return undefined
  return new Failure('invalid_request', `The request has more than one ${name} field.`, {
    hint: 'Send this field once.',
  })
}

/** `rawHeaders` alternates names and values, as they came. */
function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const field = rawHeaders[index]
    if (field?.length === name.length && field.toLowerCase() === name) count++
  }
  return count > 1
}

import { isRecord } from '../../../../schemas/json.ts'
import { assertPlain } from '../../../../schemas/plain.ts'

/**
 * `assertPlain` for a message of MCP. The depth of a tool's arguments counts from their own first
 * level, as at every other transport. Throws Failure `invalid_request`.
 */
export function assertPlainMessage(message: unknown): void {
  if (!isRecord(message)) {
    assertPlain(message)
    return
  }
  const { params, ...rest } = message
  assertPlain(rest)
  if (!isRecord(params)) {
    assertPlain(params)
    return
  }
  const { arguments: input, ...others } = params
  assertPlain(others)
  assertPlain(input)
}

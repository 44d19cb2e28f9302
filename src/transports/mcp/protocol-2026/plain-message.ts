import { isRecord } from '../../../../schemas/json.ts'
import { assertPlain } from '../../../../schemas/plain.ts'

/**
 * `assertPlain` for what comes before the SDK reads it. The arguments of a tool count from their own first
 * level, as they do at every other door. Throws Failure `invalid_request`.
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

import { Failure } from '../../schemas/failure.ts'
import type { Json } from '../../schemas/json.ts'
import { assertPlain } from '../../schemas/plain.ts'

/** As much as any message here may be, in characters. */
const largest = 1024 * 1024

/** Values (RFC 8259) of one message of A2A or MCP: reading more would hold up everybody. */
export const mostValues = 100_000

/** What another agent answers, as any message here is: plain and not too long. Throws Failure `upstream_invalid`. */
export function sound(who: string, output: Json): Json {
  if (!isShort(output)) {
    throw new Failure('upstream_invalid', `${who} answers more than ${largest} characters.`)
  }
  try {
    assertPlain(output)
  } catch (thrown) {
    throw new Failure('upstream_invalid', `${who}: ${Failure.from(thrown).message}`)
  }
  return output
}

/** By the length of its JSON text, nearly; counted until it is too much. */
function isShort(output: Json): boolean {
  let size = 0
  const waiting: Json[] = [output]
  while (size <= largest) {
    const value = waiting.pop()
    if (value === undefined) return true
    if (typeof value === 'string') size += value.length + 2
    else if (typeof value !== 'object' || value === null) size += 4
    else {
      const named = !Array.isArray(value)
      for (const [key, inner] of Object.entries(value)) {
        size += named ? key.length + 4 : 1
        waiting.push(inner)
      }
    }
  }
  return false
}

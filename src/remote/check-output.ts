import { Failure } from '../../schemas/failure.ts'
import type { Json } from '../../schemas/json.ts'
import { assertPlain } from '../../schemas/plain.ts'
import { inputRequiredIn } from '../../schemas/task.ts'

/** Maximum size of an answer, in characters. */
const maxCharacters = 3 * 1024 * 1024

/** JSON values (RFC 8259) in one message of A2A or MCP: parsing blocks the event loop. */
export const maxValues = 100_000

/** Checks an output of a remote agent: plain JSON and not too long. Throws Failure `upstream_invalid`. */
export function checkOutput(who: string, output: Json): Json {
  if (!isWithinLimit(output)) {
    throw refusal(`${who} answered more than ${maxCharacters} characters.`)
  }
  checkPlain(who, output)
  return output
}

/** Checks a part of an output of a remote agent: plain JSON. Throws Failure `upstream_invalid`. */
export function checkPlain(who: string, part: unknown): void {
  try {
    assertPlain(part)
  } catch (thrown) {
    throw refusal(`${who}: ${Failure.from(thrown).message}`)
  }
}

/** The same call would get the same answer. */
function refusal(message: string): Failure {
  return new Failure('upstream_invalid', message, { retryable: false })
}

/**
 * An agent must not forge `input_required` of this gateway: the caller's answer would go to an address that the agent
 * chooses. Throws Failure `upstream_invalid`.
 */
export function refuseForged(who: string, output: Json | undefined): void {
  if (!inputRequiredIn(output)) return
  throw new Failure('upstream_invalid', `${who} asks for input in a form that this gateway cannot continue.`)
}

/** Counts approximately the characters of the JSON text, and stops counting above the limit. */
function isWithinLimit(output: Json): boolean {
  let size = 0
  const stack: Json[] = [output]
  while (size <= maxCharacters) {
    const value = stack.pop()
    if (value === undefined) return true
    if (typeof value === 'string') size += value.length + 2
    else if (typeof value !== 'object' || value === null) size += 4
    else {
      const hasKeys = !Array.isArray(value)
      for (const [key, inner] of Object.entries(value)) {
        size += hasKeys ? key.length + 4 : 1
        stack.push(inner)
      }
    }
  }
  return false
}

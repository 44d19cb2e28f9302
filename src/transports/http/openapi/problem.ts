import { type Code, codes } from '../../../../schemas/failure.ts'
import type { JsonSchema } from '../../../../schemas/json.ts'

/** The codes that an answer of this status can have. */
export function codesOf(status: number): Code[] {
  return (Object.keys(codes) as Code[]).filter((code) => codes[code].http === status)
}

/** A problem whose code is one of those that have the status. Generators that read no siblings of `$ref` see a Problem. */
export function problemOf(status: number): JsonSchema {
  return { $ref: '#/components/schemas/Problem', properties: { code: { enum: codesOf(status) } } }
}

import type { JsonSchema } from '../../../../schemas/json.ts'

export const otherPaths: Readonly<Record<string, unknown>> = {}
export const otherSchemas: Readonly<Record<string, JsonSchema>> = {}

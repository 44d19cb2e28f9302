import type { Json } from '../../../../schemas/json.ts'

export const bodyExamples: Readonly<Record<string, Json>> = {}
export const answerExamples: Readonly<Record<string, Json>> = {}

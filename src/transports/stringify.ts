import type { Json } from '../../schemas/json.ts'

/** JSON text of an output. */
export function stringify(value: Json): string {
  return JSON.stringify(value)
}

import type { Json } from '../../schemas/json.ts'

interface Written {
  readonly text: string
  readonly bytes?: Buffer
}

const written = new WeakMap<object, Written>()

/**
 * JSON text of an output. A frozen output will not change, so it is written once and remembered for as long
 * as somebody holds it.
 */
export function stringify(value: Json): string {
  return (remembered(value) ?? { text: JSON.stringify(value) }).text
}

/** The same for a socket: as UTF-8 bytes where they are remembered, else as text, which Node writes in one piece. */
export function toPayload(value: Json): Buffer | string {
  const known = remembered(value)
  if (!known) return JSON.stringify(value)
  if (known.bytes) return known.bytes
  const bytes = Buffer.from(known.text)
  written.set(value as object, { ...known, bytes })
  return bytes
}

function remembered(value: Json): Written | undefined {
  if (typeof value !== 'object' || value === null || !Object.isFrozen(value)) return undefined
  const known = written.get(value)
  if (known) return known
  const made = { text: JSON.stringify(value) }
  written.set(value, made)
  return made
}

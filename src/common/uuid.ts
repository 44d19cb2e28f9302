import { randomUUID } from 'node:crypto'

/** A UUID of version 7 (RFC 9562 section 5.7), whose order is that of the milliseconds since the epoch. */
export function uuidV7(milliseconds: number): string {
  const time = Math.floor(milliseconds).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}

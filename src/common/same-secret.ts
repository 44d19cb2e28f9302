import { timingSafeEqual } from 'node:crypto'

/** Compares a text or bytes with a secret, in a time that tells nothing about the secret but its length. */
export function isSameSecret(text: string | Uint8Array, secret: string | Uint8Array): boolean {
  const [left, right] = [Buffer.from(text), Buffer.from(secret)]
  return left.length === right.length && timingSafeEqual(left, right)
}

import { createHmac } from 'node:crypto'

const prefix = 'whsec_'

/** A secret in the form shown to its owner, from random bytes (Standard Webhooks, Signature scheme). */
export function secretOf(bytes: Uint8Array): string {
  return `${prefix}${Buffer.from(bytes).toString('base64')}`
}

/** The header fields of a delivery, signed by HMAC-SHA256 (Standard Webhooks 1.0); `at` in seconds. */
export function signed(secret: string, id: string, at: number, body: string): Record<string, string> {
  return signedBy(Buffer.from(secret.slice(prefix.length), 'base64'), id, at, body)
}

/** The same header fields, with a key that the receiver chose. */
export function signedBy(key: Uint8Array, id: string, at: number, body: string): Record<string, string> {
  const signature = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': `v1,${signature}` }
}

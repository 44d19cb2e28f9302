import { createPublicKey, type KeyObject, verify } from 'node:crypto'

const keyLength = 32
const signatureLength = 64
const version = /^v=MCPv1(?:;|$)/i
const form = /^v=MCPv1\s*;\s*k=([^;\s]{1,40})\s*;\s*p=([A-Za-z0-9+/_=-]{1,200})\s*;?$/i

/** A record of the official MCP registry: an Ed25519 public key in canonical base64, or the reason why it is invalid. */
export type McpRecord = { readonly public_key: string } | { readonly fault: string }

/**
 * The MCP records among texts (`v=MCPv1; k=ed25519; p=BASE64`, the raw 32 bytes of a key, RFC 8032); other texts are
 * skipped. Format: docs of modelcontextprotocol/registry, domain authentication.
 */
export function readMcpRecords(texts: readonly string[]): readonly McpRecord[] {
  return texts
    .map((text) => text.trim())
    .filter((text) => version.test(text))
    .map(readRecord)
}

function readRecord(text: string): McpRecord {
  const [, type = '', encoded = ''] = form.exec(text) ?? []
  if (type === '') return { fault: 'the record is not of the form v=MCPv1; k=ed25519; p=BASE64' }
  if (type.toLowerCase() !== 'ed25519')
    return { fault: `the key type is ${type}, and only ed25519 is supported` }
  const key = fromBase64(encoded)
  if (key?.length !== keyLength) return { fault: `p is not the base64 of ${keyLength} bytes` }
  return { public_key: key.toString('base64') }
}

/** The 64 bytes of an Ed25519 signature given in base64, base64url or hexadecimal; undefined for anything else. */
export function readSignature(text: string): Uint8Array | undefined {
  const trimmed = text.trim()
  if (/^[0-9a-f]{128}$/i.test(trimmed)) return Buffer.from(trimmed, 'hex')
  const bytes = trimmed.length <= 100 ? fromBase64(trimmed) : undefined
  return bytes?.length === signatureLength ? bytes : undefined
}

/** True if the key (base64 of 32 bytes) signed the text (Ed25519 over its UTF-8, RFC 8032). */
export function isSignedBy(public_key: string, signature: Uint8Array, text: string): boolean {
  const key = readKey(public_key)
  return key !== undefined && verify(null, Buffer.from(text, 'utf8'), key, signature)
}

function readKey(public_key: string): KeyObject | undefined {
  const x = fromBase64(public_key)
  if (x?.length !== keyLength) return undefined
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: x.toString('base64url') }, format: 'jwk' })
}

/**
 * Bytes of base64 or base64url, with or without padding; undefined for text with invalid characters, which Node would
 * skip.
 */
function fromBase64(text: string): Buffer | undefined {
  const plain = text
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/={0,2}$/, '')
  const bytes = Buffer.from(plain, 'base64')
  return bytes.toString('base64').replace(/=+$/, '') === plain ? bytes : undefined
}

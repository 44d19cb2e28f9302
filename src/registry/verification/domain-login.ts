import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { Failure } from '../../../schemas/failure.ts'
import { mcpPath } from './challenge.ts'
import { isProvable } from './domain.ts'
import type { ProofSources } from './proof.ts'
import { readText } from './site-text.ts'

/** A text that the key in the MCP record of a domain signed, and where that record is. */
interface SignedTime {
  readonly method: 'dns' | 'http'
  readonly domain: string
  /** RFC 3339. */
  readonly timestamp: string
  /** In hexadecimal. */
  readonly signed_timestamp: string
}

/** Throws Failure `unauthenticated` unless the key of the domain signed the present time, and what reading it throws. */
export type ProveLogin = (login: SignedTime, signal: AbortSignal) => Promise<void>

interface LoginPorts extends Pick<ProofSources, 'resolveTxt' | 'fetch'> {
  readonly originOf: (domain: string) => string
  readonly clock: () => number
}

/** The official registry allows as much between the clocks of both sides. */
const window_ms = 15_000
const maxRecords = 10

/** Login as the official MCP registry does it: docs of modelcontextprotocol/registry, domain authentication. */
export function createLoginProver({ resolveTxt, fetch, originOf, clock }: LoginPorts): ProveLogin {
  return async ({ method, domain, timestamp, signed_timestamp }, signal) => {
    if (!isProvable(domain)) {
      throw refused(`${domain} is not a domain that one party holds.`, '/domain')
    }
    if (Math.abs(Date.parse(timestamp) - clock()) > window_ms) {
      throw new Failure('unauthenticated', 'The signed time is more than 15 seconds from the time here.', {
        hint: 'Set the clock of your machine, and sign the time again.',
      })
    }
    if (!/^(?:[0-9a-f]{2})+$/i.test(signed_timestamp)) {
      throw refused('The signature is not hexadecimal.', '/signed_timestamp')
    }
    const texts =
      method === 'dns'
        ? await resolveTxt(domain, signal)
        : (await readText(fetch, `${originOf(domain)}${mcpPath}`, signal)).split('\n')
    const keys = texts.slice(0, 100).flatMap(readKey).slice(0, maxRecords)
    const where = method === 'dns' ? `in the TXT records of ${domain}` : `at https://${domain}${mcpPath}`
    if (keys.length === 0) {
      throw new Failure('unauthenticated', `There is no record v=MCPv1; k=ed25519; p=BASE64 ${where}.`)
    }
    const signature = Buffer.from(signed_timestamp, 'hex')
    if (keys.some((key) => isSigned(key, timestamp, signature))) return
    throw new Failure('unauthenticated', `The signature is not by a key ${where}.`)
  }
}

interface PublishedKey {
  readonly key: KeyObject
  readonly algorithm: 'ed25519' | 'ecdsap384'
}

const record = /^v=MCPv1\s*;\s*k=(ed25519|ecdsap384)\s*;\s*p=([A-Za-z0-9+/]{1,200}={0,2})\s*;?$/i

/** The headers of SubjectPublicKeyInfo (RFC 8410, RFC 5480) before the raw key: 32 bytes, or a compressed point of 49. */
const headers = {
  ed25519: ['302a300506032b6570032100', 32],
  ecdsap384: ['3046301006072a8648ce3d020106052b81040022033200', 49],
} as const

function readKey(text: string): PublishedKey[] {
  const [, type = '', encoded = ''] = record.exec(text.trim()) ?? []
  const algorithm = type.toLowerCase()
  if (algorithm !== 'ed25519' && algorithm !== 'ecdsap384') return []
  const [header, length] = headers[algorithm]
  const raw = Buffer.from(encoded, 'base64')
  if (raw.length !== length) return []
  try {
    const der = Buffer.concat([Buffer.from(header, 'hex'), raw])
    return [{ key: createPublicKey({ key: der, format: 'der', type: 'spki' }), algorithm }]
  } catch {
    return []
  }
}

function isSigned({ key, algorithm }: PublishedKey, text: string, signature: Buffer): boolean {
  const message = Buffer.from(text, 'utf8')
  return algorithm === 'ed25519'
    ? verify(null, message, key, signature)
    : verify('sha384', message, { key, dsaEncoding: 'ieee-p1363' }, signature)
}

function refused(detail: string, pointer: string): Failure {
  return new Failure('invalid_request', detail, { errors: [{ pointer, detail }] })
}

import { createHmac } from 'node:crypto'
import type { Party } from '../../../schemas/trust.ts'

export type Method = 'dns' | 'http' | 'mcp'
export const methods = ['dns', 'http', 'mcp'] as const satisfies readonly Method[]

/**
 * The token that an owner publishes to prove a domain: HMAC-SHA256 in base64url, 43 characters. It is derived, not
 * stored, and the same for all entries of this owner under this domain, so the record can stay and be checked again at
 * any time. It is not secret: it is useless for other owners, other domains and other installations, whose secrets
 * differ. Changing the secret invalidates all published tokens.
 */
export function claimToken(secret: Uint8Array, { issuer, subject }: Party, domain: string): string {
  const claim = JSON.stringify(['dragoman-challenge', issuer, subject, domain])
  return createHmac('sha256', secret).update(claim).digest('base64url')
}

/** The line in a record, in a file and under a signature. */
export function statement(token: string): string {
  return `dragoman-verify=${token}`
}

/** The lines that prove a claim: this gateway's line, and that of A2A registries. */
export function statements(token: string): readonly string[] {
  return [statement(token), `a2a-registry-verify=${token}`]
}

interface TxtRecord {
  readonly name: string
  readonly type: 'TXT'
  readonly value: string
}

/** The records that the owner may publish: one of the three is enough. */
interface Challenges {
  readonly dns: {
    readonly record: TxtRecord
    /** Also accepted. */
    readonly alternatives: readonly TxtRecord[]
  }
  /** A text file that contains this line. */
  readonly http: { readonly url: string; readonly line: string }
  /** The record of the official MCP registry, as TXT or as a file, and a signature by its key. */
  readonly mcp: {
    readonly record: TxtRecord
    readonly url: string
    /** The text to sign with Ed25519, in UTF-8, without a line break. */
    readonly sign: string
  }
}

export const challengePath = '/.well-known/dragoman-challenge'
export const mcpPath = '/.well-known/mcp-registry-auth'

export function challengeName(domain: string): string {
  return `_dragoman-challenge.${domain}`
}

export function challengesFor(domain: string, token: string): Challenges {
  const txt = (name: string, value: string): TxtRecord => ({ name, type: 'TXT', value })
  const name = challengeName(domain)
  const others = statements(token).flatMap((value) => [txt(name, value), txt(domain, value)])
  return {
    dns: { record: txt(name, statement(token)), alternatives: others.slice(1) },
    http: { url: `https://${domain}${challengePath}`, line: statement(token) },
    mcp: {
      record: txt(domain, 'v=MCPv1; k=ed25519; p=BASE64_OF_YOUR_PUBLIC_KEY'),
      url: `https://${domain}${mcpPath}`,
      sign: statement(token),
    },
  }
}

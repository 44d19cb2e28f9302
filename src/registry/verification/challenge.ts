import { createHmac } from 'node:crypto'

/** Who claims a domain: a principal's issuer and subject. */
export interface Claimant {
  readonly issuer: string
  readonly subject: string
}

export type Method = 'dns' | 'http' | 'mcp'
export const methods = ['dns', 'http', 'mcp'] as const satisfies readonly Method[]

/**
 * What an owner publishes to show that a domain is theirs: HMAC-SHA256 in base64url, 43 characters. It is derived
 * and stored nowhere: the same for all entries of this owner under this domain, for ever, so the record may stay
 * and be read again at any time. It is no secret, and of no use to anybody else, for another domain or in another
 * installation, whose secret differs. A change of the secret voids all that is published.
 */
export function claimToken(secret: Uint8Array, { issuer, subject }: Claimant, domain: string): string {
  const claim = JSON.stringify(['dragoman-challenge', issuer, subject, domain])
  return createHmac('sha256', secret).update(claim).digest('base64url')
}

/** The line that stands in a record, in a file and under a signature. */
export function statement(token: string): string {
  return `dragoman-verify=${token}`
}

/** The lines that prove a claim: ours, and the one that A2A registries give out. */
export function statements(token: string): readonly string[] {
  return [statement(token), `a2a-registry-verify=${token}`]
}

interface TxtRecord {
  readonly name: string
  readonly type: 'TXT'
  readonly value: string
}

/** What the owner may publish; one of the three is enough. */
interface Challenges {
  readonly dns: {
    readonly record: TxtRecord
    /** Taken as well. */
    readonly alternatives: readonly TxtRecord[]
  }
  /** A text file, this line in it among others. */
  readonly http: { readonly url: string; readonly line: string }
  /** The record that the official MCP registry asks for, in either place, and a signature by its key. */
  readonly mcp: {
    readonly record: TxtRecord
    readonly url: string
    /** What to sign with Ed25519, in UTF-8, without a line break. */
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

import { z } from 'zod'

export const scopes = [
  'agents:read',
  'agents:write',
  'agents:publish',
  'a2a:call',
  'playground',
  'admin',
] as const

export const Scope = z.enum(scopes).meta({ id: 'Scope' })
export type Scope = z.infer<typeof Scope>

/**
 * The protected resources (RFC 8707, RFC 9728), as paths below the base URL: REST with all that no other resource
 * holds, MCP, and A2A.
 */
export const resourcePaths = ['', '/mcp', '/a2a'] as const
export type ResourcePath = (typeof resourcePaths)[number]

/** As callers state those of another principal. */
export const Subject = z.string().min(1).max(200)
export const Issuer = z.string().min(1).max(500)

/** The caller: the (issuer, subject) pair that owns entries, and the rights of its token. */
export interface Principal {
  readonly issuer: string
  readonly subject: string
  readonly scopes: ReadonlySet<Scope>
  /** Name prefixes under which the principal may create and change entries, such as `com.example`. */
  readonly namespaces: readonly string[]
  /** Seconds since the epoch after which the principal is no longer valid; absent for a local process. */
  readonly expires_at?: number
  /** The protected resources at which the token is valid; absent if it is valid at all of them. */
  readonly resources?: readonly ResourcePath[]
  /** Set for a playground session, which reaches only hosted agents with this tag. */
  readonly confined_to?: string
  /** True for the person at this machine behind a program of theirs, such as an MCP host: it may ask them to approve. */
  readonly own_host?: true
  /** The credential of the caller; absent for a local process and a playground session. */
  readonly credential?: UsedCredential
}

/** The identifiers by which tokens and keys are revoked. */
export interface UsedCredential {
  /** Milliseconds since the epoch; 0 if the token does not state it. */
  readonly issued_at: number
  readonly jti?: string
  /** Id of this gateway's signing key, if such a key signed the token. */
  readonly kid?: string
  /** Id of the API key that was used, directly or to obtain the token. */
  readonly key?: string
  /** Id of what its user granted to the client that has the token. */
  readonly grant?: string
}

/** `admin` includes every scope. */
export function holds(principal: Principal, scope: Scope): boolean {
  return principal.scopes.has(scope) || principal.scopes.has('admin')
}

import { z } from 'zod'

export const scopes = [
  'agents:read',
  'agents:write',
  'agents:publish',
  'a2a:call',
  'playground',
  'admin',
] as const

export const Scope = z.enum(scopes)
export type Scope = z.infer<typeof Scope>

/** Who is calling: the (issuer, subject) pair that owns entries, and what its token allows. */
export interface Principal {
  readonly issuer: string
  readonly subject: string
  readonly scopes: ReadonlySet<Scope>
  /** Name prefixes the principal may create under and act on, such as `com.example`. */
  readonly namespaces: readonly string[]
  /** Seconds since the epoch after which the principal no longer holds; absent for a local process. */
  readonly expires_at?: number
  /** Set on a playground session: it reaches hosted agents with this tag and nothing else. */
  readonly confined_to?: string
  /** The credential of the caller; absent for a local process and a playground session. */
  readonly credential?: Credential
}

/** What revocation identifies tokens and keys by. */
export interface Credential {
  /** Milliseconds since the epoch; 0 where the token does not state it. */
  readonly issued_at: number
  readonly jti?: string
  /** Id of our signing key, where one of ours signed it. */
  readonly kid?: string
  /** Id of the API key that was used, directly or for a token. */
  readonly key?: string
}

/** `admin` stands for every scope. */
export function holds(principal: Principal, scope: Scope): boolean {
  return principal.scopes.has(scope) || principal.scopes.has('admin')
}

import { scopes } from '../../../schemas/scope.ts'

/** The scopes that a client can obtain by sign-in. Operator rights are not among them. */
export const offeredScopes = scopes.filter((scope) => scope !== 'admin')

/** For a client that requests none (RFC 6749 section 3.3). */
export const defaultScopes = ['agents:read', 'a2a:call'] as const

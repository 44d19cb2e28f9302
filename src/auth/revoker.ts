import { Failure } from '../../schemas/failure.ts'
import {
  localIssuer,
  type Revocation,
  type RevocationInput,
  type RevocationKind,
  wholeKey,
} from '../../schemas/identity.ts'
import { holds, type Principal } from '../../schemas/scope.ts'
import { dayMilliseconds } from '../common/days.ts'
import { isSamePrincipal } from '../common/principal-key.ts'
import type { ApiKeys } from './api-keys.ts'
import type { Authenticate } from './authenticator.ts'
import { type KeyRing, maxTokenMilliseconds } from './key-ring.ts'
import type { Revocations } from './revocations.ts'

interface RevokerOptions {
  readonly revocations: Pick<Revocations, 'revoke'>
  readonly keys: Pick<ApiKeys, 'remove'>
  readonly ring: Pick<KeyRing, 'list' | 'remove'>
  readonly authenticate: Authenticate
  /** Ends the sign-ins of a person, so that nothing renews their tokens. */
  readonly endSignIns: (holder: Holder) => Promise<void>
  readonly clock: () => number
}

/**
 * Revokes a token, a subject's tokens, an API key or a signing key, and returns which. A holder may revoke its
 * own; everything else needs `admin`. Throws Failure `forbidden`, `not_found` or `invalid_request`.
 */
export type Revoke = (input: RevocationInput, caller: Principal) => Promise<{ revoked: RevocationKind }>

export function createRevoker(options: RevokerOptions): Revoke {
  const { revocations, keys, ring, authenticate, endSignIns, clock } = options

  async function end(kind: RevocationKind, name: string, details: Partial<Revocation>): Promise<void> {
    const before = clock()
    const expires_at = before + maxTokenMilliseconds + dayMilliseconds
    await revocations.revoke({ kind, issuer: '', name, before, expires_at, reason: null, ...details })
  }

  async function endToken(token: string, reason: string | null, caller: Principal): Promise<RevocationKind> {
    const holder = await holderOf(token, authenticate)
    const id = wholeKey.exec(token)?.[1]
    if (id !== undefined) {
      await keys.remove(id, caller, reason ?? undefined)
      return 'key'
    }
    if (!isSamePrincipal(holder, caller)) assertAdmin(caller, 'a token of another subject')
    return await endJwt(holder, reason)
  }

  /** Stored for the token's remaining lifetime, so that short tokens do not fill the database. */
  async function endJwt(holder: Principal, reason: string | null): Promise<RevocationKind> {
    const { jti, kid } = holder.credential ?? {}
    if (jti === undefined) {
      throw new Failure('invalid_request', 'The token has no id (jti), so it cannot be revoked alone.', {
        hint: 'Revoke its subject.',
      })
    }
    const issuer = kid === undefined ? holder.issuer : localIssuer
    await end('jti', jti, { issuer, reason, expires_at: (holder.expires_at ?? 0) * 1000 + dayMilliseconds })
    return 'jti'
  }

  return async ({ token, jti, subject, issuer, key, kid, reason = null }, caller) => {
    if (token !== undefined) return { revoked: await endToken(token, reason, caller) }
    if (key !== undefined) {
      await keys.remove(key, caller, reason ?? undefined)
      return { revoked: 'key' }
    }
    if (jti !== undefined) {
      if (issuer === undefined && caller.credential?.jti === jti)
        return { revoked: await endJwt(caller, reason) }
      assertAdmin(caller, 'a token by its id')
      await end('jti', jti, { issuer: issuer ?? localIssuer, reason })
      return { revoked: 'jti' }
    }
    if (subject !== undefined) {
      const whose = issuer ?? (subject === caller.subject ? caller.issuer : localIssuer)
      if (!isSamePrincipal({ issuer: whose, subject }, caller))
        assertAdmin(caller, 'the tokens of another subject')
      await endSignIns({ issuer: whose, subject })
      await end('subject', subject, { issuer: whose, reason })
      return { revoked: 'subject' }
    }
    assertAdmin(caller, 'a signing key')
    const name = kid ?? ''
    const exists = (await ring.list()).some((row) => row.kid === name)
    if (!exists) throw new Failure('not_found', 'The signing key is unknown.')
    await end('kid', name, { reason })
    await ring.remove(name)
    return { revoked: 'kid' }
  }
}

/**
 * Returns the holder of a token. An invalid token needs no revocation, and a token that cannot be checked now is not
 * revoked either.
 */
async function holderOf(token: string, authenticate: Authenticate): Promise<Principal> {
  try {
    return await authenticate(token)
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.code !== 'unauthenticated') throw thrown
    throw new Failure('invalid_request', 'The token is not valid here, so it needs no revocation.', {
      errors: [{ pointer: '/token', detail: 'It has expired, is revoked, or is of an untrusted issuer.' }],
    })
  }
}

type Holder = Pick<Principal, 'issuer' | 'subject'>

function assertAdmin(caller: Principal, what: string): void {
  if (holds(caller, 'admin')) return
  throw new Failure('forbidden', `Revoking ${what} needs the scope admin.`, { scope: 'admin' })
}

import { hash } from 'node:crypto'
import { Failure } from '../../schemas/failure.ts'
import {
  type ApiKey,
  type KeyInput,
  type NewApiKey,
  type Revocation,
  wholeKey,
} from '../../schemas/identity.ts'
import { isUnder } from '../../schemas/names.ts'
import { holds, type Principal, type Scope, scopes } from '../../schemas/scope.ts'
import { isSamePrincipal } from '../common/principal-key.ts'
import { isSameSecret } from '../common/same-secret.ts'
import { refused, type Verify } from './verify.ts'

/** An API key as stored, with only the hash of its secret. Times in milliseconds since the epoch. */
interface StoredApiKey {
  readonly id: string
  readonly sha256: string
  readonly issuer: string
  readonly subject: string
  readonly scopes: Scope[]
  readonly namespaces: string[]
  readonly label: string | null
  readonly created_at: number
  readonly expires_at: number
}

interface KeyStore {
  key(id: string): Promise<StoredApiKey | undefined>
  keys(owner?: { readonly issuer: string; readonly subject: string }): Promise<readonly StoredApiKey[]>
  /** False, and not added, if its owner has `most` valid keys. */
  addKey(key: StoredApiKey, max: number): Promise<boolean>
}

interface ApiKeysOptions {
  readonly store: KeyStore
  /** Deletes a key and revokes the tokens obtained with it. */
  readonly endKey: (id: string, revocation: Revocation) => Promise<void>
  /** The revocation of all that was issued to a subject until a time after `issued_at`. */
  readonly revocationOf: (
    holder: Pick<StoredApiKey, 'issuer' | 'subject'>,
    issued_at: number,
  ) => Revocation | undefined
  readonly clock: () => number
  readonly random: (bytes: number) => Uint8Array
}

/** Long-lived keys that act for their creator, with at most the creator's rights. */
export interface ApiKeys {
  /** Throws Failure `forbidden` for more rights than the caller has, `conflict` for too many keys. */
  create(input: KeyInput, caller: Principal): Promise<NewApiKey>
  /** The caller's keys; for an admin, all keys. */
  list(caller: Principal): Promise<ApiKey[]>
  /** Throws Failure `not_found` for a key that the caller may not delete. */
  remove(id: string, caller: Principal, reason?: string): Promise<void>
  readonly verify: Verify
}

/** Of one owner. */
export const maxKeys = 100
/**
 * Time for which the revocation of a key's tokens is stored: twice the longest lifetime of a token obtained with a
 * key.
 */
const revocationMilliseconds = 7_200_000

export function createApiKeys({ store, endKey, revocationOf, clock, random }: ApiKeysOptions): ApiKeys {
  return {
    async create(input, caller) {
      assertMayMake(input, caller)
      const { issuer, subject } = caller
      const id = `drg_${letters(random(8))}`
      const whole = `${id}_${Buffer.from(random(32)).toString('base64url')}`
      const now = clock()
      const stored: StoredApiKey = {
        id,
        sha256: digest(whole),
        issuer,
        subject,
        scopes: input.scopes ?? ownScopes(caller),
        namespaces: input.namespaces ?? [...caller.namespaces],
        label: input.label ?? null,
        created_at: now,
        expires_at: now + input.ttl_s * 1000,
      }
      if (!(await store.addKey(stored, maxKeys))) {
        throw new Failure('conflict', `${subject} has ${maxKeys} API keys; delete one of them first.`)
      }
      return { ...shown(stored, undefined), key: whole }
    },
    async list(caller) {
      const keys = await store.keys(holds(caller, 'admin') ? undefined : caller)
      return keys.map((key) => shown(key, revocationOf(key, key.created_at)))
    },
    async remove(id, caller, reason) {
      const key = await store.key(id)
      if (!key || !mayEnd(key, caller)) throw new Failure('not_found', 'The API key is unknown.')
      const before = clock()
      await endKey(id, {
        kind: 'key',
        issuer: '',
        name: id,
        before,
        expires_at: before + revocationMilliseconds,
        reason: reason ?? null,
      })
    },
    async verify(token) {
      const id = wholeKey.exec(token)?.[1]
      const key = id === undefined ? undefined : await store.key(id)
      if (!key || !isSameSecret(digest(token), key.sha256))
        throw refused(new Error('The API key is unknown.'))
      if (key.expires_at <= clock()) throw refused(new Error('The API key has expired.'), true)
      return {
        issuer: key.issuer,
        subject: key.subject,
        scopes: new Set(key.scopes),
        namespaces: key.namespaces,
        expires_at: key.expires_at / 1000,
        credential: { issued_at: key.created_at, key: key.id },
      }
    },
  }
}

function assertMayMake({ scopes: requested = [], namespaces = [] }: KeyInput, caller: Principal): void {
  if (caller.confined_to !== undefined) {
    throw new Failure('forbidden', 'A playground session cannot create API keys.')
  }
  // A key is valid at every resource.
  if (caller.resources !== undefined && !caller.resources.includes('')) {
    throw new Failure('forbidden', 'A token that is valid only for MCP or A2A cannot create API keys.', {
      hint: 'Use a token for the base URL, or create the key on the command line.',
    })
  }
  if (caller.credential?.grant !== undefined) {
    throw new Failure('forbidden', 'An application that a person allowed cannot create API keys.', {
      hint: 'A key would outlive the permission. The operator makes one with `dragoman apikey create --sub`.',
    })
  }
  // Otherwise a leaked key could create another one, which outlives it.
  if (caller.credential?.key !== undefined) {
    throw new Failure('forbidden', 'An API key cannot create API keys, nor can a token obtained with one.', {
      hint: 'Create it with a token of `dragoman token create` or of your issuer.',
    })
  }
  const lacking = requested.find((scope) => !holds(caller, scope))
  if (lacking) {
    throw new Failure('forbidden', `A key cannot have the scope ${lacking}, which you lack.`, {
      scope: lacking,
    })
  }
  if (holds(caller, 'admin')) return
  const foreign = namespaces.find((namespace) => !caller.namespaces.some((own) => isUnder(namespace, own)))
  if (foreign === undefined) return
  throw new Failure('forbidden', `A key cannot have the namespace ${foreign}, which is not yours.`)
}

function ownScopes(caller: Principal): Scope[] {
  return scopes.filter((scope) => scope !== 'admin' && holds(caller, scope))
}

function mayEnd(key: StoredApiKey, caller: Principal): boolean {
  return holds(caller, 'admin') || isSamePrincipal(key, caller)
}

function shown(
  { sha256: _, created_at, expires_at, ...rest }: StoredApiKey,
  revocation: Revocation | undefined,
): ApiKey {
  return {
    ...rest,
    created_at: new Date(created_at).toISOString(),
    expires_at: new Date(expires_at).toISOString(),
    revoked: revocation ? { at: new Date(revocation.before).toISOString(), reason: revocation.reason } : null,
  }
}

/** 256 random bits need no slow hash. */
function digest(key: string): string {
  return hash('sha256', key, 'base64url')
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

function letters(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => alphabet[byte % alphabet.length]).join('')
}

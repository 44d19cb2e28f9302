import { hash, randomUUID } from 'node:crypto'
import type { CredentialStore, StoredCredential } from '../../../schemas/credential.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { Wait } from '../../common/clock.ts'
import type { Vault } from '../vault.ts'
import type { Clients } from './clients.ts'
import { type Grants, isOver, isUnknownClient, Tokens } from './grants.ts'
import { reasonOf } from './metadata.ts'

/** The tokens of sign-ins: sealed in the store, renewed, and ended at their servers. */
export interface UpstreamTokens {
  readonly grants: Grants
  /** The credential with these tokens, for the address of its agent. */
  seal(
    tokens: Tokens,
    credential: Omit<StoredCredential, 'sealed' | 'sign_in'>,
    url: string,
  ): StoredCredential
  /** Undefined for another credential, and for tokens that another secret key sealed. */
  open(credential: StoredCredential | undefined): Tokens | undefined
  /** The tokens of a credential; undefined if they end soon or are the refused ones. */
  current(credential: StoredCredential, refused?: string): Tokens | undefined
  /**
   * New tokens of a credential; undefined if only a new sign-in helps. One renewal serves all calls at one time, in every
   * process. Throws Failure if the server does not answer.
   */
  renewed(credential: StoredCredential, refused?: string): Promise<Tokens | undefined>
  /** Ends tokens at their server. A server that does not answer is only reported. */
  revoke(tokens: Tokens | undefined): Promise<void>
  /** Deletes the sign-ins of an owner, and ends their tokens. */
  endSignIns(owner: string): Promise<void>
}

interface UpstreamTokensOptions {
  readonly grants: Grants
  readonly clients: Pick<Clients, 'forget'>
  readonly store: CredentialStore
  readonly leases: {
    take(name: string, holder: string, now: number, until: number): Promise<boolean>
    release(name: string, holder: string): Promise<void>
  }
  readonly vault: Vault
  readonly clock: () => number
  readonly wait: Wait
  readonly onError: (fault: unknown) => void
}

/** Tokens are renewed this long before their end. */
const marginMilliseconds = 10_000
const refreshMilliseconds = 10_000
const revokeMilliseconds = 5_000
const leaseMilliseconds = 20_000
const pollMilliseconds = 100

export function createUpstreamTokens(options: UpstreamTokensOptions): UpstreamTokens {
  const { grants, clients, store, leases, vault, clock, wait, onError } = options
  const renewing = new Map<string, Promise<Tokens | undefined>>()

  function seal(
    tokens: Tokens,
    credential: Omit<StoredCredential, 'sealed' | 'sign_in'>,
    url: string,
  ): StoredCredential {
    const { scopes, expires_at, server } = tokens
    const end = expires_at === null ? null : new Date(expires_at).toISOString()
    const sign_in = { issuer: server.issuer, scopes, expires_at: end, url }
    const signed = { ...credential, sign_in }
    return { ...signed, sealed: vault.seal(JSON.stringify(tokens), bindingOf(signed)) }
  }

  function open(credential: StoredCredential | undefined): Tokens | undefined {
    const text = credential?.sign_in ? vault.open(credential.sealed, bindingOf(credential)) : undefined
    return text === undefined ? undefined : Tokens.parse(JSON.parse(text))
  }

  async function revoke(tokens: Tokens | undefined): Promise<void> {
    if (tokens) await grants.revoke(tokens, AbortSignal.timeout(revokeMilliseconds)).catch(onError)
  }

  const isLeft = ({ expires_at }: Tokens, margin: number) =>
    expires_at === null || expires_at - margin > clock()

  function current(credential: StoredCredential, refused?: string): Tokens | undefined {
    const tokens = open(credential)
    const isGood = tokens && tokens.access_token !== refused && isLeft(tokens, marginMilliseconds)
    return isGood ? tokens : undefined
  }

  async function stored({ owner, entry_id, variable }: StoredCredential) {
    return (await store.find(owner, entry_id)).find((row) => row.variable === variable)
  }

  /** One process of all renews; the others wait for its tokens. */
  async function renewAlone(credential: StoredCredential, refused?: string): Promise<Tokens | undefined> {
    const { owner, entry_id } = credential
    const lease = `sign-in ${hash('sha256', JSON.stringify([owner, entry_id]), 'base64url')}`
    const holder = randomUUID()
    const signal = AbortSignal.timeout(leaseMilliseconds + refreshMilliseconds)
    while (!(await leases.take(lease, holder, clock(), clock() + leaseMilliseconds))) {
      await wait(pollMilliseconds, signal)
    }
    try {
      const row = await stored(credential)
      const tokens = open(row)
      return row && tokens && (current(row, refused) ?? (await renew(row, tokens, refused)))
    } finally {
      await leases.release(lease, holder)
    }
  }

  async function renew(
    row: StoredCredential,
    tokens: Tokens,
    refused: string | undefined,
  ): Promise<Tokens | undefined> {
    const { refresh_token } = tokens
    if (refresh_token === undefined) {
      if (!isLeft(tokens, 0)) await store.removeSame(row)
      return refused === undefined && isLeft(tokens, 0) ? tokens : undefined
    }
    try {
      const signal = AbortSignal.timeout(refreshMilliseconds)
      const next = await grants.refresh({ ...tokens, refresh_token }, signal)
      if (await store.replace(seal(next, row, row.sign_in?.url ?? ''), row.sealed)) return next
      // The caller has deleted the sign-in meanwhile, or signed in again.
      const other = await stored(row)
      if (!other) await revoke(next)
      return open(other)
    } catch (fault) {
      if (isOver(fault)) {
        await store.removeSame(row)
        if (isUnknownClient(fault)) await clients.forget(tokens.server)
        return undefined
      }
      if (refused === undefined && isLeft(tokens, 0)) return tokens
      throw notRenewed(tokens, fault)
    }
  }

  return {
    grants,
    seal,
    open,
    current,
    revoke,
    async renewed(credential, refused) {
      const key = `${credential.entry_id} ${credential.owner}`
      const pending = renewing.get(key) ?? renewAlone(credential, refused).finally(() => renewing.delete(key))
      renewing.set(key, pending)
      return await pending
    },
    async endSignIns(owner) {
      const found = (await store.list(owner)).filter(({ sign_in }) => sign_in)
      for (const credential of found) await store.remove(owner, credential.entry_id, credential.variable)
      await Promise.all(found.map((credential) => revoke(open(credential))))
    },
  }
}

function notRenewed({ server }: Tokens, fault: unknown): Failure {
  const { host } = new URL(server.issuer)
  return new Failure(
    'upstream_failed',
    `${host} did not renew your sign-in: ${reasonOf(fault)}`,
    { hint: 'Repeat the call later, or delete the credential and sign in again.' },
    fault,
  )
}

/** Bound to the caller, the agent, its whole address and the issuer. */
function bindingOf({ owner, entry_id, header, sign_in }: Omit<StoredCredential, 'sealed'>): string {
  return JSON.stringify([owner, entry_id, sign_in?.url, header, sign_in?.issuer])
}

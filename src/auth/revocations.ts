import { setTimeout as pause } from 'node:timers/promises'
import { localIssuer, type Revocation } from '../../schemas/identity.ts'
import type { Credential, Principal } from '../../schemas/scope.ts'

/** Where revocations are kept, for every process that shares it. */
export interface RevocationStore {
  revocations(now: number): Promise<readonly Revocation[]>
  revoke(revocation: Revocation, now: number): Promise<void>
  endKey(id: string, revocation: Revocation, now: number): Promise<void>
}

/** What has been revoked, in memory. */
export interface Revocations extends AsyncDisposable {
  revoked(principal: Principal): boolean
  /** Keeps the revocation; it bites in this process when this resolves, and in others within two seconds. */
  revoke(revocation: Revocation): Promise<void>
  /** The same, and deletes the API key. */
  endKey(id: string, revocation: Revocation): Promise<void>
  /** Calls the listener after each change, wherever it was made. */
  onChange(listener: () => void): void
}

export interface RevocationsOptions {
  readonly store: RevocationStore
  /** Yields at once, and soon after each commit of any process. */
  readonly wake: (signal: AbortSignal) => AsyncIterable<void>
  readonly clock: () => number
  readonly onError: (fault: unknown) => void
  /** Between two readings that nobody here asked for, and after a fault; 500 when absent. */
  readonly rest_ms?: number
}

/** Loads what is revoked before it resolves: no gateway answers without knowing. */
export async function createRevocations(options: RevocationsOptions): Promise<Revocations> {
  const { store, wake, clock, onError, rest_ms = 500 } = options
  const listeners: (() => void)[] = []
  const ending = new AbortController()
  let standing = new Map<string, number>()
  let seen = ''
  let asked = 0
  let answered = 0

  async function load(): Promise<void> {
    asked += 1
    const turn = asked
    const rows = await store.revocations(clock())
    // An answer that was overtaken by a newer one would bring back what has just been revoked.
    if (turn < answered) return
    answered = turn
    const text = JSON.stringify(rows)
    if (text === seen) return
    seen = text
    standing = new Map(rows.map((row) => [nameOf(row.kind, row.issuer, row.name), row.before]))
    for (const listener of listeners) listener()
  }

  const rest = () => pause(rest_ms, undefined, { signal: ending.signal }).catch(() => {})

  /** Until it is known: the next commit may be a day away. */
  async function step(): Promise<void> {
    while (!ending.signal.aborted) {
      try {
        return await load()
      } catch (fault) {
        onError(fault)
      }
      await rest()
    }
  }

  /** All is read again after a commit, so commits that follow one another closely are answered together. */
  async function follow(): Promise<void> {
    while (!ending.signal.aborted) {
      try {
        for await (const _ of wake(ending.signal)) {
          await step()
          await rest()
        }
      } catch (fault) {
        onError(fault)
      }
      await rest()
    }
  }

  function isRevoked(issuer: string, subject: string, { issued_at, jti, kid, key }: Credential): boolean {
    const signer = kid === undefined ? issuer : localIssuer
    if (jti !== undefined && standing.has(nameOf('jti', signer, jti))) return true
    if (kid !== undefined && standing.has(nameOf('kid', '', kid))) return true
    if (key !== undefined && standing.has(nameOf('key', '', key))) return true
    const before = standing.get(nameOf('subject', issuer, subject))
    return before !== undefined && issued_at <= before
  }

  await load()
  const following = follow()
  return {
    revoked({ issuer, subject, credential }) {
      if (standing.size === 0 || credential === undefined) return false
      return isRevoked(issuer, subject, credential)
    },
    async revoke(revocation) {
      await store.revoke(revocation, clock())
      await load()
    },
    async endKey(id, revocation) {
      await store.endKey(id, revocation, clock())
      await load()
    },
    onChange: (listener) => void listeners.push(listener),
    async [Symbol.asyncDispose]() {
      ending.abort()
      await following
    },
  }
}

/** No kind holds a space, and no issuer that we trust does. */
function nameOf(kind: Revocation['kind'], issuer: string, name: string): string {
  return `${kind} ${issuer} ${name}`
}

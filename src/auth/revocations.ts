import { setTimeout as pause } from 'node:timers/promises'
import { localIssuer, type Revocation } from '../../schemas/identity.ts'
import type { Principal, UsedCredential } from '../../schemas/scope.ts'

/** Stores revocations, for every process that shares the database. */
interface RevocationStore {
  revocations(now: number): Promise<readonly Revocation[]>
  revoke(revocation: Revocation, now: number): Promise<void>
  endKey(id: string, revocation: Revocation, now: number): Promise<void>
}

interface RevocationsOptions {
  readonly store: RevocationStore
  /** Yields at once, and soon after each commit of any process. */
  readonly wake: (signal: AbortSignal) => AsyncIterable<void>
  readonly clock: () => number
  readonly onError: (fault: unknown) => void
  /** Minimum time between two reads that follow commits, and after an error; 500 when absent. */
  readonly rest_ms?: number
}

/** Holds the revocations in memory. */
export class Revocations implements AsyncDisposable {
  readonly #options: RevocationsOptions
  readonly #rest_ms: number
  readonly #listeners: (() => void)[] = []
  readonly #ending = new AbortController()
  #following: Promise<void> = Promise.resolve()
  /** By name. That of a subject holds for the tokens issued at or before its time. */
  #revoked = new Map<string, Revocation>()
  /** The rows of the last read. */
  #text = ''
  /** Numbers of the read that began last, and of the newest read whose rows are in use. */
  #begun = 0
  #applied = 0

  private constructor(options: RevocationsOptions) {
    this.#options = options
    this.#rest_ms = options.rest_ms ?? 500
  }

  /** Reads the revocations before it resolves: no gateway answers without them. */
  static async open(options: RevocationsOptions): Promise<Revocations> {
    const revocations = new Revocations(options)
    await revocations.#load()
    revocations.#following = revocations.#follow()
    return revocations
  }

  revoked({ issuer, subject, credential }: Pick<Principal, 'issuer' | 'subject' | 'credential'>): boolean {
    if (this.#revoked.size === 0 || credential === undefined) return false
    return this.#isRevoked(issuer, subject, credential)
  }

  /** The revocation of all that was issued to a subject until a time after `issued_at`, in milliseconds. */
  ofSubject(
    { issuer, subject }: Pick<Principal, 'issuer' | 'subject'>,
    issued_at: number,
  ): Revocation | undefined {
    const revocation = this.#revoked.get(nameOf('subject', issuer, subject))
    return revocation !== undefined && issued_at <= revocation.before ? revocation : undefined
  }

  /** Stores the revocation. It holds in this process when this resolves, and in others within two seconds. */
  async revoke(revocation: Revocation): Promise<void> {
    const { store, clock } = this.#options
    await store.revoke(revocation, clock())
    await this.#load()
  }

  /** Stores the revocation as `revoke` does, and deletes the API key. */
  async endKey(id: string, revocation: Revocation): Promise<void> {
    const { store, clock } = this.#options
    await store.endKey(id, revocation, clock())
    await this.#load()
  }

  /** Calls the listener after each change, by this process or another. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort()
    await this.#following
  }

  #isRevoked(issuer: string, subject: string, { issued_at, jti, kid, key, grant }: UsedCredential): boolean {
    const revoked = this.#revoked
    const signer = kid === undefined ? issuer : localIssuer
    if (jti !== undefined && revoked.has(nameOf('jti', signer, jti))) return true
    if (kid !== undefined && revoked.has(nameOf('kid', '', kid))) return true
    if (grant !== undefined && revoked.has(nameOf('grant', '', grant))) return true
    if (key !== undefined && revoked.has(nameOf('key', '', key))) return true
    return this.ofSubject({ issuer, subject }, issued_at) !== undefined
  }

  async #load(): Promise<void> {
    const { store, clock } = this.#options
    this.#begun += 1
    const number = this.#begun
    const rows = await store.revocations(clock())
    // A read that finishes after a newer one lacks later revocations.
    if (number < this.#applied) return
    this.#applied = number
    const text = JSON.stringify(rows)
    if (text === this.#text) return
    this.#text = text
    this.#revoked = new Map(rows.map((row) => [nameOf(row.kind, row.issuer, row.name), row]))
    for (const listener of this.#listeners) listener()
  }

  /** Reads everything again after a commit; commits that follow one another closely cost one read. */
  async #follow(): Promise<void> {
    const { wake, onError } = this.#options
    const { signal } = this.#ending
    while (!signal.aborted) {
      try {
        for await (const _ of wake(signal)) {
          await this.#loadUntilRead()
          await this.#rest()
        }
      } catch (fault) {
        onError(fault)
      }
      await this.#rest()
    }
  }

  /** Retries a failed read at once: the next commit may be a day away. */
  async #loadUntilRead(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      try {
        return await this.#load()
      } catch (fault) {
        this.#options.onError(fault)
      }
      await this.#rest()
    }
  }

  async #rest(): Promise<void> {
    await pause(this.#rest_ms, undefined, { signal: this.#ending.signal }).catch(() => {})
  }
}

/** Unambiguous: neither a kind nor a trusted issuer holds a space. */
function nameOf(kind: Revocation['kind'], issuer: string, name: string): string {
  return `${kind} ${issuer} ${name}`
}

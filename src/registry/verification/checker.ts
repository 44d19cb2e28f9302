import { isDeepStrictEqual } from 'node:util'
import type { AuditAction } from '../../../schemas/audit.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { Party, SignatureReport } from '../../../schemas/trust.ts'
import { dayMilliseconds } from '../../common/days.ts'
import { isListed } from '../../store/entries/version-content.ts'
import type { Store, Writer } from '../../store/store.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import { afterReading as afterAsking, type CapabilityReader, type Reading } from '../capabilities/reader.ts'
import { readEndpoint } from '../capabilities/reading.ts'
import type { FetchCard, FetchedCard } from '../cards/fetch-card.ts'
import { flagsOf, type ProtectedName } from '../entry/imitation.ts'
import { claimToken } from './challenge.ts'
import type { Prove, Proving } from './proof.ts'
import { asServer, withCard, withoutCard } from './refresh.ts'
import { afterProving, domainOf } from './verification-status.ts'

export interface CheckerOptions {
  readonly store: Store
  readonly clock: () => number
  readonly fetchCard: FetchCard
  /** Reads the tools of MCP servers; without it, none are read. */
  readonly reader?: Pick<CapabilityReader, 'ask'>
  readonly prove: Prove
  /** Secret of this installation; see `claimToken`. */
  readonly secret: () => Promise<Uint8Array>
  readonly verifySignature: (
    card: unknown,
    domain: string | null,
    signal: AbortSignal,
  ) => Promise<SignatureReport>
  /** The gateway's proof of the domain of its own agents; null without a domain. */
  readonly own: OwnDomain | null
  /** The names that the operator protects; none when absent. */
  readonly protectedNames?: readonly ProtectedName[]
  /** Called for faults that the entry does not cause. */
  readonly onError: (fault: unknown) => void
  /** Time-out of one entry, in milliseconds; 30,000 when absent. */
  readonly deadline_ms?: number
}

/** The domain of the base URL, and the proof that the gateway answers there. */
interface OwnDomain {
  readonly domain: string
  readonly claimant: Party
  readonly prove: Prove
}

const deadlineMilliseconds = 30_000
const restMilliseconds = 3_600_000
const maxConcurrent = 4
const maxDue = 200

/** Repeats the checks of what entries state: their cards, their proofs, their signatures. */
export class Checker {
  readonly #options: CheckerOptions
  /** Entries whose check failed because of an internal fault, each with the time before which it is not retried. */
  readonly #resting = new Map<string, number>()

  constructor(options: CheckerOptions) {
    this.#options = options
  }

  /** Checks one entry, whether it is due or not, and writes the result. */
  async check(id: string, signal: AbortSignal): Promise<void> {
    const { store, protectedNames = [], deadline_ms = deadlineMilliseconds } = this.#options
    const entry = await store.read.entry({ id })
    if (!entry || entry.deleted) return
    const limited = AbortSignal.any([signal, AbortSignal.timeout(deadline_ms)])
    const [fetched, proving, answered] = await Promise.all([
      this.#readCard(entry, limited),
      this.#prove(entry, limited),
      this.#ask(entry, limited),
    ])
    signal.throwIfAborted()
    const server = fetched instanceof Failure ? undefined : fetched?.server
    const card = server ? null : fetched
    const reading: Reading | null = server ? { answer: server, kind: 'open' } : answered
    const read = this.#afterCheck(server ? asServer(entry, entry.manifest_url) : entry, card, proving)
    const checked = reading ? afterAsking(read, reading, this.#time()) : read
    const signature = await this.#signatureOf(checked, card, limited)
    signal.throwIfAborted()
    await store.write(async (writer) => {
      const now = await writer.entry({ id })
      if (!now) return
      if (now.revision !== entry.revision) return await this.#putVerification(writer, now, entry, proving)
      const updated_at = checked.card_sha256 === entry.card_sha256 ? checked.updated_at : this.#time()
      // The card has just named the server: its tools are read at once.
      const isUnread = !reading && readEndpoint(checked) !== undefined && entry.owner !== null
      const check_at = this.#time(isUnread && this.#options.reader ? 0 : dayMilliseconds)
      const after = { ...checked, signature, updated_at, check_at }
      const content_flags = await flagsOf(after, writer, protectedNames)
      await writer.put({ ...after, content_flags }, auditActionOf(entry, after))
      if (after.owner && after.verification_level === 'domain_verified' && isListed(after)) {
        // Entries that were checked within the last hour wait, so that repeated verifications cause few checks.
        await writer.recheckNamesakes(
          after.name,
          this.#time(),
          this.#time(dayMilliseconds - restMilliseconds),
        )
      }
    })
  }

  /** True if any entry is due. */
  async isDue(): Promise<boolean> {
    return (await this.#due()).length > 0
  }

  /** Checks every entry that is due, at most a few hundred. Returns their number. */
  async run(signal: AbortSignal): Promise<number> {
    const left = await this.#due()
    const count = left.length
    const work = async () => {
      for (let id = left.shift(); id !== undefined && !signal.aborted; id = left.shift()) {
        await this.#attempt(id, signal)
      }
    }
    await Promise.all(Array.from({ length: maxConcurrent }, work))
    return count
  }

  async #attempt(id: string, signal: AbortSignal): Promise<void> {
    this.#resting.delete(id)
    try {
      await this.check(id, signal)
    } catch (fault) {
      if (signal.aborted) return
      this.#resting.set(id, this.#options.clock() + restMilliseconds)
      this.#options.onError(fault)
    }
  }

  /** Reads more entries than are pausing, so that pausing entries do not hide the others. */
  async #due(): Promise<string[]> {
    const { read } = this.#options.store
    const ids = await read.due(this.#time(), this.#time(2 * dayMilliseconds), maxDue + this.#resting.size)
    return ids.filter((id) => !this.#isResting(id)).slice(0, maxDue)
  }

  #isResting(id: string): boolean {
    const left = (this.#resting.get(id) ?? 0) - this.#options.clock()
    // A longer pause was set by a clock that was ahead.
    return left > 0 && left <= restMilliseconds
  }

  #time(later = 0): string {
    return new Date(this.#options.clock() + later).toISOString()
  }

  /**
   * An entry that changed during its check stays due, and is checked again. The result of its proof is still written:
   * otherwise the owner of a lost domain could keep the level by repeated changes of the entry.
   */
  async #putVerification(
    writer: Writer,
    now: StoredEntry,
    before: StoredEntry,
    proving: Proving | null,
  ): Promise<void> {
    const { proof, deleted, hosted } = now
    const isSame = isDeepStrictEqual([proof, now.owner], [before.proof, before.owner])
    if (!proving || !proof || !isSame || deleted || hosted) return
    const after = afterProving(now, proving, domainOf(now, proof.domain).reason, this.#time())
    await writer.put(after, auditActionOf(now, after))
  }

  /** Null if the entry has no card of its own; a Failure if the card cannot be read. */
  async #readCard(entry: StoredEntry, signal: AbortSignal): Promise<FetchedCard | Failure | null> {
    if (entry.hosted || !entry.owner || entry.manifest_url === null) return null
    try {
      return await this.#options.fetchCard(entry.manifest_url, signal)
    } catch (thrown) {
      return thrown instanceof Failure
        ? thrown
        : new Failure('upstream_timeout', 'It did not answer in time.')
    }
  }

  /** Null if no MCP server serves the entry, or it did not answer in the time of the check. */
  async #ask(entry: StoredEntry, signal: AbortSignal): Promise<Reading | null> {
    if (!entry.owner) return null
    const asking = this.#options.reader?.ask(entry, signal).catch((fault) => {
      if (signal.aborted) return null
      throw fault
    })
    return (await asking) ?? null
  }

  async #prove(entry: StoredEntry, signal: AbortSignal): Promise<Proving | null> {
    const { own, secret, prove } = this.#options
    if (entry.hosted) {
      if (!own) return null
      const token = claimToken(await secret(), own.claimant, own.domain)
      return await own.prove({ domain: own.domain, token }, signal)
    }
    const { proof, owner } = entry
    if (!proof || !owner) return null
    const { domain, method, public_key, signature } = proof
    const token = claimToken(await secret(), owner, domain)
    return await prove({ domain, token, method, public_key, signature }, signal)
  }

  #afterCheck(entry: StoredEntry, card: FetchedCard | Failure | null, proving: Proving | null): StoredEntry {
    const at = this.#time()
    const read = afterReading(entry, card, at)
    if (!proving) return read
    const disagreement =
      entry.proof && !entry.hosted ? domainOf(atFinalUrl(entry, card), entry.proof.domain).reason : null
    return afterProving(read, proving, disagreement, at)
  }

  /** Only the keys of a proved domain make a signature valid. */
  async #signatureOf(
    { verification_level, proof, signature, manifest }: StoredEntry,
    card: FetchedCard | Failure | null,
    signal: AbortSignal,
  ): Promise<SignatureReport | null> {
    const domain = verification_level === 'domain_verified' ? (proof?.domain ?? null) : null
    // A refused card differs from the card that the registry serves.
    if (card === null || card instanceof Failure || manifest?.status === 'invalid') {
      return signature?.status === 'valid' && domain === null
        ? untrusted('Its domain is no longer proved.')
        : signature
    }
    return await this.#options.verifySignature(card.document, domain, signal).catch((fault) => {
      if (signal.aborted) return untrusted('The keys of its domain did not arrive in time.')
      throw fault
    })
  }
}

function afterReading(entry: StoredEntry, card: FetchedCard | Failure | null, at: string): StoredEntry {
  if (card === null) return entry
  return card instanceof Failure ? withoutCard(entry, card, at) : withCard(entry, card, at)
}

function untrusted(detail: string): SignatureReport {
  return { status: 'untrusted_key', detail }
}

/** The entry with the final address of its card, after redirects. */
function atFinalUrl(entry: StoredEntry, card: FetchedCard | Failure | null): StoredEntry {
  if (card === null || card instanceof Failure) return entry
  return { ...entry, manifest_url: card.url }
}

function auditActionOf(before: StoredEntry, after: StoredEntry): AuditAction {
  const reason = after.proof?.detail ?? undefined
  if (before.verification_level === after.verification_level) return { actor: null, action: 'check' }
  const action = after.verification_level === 'domain_verified' ? 'restore' : 'demote'
  return { actor: null, action, ...(reason !== undefined && { reason }) }
}

import { isDeepStrictEqual } from 'node:util'
import { Failure } from '../../../schemas/failure.ts'
import type { SignatureReport } from '../../../schemas/trust.ts'
import type { AuditAction, Store, StoredEntry, Writer } from '../../store/store.ts'
import type { FetchCard, FetchedCard } from '../cards/fetch-card.ts'
import { contentFlags } from '../entry/content-flags.ts'
import { type Claimant, claimToken } from './challenge.ts'
import type { Prove, Proving } from './proof.ts'
import { withCard, withoutCard } from './refresh.ts'
import { afterProving, domainOf } from './verification-status.ts'

/** Looks again at what entries say of themselves: their cards, their proofs, their signatures. */
export interface Checker {
  /** Looks at one entry, whether it is due or not, and writes down what was found. */
  check(id: string, signal: AbortSignal): Promise<void>
  /** Whether anything waits to be looked at. */
  isDue(): Promise<boolean>
  /** Looks at everything that is due, a few hundred at most; how many that were. */
  run(signal: AbortSignal): Promise<number>
}

export interface CheckerOptions {
  readonly store: Store
  readonly clock: () => number
  readonly fetchCard: FetchCard
  readonly prove: Prove
  /** Of this installation; see `claimToken`. */
  readonly secret: () => Promise<Uint8Array>
  readonly verifySignature: (
    card: unknown,
    domain: string | null,
    signal: AbortSignal,
  ) => Promise<SignatureReport>
  /** How the gateway proves the domain of its own agents; null where it has none. */
  readonly own: OwnDomain | null
  /** Hears of faults that are not the entry's. */
  readonly onError: (fault: unknown) => void
  /** For one entry; 30 seconds when left out. */
  readonly deadline_ms?: number
}

/** The domain of the base URL, and what shows that we answer there. */
export interface OwnDomain {
  readonly domain: string
  readonly claimant: Claimant
  readonly prove: Prove
}

const dayMilliseconds = 24 * 3_600_000
const deadlineMilliseconds = 30_000
const restMilliseconds = 3_600_000
const atOnce = 4
const maxDue = 200

export function createChecker(options: CheckerOptions): Checker {
  const {
    store,
    clock,
    fetchCard,
    secret,
    verifySignature,
    own,
    deadline_ms = deadlineMilliseconds,
  } = options
  const time = (later = 0) => new Date(clock() + later).toISOString()

  async function check(id: string, signal: AbortSignal): Promise<void> {
    const entry = await store.read.entry({ id })
    if (!entry || entry.deleted) return
    const enough = AbortSignal.any([signal, AbortSignal.timeout(deadline_ms)])
    const [card, proving] = await Promise.all([readCard(entry, enough), proveAgain(entry, enough)])
    signal.throwIfAborted()
    const seen = found(entry, card, proving)
    const signature = await signatureOf(seen, card, enough)
    signal.throwIfAborted()
    await store.write(async (writer) => {
      const now = await writer.entry({ id })
      if (!now) return
      if (now.revision !== entry.revision) return await putVerification(writer, now, entry, proving)
      const updated_at = seen.card_sha256 === entry.card_sha256 ? entry.updated_at : time()
      const after = { ...seen, signature, updated_at, check_at: time(dayMilliseconds) }
      await writer.put({ ...after, content_flags: contentFlags(after) }, auditActionOf(entry, after))
    })
  }

  /**
   * What has changed meanwhile is due still, and so looked at again. How its proof fares counts all the same, or
   * whoever lost a domain would only need to go on changing the entry.
   */
  async function putVerification(
    writer: Writer,
    now: StoredEntry,
    before: StoredEntry,
    proving: Proving | null,
  ): Promise<void> {
    const { proof, deleted, hosted } = now
    const isSame = isDeepStrictEqual([proof, now.owner], [before.proof, before.owner])
    if (!proving || !proof || !isSame || deleted || hosted) return
    const after = afterProving(now, proving, domainOf(now, proof.domain).reason, time())
    await writer.put(after, auditActionOf(now, after))
  }

  /** Null where there is none to read; a failure where it cannot be read. */
  async function readCard(entry: StoredEntry, signal: AbortSignal): Promise<FetchedCard | Failure | null> {
    if (entry.hosted || !entry.owner || entry.manifest_url === null) return null
    try {
      return await fetchCard(entry.manifest_url, signal)
    } catch (thrown) {
      return thrown instanceof Failure
        ? thrown
        : new Failure('upstream_timeout', 'It did not answer in time.')
    }
  }

  async function proveAgain(entry: StoredEntry, signal: AbortSignal): Promise<Proving | null> {
    if (entry.hosted) return own && (await proveOwn(own, signal))
    const { proof, owner } = entry
    if (!proof || !owner) return null
    const { domain, method, public_key, signature } = proof
    const token = claimToken(await secret(), owner, domain)
    return await options.prove({ domain, token, method, public_key, signature }, signal)
  }

  async function proveOwn({ domain, claimant, prove }: OwnDomain, signal: AbortSignal): Promise<Proving> {
    return await prove({ domain, token: claimToken(await secret(), claimant, domain) }, signal)
  }

  function found(
    entry: StoredEntry,
    card: FetchedCard | Failure | null,
    proving: Proving | null,
  ): StoredEntry {
    const at = time()
    const read =
      card === null
        ? entry
        : card instanceof Failure
          ? withoutCard(entry, card, at)
          : withCard(entry, card, at)
    if (!proving) return read
    const disagreement =
      entry.proof && !entry.hosted ? domainOf(placeOf(entry, card), entry.proof.domain).reason : null
    return afterProving(read, proving, disagreement, at)
  }

  /** The keys of a proved domain, and no other, make a signature good. */
  async function signatureOf(
    { verification_level, proof, signature, manifest }: StoredEntry,
    card: FetchedCard | Failure | null,
    signal: AbortSignal,
  ): Promise<SignatureReport | null> {
    const domain = verification_level === 'domain_verified' ? (proof?.domain ?? null) : null
    // A card that is refused is not the one that is given out.
    if (card === null || card instanceof Failure || manifest?.status === 'invalid') {
      return signature?.status === 'valid' && domain === null
        ? untrusted('Its domain is no longer proved.')
        : signature
    }
    return await verifySignature(card.document, domain, signal).catch((fault) => {
      if (signal.aborted) return untrusted('The keys of its domain did not come in time.')
      throw fault
    })
  }

  /** Entries whose check failed for a reason of ours, and until when they are left alone. */
  const resting = new Map<string, number>()

  function isResting(id: string): boolean {
    const left = (resting.get(id) ?? 0) - clock()
    // A longer rest was given by a clock that was ahead.
    return left > 0 && left <= restMilliseconds
  }

  /** Beyond those that rest, lest they hold up the others. */
  async function due(): Promise<string[]> {
    const ids = await store.read.due(time(), time(2 * dayMilliseconds), maxDue + resting.size)
    return ids.filter((id) => !isResting(id)).slice(0, maxDue)
  }

  async function run(signal: AbortSignal): Promise<number> {
    const left = await due()
    const count = left.length
    async function work(): Promise<void> {
      for (let id = left.shift(); id !== undefined && !signal.aborted; id = left.shift()) {
        await attempt(id, signal)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, work))
    return count
  }

  async function attempt(id: string, signal: AbortSignal): Promise<void> {
    resting.delete(id)
    try {
      await check(id, signal)
    } catch (fault) {
      if (signal.aborted) return
      resting.set(id, clock() + restMilliseconds)
      options.onError(fault)
    }
  }

  return { check, run, isDue: async () => (await due()).length > 0 }
}

function untrusted(detail: string): SignatureReport {
  return { status: 'untrusted_key', detail }
}

/** Where the card is in the end, after redirects. */
function placeOf(entry: StoredEntry, card: FetchedCard | Failure | null): StoredEntry {
  if (card === null || card instanceof Failure) return entry
  return { ...entry, manifest_url: card.url }
}

function auditActionOf(before: StoredEntry, after: StoredEntry): AuditAction {
  const reason = after.proof?.detail ?? undefined
  if (before.verification_level === after.verification_level) return { actor: null, action: 'check' }
  const action = after.verification_level === 'domain_verified' ? 'restore' : 'demote'
  return { actor: null, action, ...(reason !== undefined && { reason }) }
}

import type { ApprovalStore } from '../../schemas/approval.ts'
import type { AuditAction, AuditEvent, RegistryEvent } from '../../schemas/audit.ts'
import type { CallStore } from '../../schemas/calls.ts'
import type { CredentialStore } from '../../schemas/credential.ts'
import type { IdempotencyStore } from '../../schemas/idempotency.ts'
import type { LivenessStore } from '../../schemas/liveness.ts'
import type { MirroredItem, MirrorStore, StoredMirror } from '../../schemas/mirror.ts'
import type { SessionStore } from '../../schemas/playground.ts'
import type { QuotaName, QuotaNumbers } from '../../schemas/quota.ts'
import type { ServerStore, ServerVersion } from '../../schemas/server.ts'
import type { SignInStore } from '../../schemas/sign-in.ts'
import type { SuspendedBy } from '../../schemas/suspension.ts'
import type { TaskStore } from '../../schemas/task.ts'
import type { Actor } from '../../schemas/trust.ts'
import type { WebhookStore } from '../../schemas/webhook.ts'
import type { Eventual } from '../common/eventual.ts'
import type { DumpRestore } from './dump-restore.ts'
import type {
  Embeddings,
  IdentityStore,
  Leases,
  PersonalDataStore,
  RetentionStore,
  SettingStore,
} from './record-stores.ts'
import type { StoredEntry } from './stored-entry.ts'

/** One version of an entry: its public content from one revision on. A version is immutable. */
export interface Version {
  /** Revision of the commit that published it. */
  readonly revision: number
  /** The publisher's version string. */
  readonly version: string | null
  /** Sorts in the order of versions; empty for a version that Semantic Versioning does not define. */
  readonly precedence: string
  readonly published_at: string
  /** Digest of the content, in hex. */
  readonly sha256: string
}

export interface PublishedVersion extends Version {
  readonly content: Partial<StoredEntry>
}

/** The versions of an entry, after a revision. */
export interface VersionStore {
  /** Lists the highest version first, versions without an order last, equal versions newest first. */
  list(
    entryId: string,
    after: number,
    limit: number,
    position?: Pick<Version, 'precedence' | 'revision'>,
  ): Promise<readonly Version[]>
  /** The number of versions, and the revision of the newest one, or 0. */
  extent(entryId: string, after: number): Promise<{ readonly total: number; readonly newest: number }>
  /** The version of a revision, the one published before a revision, or the newest with a version string. */
  find(
    entryId: string,
    after: number,
    reference: { readonly revision: number } | { readonly before: number } | { readonly version: string },
  ): Promise<PublishedVersion | undefined>
}

/** One committed change; `revision` is gapless, starting at 1. */
export interface StoreChange {
  readonly revision: number
  readonly entry_id: string
  /** `liveness`: the public status of the agent changed, and the entry did not. */
  readonly kind: 'put' | 'delete' | 'liveness'
  readonly at: string
  /**
   * Public visibility after the change: visible, hidden by it, hidden before and after. Nothing is hidden by a change of
   * liveness.
   */
  readonly seen: 'listed' | 'gone' | 'unseen'
}

/** A namespace and its holder, by a claim in a token or by a proved domain. */
export interface Claim {
  readonly namespace: string
  readonly holder: NonNullable<Actor>
  readonly proved: boolean
}

export type Reference = { readonly id: string } | { readonly package_name: string }

/** A pass over all entries does not keep what it reads: it would displace what callers ask for. */
export type Pass = 'pass'

/** Reads throw UnreadableEntry for a row that holds no valid entry. */
export interface Reader {
  /** The entry, deleted ones included (their names stay taken). */
  entry(reference: Reference, pass?: Pass): Eventual<StoredEntry | undefined>
  /** The entries that exist, in the order of the ids. */
  entries(ids: readonly string[], pass?: Pass): Promise<readonly StoredEntry[]>
  /** The last committed revision; 0 for an empty store. */
  revision(): Promise<number>
  /** The last committed revision of any process; later reads see everything committed up to this call. */
  latest(): Promise<number>
  /**
   * Ids of entries whose check is due, or implausibly late; the entry that is due longest comes first. Times are RFC
   * 3339.
   */
  due(now: string, latest: string, limit: number): Promise<readonly string[]>
  /** Names of listed entries that begin with the prefix, in order. */
  listedNames(prefix: string, limit: number, after?: string): Promise<readonly string[]>
  /**
   * The audit events of an entry, newest first: all or those of one action. `before` is the id of the last event of
   * the previous page.
   */
  audit(entryId: string, limit: number, before?: number, action?: string): Promise<readonly AuditEvent[]>
  /** The audit events of all entries, newest first: all or those of one action. `before` is as of `audit`. */
  auditOfAll(limit: number, before?: number, action?: string): Promise<readonly RegistryEvent[]>
  /** The claims on any of these namespaces. */
  claims(namespaces: readonly string[]): Promise<readonly Claim[]>
  /** The entries that an owner offers, or that are offered to it, by id; `after` is the last id of the previous page. */
  offers(
    side: 'made' | 'received',
    party: NonNullable<Actor>,
    limit: number,
    after?: string,
  ): Promise<readonly StoredEntry[]>
  /** The suspended entries, the newest suspension first, deleted ones included; `before` is the last of the previous page. */
  suspended(by: SuspendedBy, limit: number, before?: SuspensionPosition): Promise<readonly SuspendedEntry[]>
}

/** The time of a suspension and the id of its entry. */
export interface SuspensionPosition {
  readonly at: string
  readonly id: string
}

export interface SuspendedEntry {
  readonly entry: StoredEntry
  /** As the store orders it: an earlier version beside this one may have lifted the suspension in the entry alone. */
  readonly position: SuspensionPosition
  /** Who suspended it; null for its source, and where the audit log does not have the event any more. */
  readonly by: Actor
}

/** The reads on which the decision about a change of an entry is based. */
export interface DecisionReads {
  entry(reference: Reference): Promise<StoredEntry | undefined>
  /** The claims on any of these namespaces. */
  claims(namespaces: readonly string[]): Promise<readonly Claim[]>
  /** Entries whose names are confusable with this one (UTS #39), without deleted ones. */
  lookalikes(packageName: string): Promise<readonly StoredEntry[]>
  /** Verified entries with owners whose display names may look like this one. */
  verifiedNamesakes(name: string): Promise<readonly StoredEntry[]>
  /** Digests of all content published under this version string, including that of earlier entries of the name. */
  published(entryId: string, version: string): Promise<readonly string[]>
}

/** The entry as the decision read it, and the entry to be written: the same object where there is nothing to write. */
export interface Decision {
  readonly before: StoredEntry | undefined
  readonly entry: StoredEntry
  readonly audit: AuditAction
  /**
   * Called with what the account of the entry uses before and after the change, in the order of the commit; what it
   * throws refuses the change. Not called for an entry that is not counted.
   */
  readonly admit?: ((usage: UsageChange) => void) | undefined
}

/** What an account uses: the entries under a claimed namespace, or those of an owner without a claim. */
export interface AccountUsage {
  readonly used: QuotaNumbers
  /** The limits that an admin set for the account. */
  readonly limits: Partial<QuotaNumbers>
}

export interface UsageChange extends AccountUsage {
  readonly account: string
  readonly after: QuotaNumbers
}

/** An account with the share of its limits that it uses: that of the quota of which it uses most. */
export interface RankedUsage extends AccountUsage {
  readonly account: string
  readonly share: number
}

/** What accounts use, counted in the transactions that write entries. */
export interface UsageStore {
  get(accounts: readonly string[]): Promise<ReadonlyMap<string, AccountUsage>>
  /**
   * The accounts that use something or have limits of their own, the largest share first, then by account. `limits` are
   * those of all other accounts. `after` is the last of the previous page.
   */
  rank(
    limits: QuotaNumbers | null,
    limit: number,
    after?: Pick<RankedUsage, 'account' | 'share'>,
  ): Promise<readonly RankedUsage[]>
  /** Sets a limit of an account; null removes it. */
  setLimit(account: string, quota: QuotaName, limit: number | null): Promise<void>
}

export interface Writer extends DecisionReads {
  /** Inserts or replaces by id. The commit assigns the revision and logs the action. */
  put(entry: StoredEntry, audit?: AuditAction): Promise<void>
  /** Logs an action that does not change the entry. */
  record(entryId: string, audit: AuditAction): Promise<void>
  /**
   * Makes the checks of the entries due whose display names may look like this one, without verified entries and those
   * whose next check is after `before`.
   */
  recheckNamesakes(name: string, now: string, before: string): Promise<void>
  /** Inserts or replaces versions under their names in the MCP registry. */
  putServers(servers: readonly ServerVersion[]): Promise<void>
  /** All versions of some names in the MCP registry, also those that nobody sees. */
  serversNamed(names: readonly string[]): Promise<readonly ServerVersion[]>
  /** Makes the versions that a mirror wrote for an entry the entry's own. */
  adoptServers(mirror: string, entry: Pick<StoredEntry, 'id' | 'revision'>, at: string): Promise<void>
  /** Removes the versions of an entry, and frees it from the source `mirror`. */
  releaseServers(mirror: string, entryId: string): Promise<void>
  mirror(name: string): Promise<StoredMirror | undefined>
  putMirror(mirror: StoredMirror): Promise<void>
  /** The entries of a mirror, by their keys at the source. */
  mirrored(mirror: string, keys: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** Notes that a run has found agents. */
  putMirrored(mirror: string, run: number, items: readonly MirroredItem[]): Promise<void>
  /** Time of this actor's last action of this kind on the entry. */
  lastDone(entryId: string, action: string, actor: Actor): Promise<string | undefined>
}

/**
 * The database of the registry. Every committed change takes the next number of one counter, so a reader of the log
 * misses no change.
 */
export interface Store extends AsyncDisposable {
  readonly read: Reader
  readonly embeddings: Embeddings
  readonly settings: SettingStore
  readonly versions: VersionStore
  readonly servers: ServerStore
  readonly mirrors: MirrorStore
  readonly idempotency: IdempotencyStore
  readonly leases: Leases
  readonly identity: IdentityStore
  readonly tasks: TaskStore
  readonly sessions: SessionStore
  readonly credentials: CredentialStore
  readonly approvals: ApprovalStore
  readonly calls: CallStore
  readonly liveness: LivenessStore
  readonly dumpRestore: DumpRestore
  readonly webhooks: WebhookStore
  readonly signIn: SignInStore
  readonly retention: RetentionStore
  readonly personalData: PersonalDataStore
  readonly usage: UsageStore
  /**
   * One transaction: all of `work` or none of it. `work` awaits only the writer and changes no state outside the
   * transaction, because the database may require `work` to be repeated.
   */
  write<T>(work: (transaction: Writer) => Promise<T>): Promise<{ result: T; revision: number }>
  /**
   * One change of one entry; `decide` may be called more than once and follows the rules of `write`. Concurrent
   * changes are committed together, with the same result as one after another.
   */
  change(
    decide: (reads: DecisionReads) => Promise<Decision>,
  ): Promise<{ entry: StoredEntry; revision: number }>
  /**
   * Changes with a revision greater than `after`, in order; if `entry_id` is given, those of one entry that the public saw:
   * the place of any other one in a page would tell of an entry that is hidden.
   */
  changes(after: number, limit: number, entry_id?: string): Promise<readonly StoreChange[]>
  /** Fails all statements of a database over the network, from now on: it may answer no more. For the end of a stop. */
  abandon?(): void
  /** Yields soon after a commit by this process, and within two seconds after one by another. */
  wake(signal: AbortSignal): AsyncIterable<void>
}

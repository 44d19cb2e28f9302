import { z } from 'zod'
import type { CredentialStore } from '../../schemas/credential.ts'
import { Deprecation } from '../../schemas/deprecation.ts'
import { storedShape } from '../../schemas/entry-fields.ts'
import { State, VerificationLevel } from '../../schemas/entry-parts.ts'
import {
  type Actor,
  type AuditEvent,
  ContentFlag,
  ManifestReport,
  SignatureReport,
  Suspension,
  VerificationReport,
} from '../../schemas/trust.ts'
import type { DumpRestore } from './dump-restore.ts'

/** A proof as it is kept, with what the next check needs. */
const StoredProof = VerificationReport.extend({
  /** Of the card that stood when the owner last verified. */
  card_sha256: z.string().nullable(),
  /** Of the `mcp` method: the key proved with, and its signature. */
  public_key: z.string().optional(),
  signature: z.string().optional(),
})
export type StoredProof = z.infer<typeof StoredProof>

import type { IdempotencyStore } from '../../schemas/idempotency.ts'
import type { Revocation } from '../../schemas/identity.ts'
import type { LivenessStore } from '../../schemas/liveness.ts'
import type { SessionStore } from '../../schemas/playground.ts'
import { Scope } from '../../schemas/scope.ts'
import type { TaskStore } from '../../schemas/task.ts'
import type { WebhookStore } from '../../schemas/webhook.ts'

/** An entry as the truth holds it: URLs of our own are null or relative, rendered at read. */
export const StoredEntry = z.object({
  ...storedShape,
  id: z.string(),
  state: State,
  verification_level: VerificationLevel,
  owner: z.object({ issuer: z.string(), subject: z.string(), namespace: z.string().nullable() }).nullable(),
  /** Written by the gateway itself for an agent that it hosts. */
  hosted: z.boolean(),
  source_url: z.string().nullable(),
  /** The card as its publisher wrote it, where we have it. */
  card: z.record(z.string(), z.unknown()).nullable(),
  /** The fields that its owner stated, which win over the manifest; null: all of them. */
  stated: z.array(z.string()).nullable().default(null),
  card_sha256: z.string().nullable().default(null),
  content_flags: z.array(ContentFlag).default([]),
  signature: SignatureReport.nullable().default(null),
  manifest: ManifestReport.nullable().default(null),
  proof: StoredProof.nullable().default(null),
  suspended: Suspension.nullable().default(null),
  deprecated: Deprecation.nullable().default(null),
  /** When the manifest and the proof are to be looked at again; null: never. */
  check_at: z.string().nullable().default(null),
  created_at: z.string(),
  updated_at: z.string(),
  deleted: z.boolean(),
  /** Versions up to this revision are those of an entry that had the name before, and was deleted. */
  versions_after: z.int().default(0),
  /** Set by the store at commit. */
  revision: z.int(),
})
export type StoredEntry = z.infer<typeof StoredEntry>

/** What stands in the store under this id is not an entry. */
export class UnreadableEntry extends Error {
  override readonly name = 'UnreadableEntry'

  constructor(id: string, cause: unknown) {
    super(`The stored entry ${id} cannot be read.`, { cause })
  }
}

/** One version of an entry: what everybody could see of it from then on, which never changes. */
export interface Version {
  /** Of the commit that published it. */
  readonly revision: number
  /** As its publisher calls it. */
  readonly version: string | null
  /** Sorts as versions do; empty for what is no version of Semantic Versioning. */
  readonly precedence: string
  readonly published_at: string
  /** Of what it says, in hex. */
  readonly sha256: string
}

export interface PublishedVersion extends Version {
  readonly content: Partial<StoredEntry>
}

/** What entries were, of those versions alone that came after a revision. */
export interface VersionStore {
  /** The highest version first, those without an order after all others, the newest of one version first. */
  list(
    entryId: string,
    after: number,
    limit: number,
    position?: Pick<Version, 'precedence' | 'revision'>,
  ): Promise<readonly Version[]>
  /** How many there are, and the revision of the newest, 0 where there is none. */
  extent(entryId: string, after: number): Promise<{ readonly total: number; readonly newest: number }>
  /** By its revision, or the newest that its publisher calls so. */
  find(
    entryId: string,
    after: number,
    reference: { readonly revision: number } | { readonly version: string },
  ): Promise<PublishedVersion | undefined>
}

/** One committed change; `revision` is gapless, starting at 1. */
export interface StoreChange {
  readonly revision: number
  readonly entry_id: string
  /** `liveness`: the entry stands as it was, but whether its agent answers has changed. */
  readonly kind: 'put' | 'delete' | 'liveness'
  readonly at: string
  /**
   * What it was to everybody: they see the entry as it is now, they have seen it before and no longer do, or they
   * never came to see it. Of liveness always `listed`.
   */
  readonly seen: 'listed' | 'gone' | 'unseen'
}

/** Who does what to an entry; the actor is null where the gateway does it by itself. */
export interface AuditAction {
  readonly actor: Actor
  readonly action: string
  readonly reason?: string
}

/** A namespace that somebody holds: by a claim in their token, or by having proved its domain. */
export interface Claim {
  readonly namespace: string
  readonly holder: NonNullable<Actor>
  readonly proved: boolean
}

export type Reference = { readonly id: string } | { readonly package_name: string }

/** Reads throw UnreadableEntry where what they ask for is none. */
export interface Reader {
  /** The entry, deleted ones too (their names stay taken). */
  entry(reference: Reference): Promise<StoredEntry | undefined>
  /** Those that exist, in the order asked for. */
  entries(ids: readonly string[]): Promise<readonly StoredEntry[]>
  /** The last committed revision; 0 for an empty store. */
  revision(): Promise<number>
  /** The same, and whatever any process had committed when it was asked is seen by the reads after it. */
  latest(): Promise<number>
  /** Ids of those to be checked by now, or implausibly late, the longest due first. Times are RFC 3339. */
  due(now: string, latest: string, limit: number): Promise<readonly string[]>
  /** Names of listed entries that begin with the prefix, in order. */
  listedNames(prefix: string, limit: number): Promise<readonly string[]>
  /** What was done to an entry, newest first; `before` is the id of the last event seen. */
  audit(entryId: string, limit: number, before?: number): Promise<readonly AuditEvent[]>
}

/** What a change of an entry is decided by. */
export interface DecisionReads {
  entry(reference: Reference): Promise<StoredEntry | undefined>
  /** Who holds any of the namespaces given. */
  claims(namespaces: readonly string[]): Promise<readonly Claim[]>
  /** Entries, deleted ones apart, whose names look like this one without being it (UTS #39). */
  lookalikes(packageName: string): Promise<readonly StoredEntry[]>
  /** Digests of what was ever published of an entry under a version string, by an entry of before too. */
  published(entryId: string, version: string): Promise<readonly string[]>
}

/** What stands, as the grounds gave it, and what is to stand in its place. */
export interface Decision {
  readonly before: StoredEntry | undefined
  readonly entry: StoredEntry
  readonly audit: AuditAction
}

export interface Writer extends DecisionReads {
  /** Inserts or replaces by id. The commit gives it its revision and logs who did it. */
  put(entry: StoredEntry, audit?: AuditAction): Promise<void>
  /** Logs what changes nothing of the entry. */
  record(entryId: string, audit: AuditAction): Promise<void>
  /** When this actor last did this to the entry. */
  lastDone(entryId: string, action: string, actor: Actor): Promise<string | undefined>
}

/** Vectors of texts by model and content: not the truth, but the costly part of what is derived from it. */
export interface Embeddings {
  /** Those that are kept, by content hash. */
  find(model: string, hashes: readonly string[]): Promise<ReadonlyMap<string, Float32Array>>
  /** Keeps them; what is there already stays. */
  keep(model: string, vectors: ReadonlyMap<string, Float32Array>): Promise<void>
  /** How many are kept of a model. */
  count(model: string): Promise<number>
}

/** What a gateway remembers about itself from one start to the next. */
export interface SettingStore {
  get(name: string): Promise<string | undefined>
  set(name: string, value: string): Promise<void>
  /** Writes it where nothing stands; what stands there then, whoever wrote it. */
  settle(name: string, value: string): Promise<string>
}

/** What only one process does at a time. */
export interface Leases {
  /** True where the holder has it until then: it was free, its own, or let lapse. Times in milliseconds. */
  take(name: string, holder: string, now: number, until: number): Promise<boolean>
  release(name: string, holder: string): Promise<void>
}

/** An API key as the truth holds it: of its secret the hash alone. Times in milliseconds since the epoch. */
export const StoredKey = z.object({
  id: z.string(),
  /** Of the whole key, in base64url. */
  sha256: z.string(),
  issuer: z.string(),
  subject: z.string(),
  scopes: z.array(Scope),
  namespaces: z.array(z.string()),
  label: z.string().nullable(),
  created_at: z.int(),
  expires_at: z.int(),
})
export type StoredKey = z.infer<typeof StoredKey>

/** API keys and what has been revoked. Not entries: they have no revision and stand in no log of changes. */
export interface IdentityStore {
  key(id: string): Promise<StoredKey | undefined>
  /** Those of one owner, or everybody's; the newest first. */
  keys(owner?: { readonly issuer: string; readonly subject: string }): Promise<readonly StoredKey[]>
  /** Forgets keys of the same owner that ended before this one begins; false, and not added, where `most` are left. */
  addKey(key: StoredKey, most: number): Promise<boolean>
  /** Deletes the key, if it is there, and notes the revocation, at once or not at all. Forgets those that are over. */
  endKey(id: string, revocation: Revocation, now: number): Promise<void>
  /** Those that may still end something at `now`. */
  revocations(now: number): Promise<readonly Revocation[]>
  /** Of two that end the same, the later `before` and `expires_at` hold. Forgets those that are over. */
  revoke(revocation: Revocation, now: number): Promise<void>
}

/** The truth. Every committed change takes the next number of one counter, so a reader of the log misses none. */
export interface Store extends AsyncDisposable {
  readonly read: Reader
  readonly embeddings: Embeddings
  readonly settings: SettingStore
  readonly versions: VersionStore
  readonly idempotency: IdempotencyStore
  readonly leases: Leases
  readonly identity: IdentityStore
  readonly tasks: TaskStore
  readonly sessions: SessionStore
  readonly credentials: CredentialStore
  readonly liveness: LivenessStore
  readonly dumpRestore: DumpRestore
  readonly webhooks: WebhookStore
  /**
   * One transaction: all of `work` or none of it. Inside, nothing is awaited but the writer, and nothing outside is
   * changed: a database may ask for it to be made again.
   */
  write<T>(work: (transaction: Writer) => Promise<T>): Promise<{ result: T; revision: number }>
  /**
   * One change of one entry, as it is to be, which may be decided more than once; the same rules as within `write`. Those
   * that come together are committed together, each as though it were alone.
   */
  change(
    decide: (reads: DecisionReads) => Promise<Decision>,
  ): Promise<{ entry: StoredEntry; revision: number }>
  /** Changes with a revision greater than `after`, in order. */
  changes(after: number, limit: number): Promise<readonly StoreChange[]>
  /** Yields soon after a commit by this process, and within two seconds after one by another. */
  wake(signal: AbortSignal): AsyncIterable<void>
}

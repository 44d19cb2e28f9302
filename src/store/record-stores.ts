import { z } from 'zod'
import type { AuditAction } from '../../schemas/audit.ts'
import type { Revocation } from '../../schemas/identity.ts'
import type { PersonalTable } from '../../schemas/personal-data.ts'
import { Scope } from '../../schemas/scope.ts'
import type { Actor } from '../../schemas/trust.ts'
import type { StoredEntry } from './stored-entry.ts'

/** Vectors of texts by model and content. They are derived data, stored because they are costly to compute. */
export interface Embeddings {
  /** The stored vectors, by content hash. */
  find(model: string, hashes: readonly string[]): Promise<ReadonlyMap<string, Float32Array>>
  /** Stores vectors; existing ones stay. */
  keep(model: string, vectors: ReadonlyMap<string, Float32Array>): Promise<void>
  /** True if there are more vectors of a model than that. */
  exceed(model: string, count: number): Promise<boolean>
}

/** Settings that a gateway stores from one start to the next. */
export interface SettingStore {
  get(name: string): Promise<string | undefined>
  set(name: string, value: string): Promise<void>
  /** Inserts if absent; returns the stored value. */
  settle(name: string, value: string): Promise<string>
}

/** Leases: work that only one process does at a time. */
export interface Leases {
  /**
   * Returns true if the holder now has the lease: it was free, expired or already the holder's. Times in milliseconds.
   */
  take(name: string, holder: string, now: number, until: number): Promise<boolean>
  release(name: string, holder: string): Promise<void>
}

/** An API key as the database holds it: only the hash of its secret. Times in milliseconds since the epoch. */
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

/** API keys and revocations. They are not entries: they have no revision and are not in the log of changes. */
export interface IdentityStore {
  key(id: string): Promise<StoredKey | undefined>
  /** The keys of one owner, or all; newest first. */
  keys(owner?: { readonly issuer: string; readonly subject: string }): Promise<readonly StoredKey[]>
  /**
   * Deletes the owner's keys that expired before `key` begins, then adds `key`; false, without adding it, if `max`
   * keys remain.
   */
  addKey(key: StoredKey, max: number): Promise<boolean>
  /** Deletes the key, if it exists, and stores the revocation, in one transaction. Deletes expired revocations. */
  endKey(id: string, revocation: Revocation, now: number): Promise<void>
  /** The revocations in force at `now`. */
  revocations(now: number): Promise<readonly Revocation[]>
  /**
   * Two revocations of one name become one, with the later `before` and the later `expires_at`. Deletes expired
   * revocations.
   */
  revoke(revocation: Revocation, now: number): Promise<void>
}

/** Until when rows are kept: RFC 3339, except `now` in milliseconds since the epoch. */
export interface RetentionBounds {
  readonly now: number
  /** Older versions lose their text. */
  readonly versions: string
  /** Versions of an entry without a version string that are kept. */
  readonly max_versions: number
  readonly audit: string
  /** Audit events of an entry that are kept. */
  readonly max_audit: number
  /** Older changes are removed where a later change of the entry says the same or more. */
  readonly changes: string
  /** Entries that were deleted before are removed, with their names. */
  readonly deleted: string
  /** The first day, since the epoch, whose liveness and calls are kept. */
  readonly liveness: number
}

/** Rows that `prune` removed or emptied. */
export type Pruned = Readonly<Record<'versions' | 'audit' | 'changes' | 'deleted' | 'liveness', number>>

/** Removal of what is no longer needed, or must not be kept. */
export interface RetentionStore {
  /** Ends between two statements when the signal aborts; what is removed stays removed. */
  prune(bounds: RetentionBounds, signal?: AbortSignal): Promise<Pruned>
  /**
   * The last revision whose change was removed although nothing later tells of it: who knows the registry only up to
   * an earlier revision must read it anew. 0 if there is none.
   */
  prunedRevision(): Promise<number>
  /** Removes the vectors of texts that are no longer used, by content hash; returns their number. Ends as `prune` does. */
  pruneEmbeddings(isUsed: (hash: string, model: string) => boolean, signal?: AbortSignal): Promise<number>
  /**
   * Removes an entry that was deleted before, and every stored text that names it, from all tables. The log keeps its
   * id and this action.
   */
  purge(
    entry: Pick<StoredEntry, 'id' | 'package_name'>,
    hashes: readonly string[],
    action: AuditAction,
  ): Promise<void>
  /** Removes entries that were deleted before from all tables, with vectors by content hash. The log keeps their ids. */
  erase(entryIds: readonly string[], hashes: readonly string[]): Promise<void>
  /** Writes the database anew, without the space of deleted rows. */
  vacuum(): Promise<void>
}

/** The data of one owner (issuer, subject) in all tables. */
export interface PersonalDataStore {
  /** Some rows of the owner in a table, and how many there are; secrets and hashes of secrets are left out. */
  find(
    owner: NonNullable<Actor>,
    table: PersonalTable,
    first: number,
    limit: number,
  ): Promise<{ readonly rows: readonly object[]; readonly total: number }>
  /** Ids of the entries of the owner, deleted ones included. */
  entryIds(owner: NonNullable<Actor>): Promise<readonly string[]>
  /**
   * Deletes keys, webhooks, credentials, tasks, sessions, repeated calls and usage of the owner, and puts the pseudonym in the
   * place of the owner in entries and in the audit log.
   */
  forget(owner: NonNullable<Actor>, pseudonym: NonNullable<Actor>): Promise<void>
}

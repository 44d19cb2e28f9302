import { z } from 'zod'
import { Capability, Endpoint, Package, State, VerificationLevel } from '../../schemas/entry.ts'
import type { Revocation } from '../../schemas/identity.ts'
import { Scope } from '../../schemas/scope.ts'

/** An entry as the truth holds it: URLs of our own are null or relative, rendered at read. */
export const StoredEntry = z.object({
  id: z.string(),
  package_name: z.string(),
  name: z.string(),
  description: z.string(),
  state: State,
  verification_level: VerificationLevel,
  owner: z.object({ issuer: z.string(), subject: z.string(), namespace: z.string().nullable() }).nullable(),
  /** Written by the gateway itself for an agent that it hosts. */
  hosted: z.boolean(),
  /** Null where the registry renders the card. */
  manifest_url: z.string().nullable(),
  tags: z.array(z.string()),
  category: z.string().nullable(),
  target: z.string().nullable(),
  version: z.string().nullable(),
  capabilities: z.array(Capability),
  endpoints: z.array(Endpoint),
  packages: z.array(Package),
  source_url: z.string().nullable(),
  /** The card as its publisher wrote it, where we have it. */
  card: z.record(z.string(), z.unknown()).nullable(),
  created_at: z.string(),
  updated_at: z.string(),
  deleted: z.boolean(),
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

/** One committed change; `revision` is gapless, starting at 1. */
export interface Change {
  readonly revision: number
  readonly entry_id: string
  readonly kind: 'put' | 'delete'
  readonly at: string
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
}

export interface Writer {
  entry(reference: Reference): Promise<StoredEntry | undefined>
  /** Those of the namespaces given that the owner of some entry has claimed. */
  claimedNamespaces(namespaces: readonly string[]): Promise<readonly string[]>
  /** Inserts or replaces by id. The commit gives it its revision. */
  put(entry: StoredEntry): Promise<void>
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
export interface Notes {
  get(name: string): Promise<string | undefined>
  set(name: string, value: string): Promise<void>
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
  addKey(key: StoredKey): Promise<void>
  /** Deletes the key, if it is there, and notes the revocation, at once or not at all. */
  endKey(id: string, revocation: Revocation): Promise<void>
  /** Those that may still end something at `now`. */
  revocations(now: number): Promise<readonly Revocation[]>
  /** Of two that end the same, the later `before` and `expires_at` hold. Forgets those that are over. */
  revoke(revocation: Revocation, now: number): Promise<void>
}

/** The truth. Every committed change takes the next number of one counter, so a reader of the log misses none. */
export interface Store extends AsyncDisposable {
  readonly read: Reader
  readonly embeddings: Embeddings
  readonly notes: Notes
  readonly identity: IdentityStore
  /** One transaction: all of `work` or none of it. Inside, nothing is awaited but the writer. */
  write<T>(work: (transaction: Writer) => Promise<T>): Promise<{ result: T; revision: number }>
  /** Changes with a revision greater than `after`, in order. */
  changes(after: number, limit: number): Promise<readonly Change[]>
  /** Yields soon after a commit by this process, and within two seconds after one by another. */
  wake(signal: AbortSignal): AsyncIterable<void>
}

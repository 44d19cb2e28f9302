import type { Kysely } from 'kysely'
import type { StoredApproval } from '../../../schemas/approval.ts'
import type { Revocation } from '../../../schemas/identity.ts'
import type { ServerStatus } from '../../../schemas/server.ts'
import type { SignInRow } from '../../../schemas/sign-in.ts'
import type { SuspendedBy } from '../../../schemas/suspension.ts'
import type { TaskState } from '../../../schemas/task.ts'

/** Maximum rows or ids in one statement: its parameters stay below SQLite's limit of 32,766. */
export const maxRowsPerStatement = 500

/** Rows as Kysely sees them: text, integer and bytes in both dialects, JSON as text. */
export interface EntryTable {
  id: string
  package_name: string
  owner_namespace: string | null
  /** [issuer, subject] as JSON. */
  owner: string | null
  proved_namespace: string | null
  /** The UTS #39 skeleton of the name. */
  skeleton: string
  check_at: string | null
  /** [issuer, subject] as JSON. */
  offered_to: string | null
  /** Equal for display names that look alike; null for entries without an owner. */
  display_key: string | null
  /** 1 for a public entry, else 0. */
  listed: number
  suspended_at: string | null
  /** `source`: the source of the agent removed it; null for an entry that is not suspended. */
  suspended_by: SuspendedBy | null
  /** The account that the entry is counted for; null for an entry that is not counted. */
  account: string | null
  /** 1 for a counted entry in STAGE, else 0. */
  staged: number
  /** Counted bytes of the document, without the digits of its revision. */
  bytes: number
  revision: number
  document: string
}

/** The sums of what the entries of an account take up. */
export interface OwnerUsageTable {
  /** A claimed namespace, or [issuer, subject] as JSON. */
  account: string
  entries: number
  stage_entries: number
  bytes: number
  /** Versions published on the day `versions_on` (ISO 8601, UTC). */
  versions: number
  versions_on: string
  /** Limits that an admin set, by quota, as JSON. */
  limits: string
}

export interface ChangeTable {
  revision: number
  entry_id: string
  kind: 'put' | 'delete' | 'liveness'
  at: string
  seen: 'listed' | 'gone' | 'unseen'
}

export interface AuditTable {
  id: number
  entry_id: string
  revision: number | null
  at: string
  action: string
  /** [issuer, subject] as JSON; null for the gateway. */
  actor: string | null
  reason: string | null
  before: string | null
  after: string | null
}

interface LeaseTable {
  name: string
  holder: string
  until: string
}

export interface CounterTable {
  name: string
  value: number
}

interface EmbeddingTable {
  model: string
  content_hash: string
  vector: Uint8Array
}

interface NoteTable {
  name: string
  value: string
}

export interface ApiKeyTable {
  id: string
  sha256: string
  issuer: string
  subject: string
  scopes: string
  namespaces: string
  label: string | null
  created_at: number
  expires_at: number
}

interface RevocationTable {
  kind: Revocation['kind']
  issuer: string
  name: string
  before: number
  expires_at: number
  reason: string | null
}

export interface TaskTable {
  id: string
  /** [issuer, subject] as JSON. */
  owner: string | null
  counted_by: string
  /** Package name. */
  agent: string | null
  context_id: string
  state: TaskState
  /** 1 or 0. */
  unfinished: number
  updated_at: string
  expires_at: string
  holder: string
  alive_until: string | null
  /** Length of the document. */
  characters: number
  document: string
  /** Addresses for push notifications as JSON. */
  push: string | null
}

export interface PlaygroundSessionTable {
  id: string
  /** [issuer, subject] as JSON. */
  owner: string | null
  /** Network address of an anonymous session. */
  counted_by: string | null
  created_at: string
  expires_at: string
  /** Calls made, including those whose step was not stored. */
  begun: number
  steps: number
  /** Length of the documents of its steps. */
  characters: number
}

interface PlaygroundStepTable {
  session: string
  number: number
  characters: number
  document: string
}

interface CredentialTable {
  /** [issuer, subject] as JSON. */
  owner: string
  entry_id: string
  /** Empty for a header. */
  variable: string
  origin: string
  header: string
  sealed: string
  created_at: string
  /** JSON; null for a header that its owner stored. */
  sign_in: string | null
}

export interface LivenessTable {
  entry_id: string
  place: string
  next_at: string | null
  /** Number of the last write of the row. */
  sequence: number
  shown: string
  document: string
}

interface CallDayTable {
  entry_id: string
  /** Days since the epoch, in UTC. */
  day: number
  calls: number
  refused: number
  failed: number
}

interface LivenessDayTable {
  entry_id: string
  /** Days since the epoch, in UTC. */
  day: number
  probes: number
  failures: number
  p50_ms: number | null
  p95_ms: number | null
}

export interface VersionTable {
  entry_id: string
  /** Revision of the commit that published it. */
  revision: number
  version: string | null
  /** Sorts in the order of versions; empty for a version that Semantic Versioning does not define. */
  precedence: string
  published_at: string
  /** Digest of the document in hex, in the format `digest_format`. */
  sha256: string
  digest_format: number
  document: string
}

interface RepeatTable {
  /** [issuer, subject] as JSON. */
  owner: string
  action: string
  key: string
  digest: string
  holder: string
  output: string | null
  expires_at: number
}

export interface WebhookTable {
  id: string
  /** [issuer, subject] as JSON. */
  owner: string
  url: string
  sealed: string
  kinds: string
  /** 1 or 0. */
  mine: number
  created_at: string
  version: number
  position: number
  pending: number | null
  next_at: string | null
  failures: number
  failing_since: string | null
  disabled_at: string | null
  deliveries: string
}

/** A version of an agent under its name in the MCP registry. Times have nine digits of a second. */
export interface ServerTable {
  server_name: string
  version: string
  entry_id: string
  /** Revision of the version in the table of versions; null for a version of a mirror. */
  revision: number | null
  mirror: string | null
  /** 1 or 0, as the other columns with `is_`. */
  is_listed: number
  is_bridged: number
  is_latest: number
  /** Sorts in the order of versions; empty for a version that Semantic Versioning does not define. */
  precedence: string
  status: ServerStatus
  status_message: string | null
  status_changed_at: string
  published_at: string
  updated_at: string
  document: string | null
  meta: string | null
}

interface MirrorTable {
  name: string
  document: string
}

/** An agent of a mirror, by its name at the source. */
interface MirroredTable {
  mirror: string
  key: string
  entry_id: string
  /** The last run that found it. */
  run: number
}

/** Typed queries to the database, or within one of its transactions. */
export type Database = Kysely<Tables>

export interface Tables {
  server: ServerTable
  mirror: MirrorTable
  mirrored: MirroredTable
  repeat: RepeatTable
  version: VersionTable
  entry: EntryTable
  owner_usage: OwnerUsageTable
  change: ChangeTable
  counter: CounterTable
  embedding: EmbeddingTable
  note: NoteTable
  audit: AuditTable
  lease: LeaseTable
  api_key: ApiKeyTable
  revocation: RevocationTable
  task: TaskTable
  playground_session: PlaygroundSessionTable
  playground_step: PlaygroundStepTable
  credential: CredentialTable
  liveness: LivenessTable
  liveness_day: LivenessDayTable
  call_day: CallDayTable
  webhook: WebhookTable
  sign_in: SignInRow
  approval: StoredApproval
}

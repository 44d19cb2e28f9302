import type { RevocationKind } from '../../schemas/identity.ts'

/** Rows as Kysely sees them: TEXT, INTEGER and BLOB in both dialects, JSON as TEXT. */
export interface EntryTable {
  id: string
  package_name: string
  owner_namespace: string | null
  revision: number
  document: string
}

export interface ChangeTable {
  revision: number
  entry_id: string
  kind: 'put' | 'delete'
  at: string
}

export interface CounterTable {
  name: string
  value: number
}

export interface EmbeddingTable {
  model: string
  content_hash: string
  vector: Uint8Array
}

export interface NoteTable {
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

export interface RevocationTable {
  kind: RevocationKind
  issuer: string
  name: string
  before: number
  expires_at: number
  reason: string | null
}

export interface Tables {
  entry: EntryTable
  change: ChangeTable
  counter: CounterTable
  embedding: EmbeddingTable
  note: NoteTable
  api_key: ApiKeyTable
  revocation: RevocationTable
}

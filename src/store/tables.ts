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

export interface Tables {
  entry: EntryTable
  change: ChangeTable
  counter: CounterTable
  embedding: EmbeddingTable
  note: NoteTable
}

/** Rows as Kysely sees them: TEXT and INTEGER in both dialects, JSON as TEXT. */
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

export interface Tables {
  entry: EntryTable
  change: ChangeTable
  counter: CounterTable
}

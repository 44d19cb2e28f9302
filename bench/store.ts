import { postgresFolder, startPostgres } from '../test/support/postgres.ts'
import type { Row } from './support/measure.ts'
import { publishers } from './support/store-nodes.ts'
import { nodes, reads } from './support/store-reads.ts'
import { writes } from './support/store-writes.ts'

/** Writes and reads over both stores. PostgreSQL, if configured, syncs each commit as SQLite does. */
export async function store(): Promise<Row[]> {
  const rows = await writes('SQLite')
  if (!postgresFolder) return rows
  await using postgres = await startPostgres({ fsync: 'on' })
  rows.push(...(await writes('PostgreSQL', await postgres.createDatabase(), await postgres.createDatabase())))
  rows.push(...(await reads(await postgres.createDatabase())))
  rows.push(...(await nodes(await postgres.createDatabase())))
  return [...rows, await publishers(await postgres.createDatabase(), await postgres.createDatabase())]
}

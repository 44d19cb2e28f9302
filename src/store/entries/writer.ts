import type { AuditAction } from '../../../schemas/audit.ts'
import { findMirror, mirrored, putMirror, putMirrored } from '../records/mirrors.ts'
import type { Database } from '../sql/tables.ts'
import type { Finish } from '../sql/transaction.ts'
import type { Writer } from '../store.ts'
import type { StoredEntry } from '../stored-entry.ts'
import { actorKey } from './audit.ts'
import { displayKey } from './display-names.ts'
import { commitPuts, type Put, type RecordedAction, toRow, upsert } from './group-commit/commit.ts'
import { createDecisionReads } from './group-commit/decision-reads.ts'
import { adoptServers, putServers, serversNamed } from './server-rows.ts'

const byGateway: AuditAction = { actor: null, action: 'write' }

/** The writer of one transaction, in either dialect; `commit` assigns the revisions and logs the changes. */
export function createWriter(
  transaction: Database,
  finish: Finish,
  clock: () => number,
): { writer: Writer; commit: () => Promise<number> } {
  const puts = new Map<string, Put>()
  const actions: RecordedAction[] = []
  const { previous, counted: _, ...reads } = createDecisionReads(transaction, { cached: false })

  async function put(entry: StoredEntry, audit: AuditAction = byGateway): Promise<void> {
    const before = puts.get(entry.id)?.before ?? (await previous(entry.id))
    await upsert(transaction, [toRow(entry)]).execute()
    puts.set(entry.id, { before, entry, audit })
  }

  const writer: Writer = {
    ...reads,
    put,
    async record(entryId, audit) {
      actions.push({ entry_id: entryId, audit })
    },
    async recheckNamesakes(name, now, before) {
      await transaction
        .updateTable('entry')
        .set({ check_at: now })
        .where('display_key', '=', displayKey(name))
        .where('proved_namespace', 'is', null)
        .where((row) => row.or([row('check_at', 'is', null), row('check_at', '<', before)]))
        .execute()
    },
    putServers: (servers) => putServers(transaction, servers),
    serversNamed: (names) => serversNamed(transaction, names),
    adoptServers: (mirror, entry, at) => adoptServers(transaction, mirror, entry, at),
    async releaseServers(mirror, entryId) {
      await transaction.deleteFrom('server').where('entry_id', '=', entryId).execute()
      await transaction
        .deleteFrom('mirrored')
        .where((row) => row.and({ mirror, entry_id: entryId }))
        .execute()
    },
    mirror: (name) => findMirror(transaction, name),
    putMirror: (mirror) => putMirror(transaction, mirror),
    mirrored: (mirror, keys) => mirrored(transaction, mirror, keys),
    putMirrored: (mirror, run, items) => putMirrored(transaction, mirror, run, items),
    async lastDone(entryId, action, actor) {
      const row = await transaction
        .selectFrom('audit')
        .select('at')
        .where((row) => row.and({ entry_id: entryId, action, actor: actorKey(actor) }))
        .orderBy('id', 'desc')
        .executeTakeFirst()
      return row?.at
    },
  }
  return {
    writer,
    async commit() {
      const at = new Date(clock()).toISOString()
      const options = { inserted: true }
      return await commitPuts(transaction, finish, [...puts.values()], actions, at, options)
    },
  }
}

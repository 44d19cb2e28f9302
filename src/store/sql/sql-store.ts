import { createDumpRestore, type Snapshot } from '../dump-restore.ts'
import { createGroupCommit } from '../entries/group-commit/group-commit.ts'
import { createUsageStore } from '../entries/usage.ts'
import { createVersionStore } from '../entries/versions.ts'
import { createWriter } from '../entries/writer.ts'
import { createApprovalStore } from '../records/approvals.ts'
import { createCallStore } from '../records/calls.ts'
import { createCredentialStore } from '../records/credentials.ts'
import { createEmbeddings } from '../records/embeddings.ts'
import { createIdempotencyStore } from '../records/idempotency.ts'
import { createIdentityStore } from '../records/identity.ts'
import { createLeases } from '../records/leases.ts'
import { createLivenessStore } from '../records/liveness.ts'
import { createMirrorStore } from '../records/mirrors.ts'
import { createPersonalDataStore } from '../records/personal-data.ts'
import { createRetentionStore } from '../records/retention.ts'
import { createServerStore } from '../records/servers.ts'
import { createSessionStore } from '../records/sessions.ts'
import { createSettings } from '../records/settings.ts'
import { createSignInStore } from '../records/sign-in.ts'
import { createTaskStore } from '../records/tasks.ts'
import { createWebhookStore } from '../records/webhooks.ts'
import type { Store } from '../store.ts'
import type { Database } from './tables.ts'
import type { Realm, Transact } from './transaction.ts'

/** The parts of a store that a dialect provides. */
interface DialectParts {
  readonly reader: Database
  readonly writer: Database
  readonly transact: (realm: Realm) => Transact
  /** Like `transact`; also wakes those who wait for a commit. */
  readonly commit: (realm: Realm) => Transact
  /** Runs reads on one snapshot. */
  readonly snapshot: Snapshot
  /** Writes the database anew, without the space of deleted rows. */
  readonly vacuum: () => Promise<void>
  /** Removes deleted rows from the logs of the database, where it can: at once, whatever the size of the database. */
  readonly forgetDeleted: () => Promise<void>
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

/** The parts of a store that both dialects share. */
export function createSqlStore({
  reader,
  writer,
  transact,
  commit,
  snapshot,
  vacuum,
  forgetDeleted,
  clock,
}: DialectParts): Omit<Store, 'read' | 'wake' | typeof Symbol.asyncDispose> {
  const commitEntries = commit('entries')
  return {
    embeddings: createEmbeddings(reader, writer),
    settings: createSettings(reader, writer),
    versions: createVersionStore(reader),
    servers: createServerStore(reader),
    mirrors: createMirrorStore(reader, transact('entries')),
    idempotency: createIdempotencyStore(transact('idempotency'), clock),
    leases: createLeases(writer),
    identity: createIdentityStore(reader, commit('identity')),
    tasks: createTaskStore(reader, transact('tasks'), clock),
    sessions: createSessionStore(reader, transact('sessions'), clock),
    approvals: createApprovalStore(reader, transact('credentials')),
    credentials: createCredentialStore(reader, transact('credentials')),
    calls: createCallStore(reader, transact('calls')),
    liveness: createLivenessStore(reader, commit('liveness'), clock),
    dumpRestore: createDumpRestore(snapshot, commitEntries),
    signIn: createSignInStore(reader, transact('sign_in')),
    webhooks: createWebhookStore(reader, transact('webhooks')),
    retention: createRetentionStore(reader, transact('entries'), clock, vacuum),
    personalData: createPersonalDataStore(reader, commitEntries, clock, forgetDeleted),
    usage: createUsageStore(reader, transact('entries'), clock),
    write: (work) =>
      commitEntries(async (transaction, finish) => {
        const { writer: port, commit: number } = createWriter(transaction, finish, clock)
        const result = await work(port)
        return { result, revision: await number() }
      }),
    change: createGroupCommit(commitEntries, clock),
    changes: (after, limit, entry_id) =>
      reader
        .selectFrom('change')
        .selectAll()
        .where('revision', '>', after)
        .$if(entry_id !== undefined, (query) =>
          query.where('entry_id', '=', entry_id ?? '').where('seen', '!=', 'unseen'),
        )
        .orderBy('revision')
        .limit(limit)
        .execute(),
  }
}

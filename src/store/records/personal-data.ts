import { type Expression, sql } from 'kysely'
import type { PersonalTable } from '../../../schemas/personal-data.ts'
import type { Party } from '../../../schemas/trust.ts'
import { principalKey } from '../../common/principal-key.ts'
import { toRow } from '../entries/group-commit/commit.ts'
import { parseEntry } from '../entries/group-commit/decision-reads.ts'
import { addUsage, deltasOf, forgetUsage } from '../entries/usage.ts'
import type { PersonalDataStore } from '../record-stores.ts'
import { contains } from '../sql/contains.ts'
import type { Database } from '../sql/tables.ts'
import type { Transact } from '../sql/transaction.ts'
import { removeSessions } from './sessions.ts'

export function createPersonalDataStore(
  reader: Database,
  commit: Transact,
  clock: () => number,
  forgetDeleted: () => Promise<void>,
): PersonalDataStore {
  return {
    async entryIds(owner) {
      const rows = await reader
        .selectFrom('entry')
        .select('id')
        .where('owner', '=', principalKey(owner))
        .execute()
      return rows.map(({ id }) => id)
    },

    async find(owner, table, first, limit) {
      const found = queries[table](reader, principalKey(owner), owner)
      const counting = sql<{ total: number }>`select count(*) as total from ${found} as found`
      const rows = await found.limit(limit).offset(first).execute()
      const [count] = (await counting.execute(reader)).rows
      return { rows, total: Number(count?.total ?? 0) }
    },

    async forget(owner, pseudonym) {
      await commit(async (db) => {
        const key = principalKey(owner)
        const sessions = db.selectFrom('playground_session').select('id').where('owner', '=', key)
        await removeSessions(db, await sessions.execute())
        for (const table of ['task', 'credential', 'webhook', 'repeat', 'sign_in'] as const) {
          await db.deleteFrom(table).where('owner', '=', key).execute()
        }
        await db.deleteFrom('approval').where('scope', '=', key).execute()
        const { issuer, subject } = owner
        await db
          .deleteFrom('api_key')
          .where((row) => row.and({ issuer, subject }))
          .execute()
        await renameInEntries(db, owner, pseudonym, new Date(clock()).toISOString())
        await forgetUsage(db, key, new Date(clock()).toISOString())
        await renameInAudit(db, owner, pseudonym)
      })
      await forgetDeleted()
    },
  }
}

/** A query of which pages are read. */
interface Rows extends Expression<object> {
  limit(count: number): { offset(first: number): { execute(): Promise<object[]> } }
}

type Query = (db: Database, key: string, owner: Party) => Rows

/** The rows of an owner in each table, in a fixed order. */
const queries: Readonly<Record<PersonalTable, Query>> = {
  entries: (db, key) =>
    db.selectFrom('entry').select(['id', 'document']).where('owner', '=', key).orderBy('id'),
  offers: (db, key) =>
    db.selectFrom('entry').select(['id', 'package_name']).where('offered_to', '=', key).orderBy('id'),
  audit: (db, key) => db.selectFrom('audit').selectAll().where('actor', '=', key).orderBy('id'),
  api_keys: (db, _, { issuer, subject }) =>
    db
      .selectFrom('api_key')
      .select(['id', 'label', 'scopes', 'namespaces', 'created_at', 'expires_at'])
      .where((row) => row.and({ issuer, subject }))
      .orderBy('id'),
  tasks: (db, key) =>
    db
      .selectFrom('task')
      .select(['id', 'state', 'updated_at', 'document'])
      .where('owner', '=', key)
      .orderBy('id'),
  sessions: (db, key) =>
    db
      .selectFrom('playground_session')
      .leftJoin('playground_step', 'playground_step.session', 'playground_session.id')
      .select([
        'playground_session.id',
        'playground_session.created_at',
        'playground_step.number',
        'playground_step.document',
      ])
      .where('playground_session.owner', '=', key)
      .orderBy('playground_session.id')
      .orderBy('playground_step.number'),
  credentials: (db, key) =>
    db
      .selectFrom('credential')
      .select(['entry_id', 'origin', 'header', 'variable', 'created_at', 'sign_in'])
      .where('owner', '=', key)
      .orderBy('entry_id')
      .orderBy('variable'),
  approvals: (db, key) =>
    db
      .selectFrom('approval')
      .select(['entry_id', 'document', 'created_at'])
      .where('scope', '=', key)
      .orderBy('entry_id'),
  webhooks: (db, key) =>
    db
      .selectFrom('webhook')
      .select(['id', 'url', 'kinds', 'created_at', 'deliveries'])
      .where('owner', '=', key)
      .orderBy('id'),
  repeated_calls: (db, key) =>
    db
      .selectFrom('repeat')
      .select(['action', 'key', 'output'])
      .where('owner', '=', key)
      .orderBy('action')
      .orderBy('key'),
  sign_ins: (db, key) =>
    db
      .selectFrom('sign_in')
      .select(['kind', 'document', 'expires_at'])
      .where('owner', '=', key)
      .where('kind', 'in', ['Account', 'Grant'])
      .orderBy('id'),
  usage: (db, key) => db.selectFrom('owner_usage').selectAll().where('account', '=', key),
}

/** Entries name their owner, the owner from whom they were taken over, and the receiver of an offer, which ends. */
async function renameInEntries(
  db: Database,
  { issuer, subject }: Party,
  pseudonym: Party,
  at: string,
): Promise<void> {
  const party = { issuer, subject }
  const key = principalKey(party)
  const rows = await db
    .selectFrom('entry')
    .select(['id', 'document', 'account', 'staged', 'bytes'])
    .where((row) =>
      row.or([
        row('owner', '=', key),
        row('offered_to', '=', key),
        contains('document', `"taken_from":${JSON.stringify(party)}`),
      ]),
    )
    .execute()
  const isMeant = (other: Party | null) => other !== null && principalKey(other) === key
  for (const row of rows) {
    const entry = parseEntry(row)
    const renamed = {
      ...entry,
      ...(isMeant(entry.owner) && { owner: { ...pseudonym, namespace: null } }),
      ...(isMeant(entry.taken_from) && { taken_from: pseudonym }),
      ...(isMeant(entry.offer) && { offer: null }),
    }
    const { document, owner, owner_namespace, offered_to, account, staged, bytes } = toRow(renamed)
    await addUsage(db, deltasOf(row, { account, staged, bytes }, false), at)
    await db
      .updateTable('entry')
      .set({ document, owner, owner_namespace, offered_to, account, staged, bytes })
      .where('id', '=', row.id)
      .execute()
  }
}

/** Events name the owner as their actor, and in the fields that they changed. */
async function renameInAudit(db: Database, owner: Party, pseudonym: Party): Promise<void> {
  await db
    .updateTable('audit')
    .set({ actor: principalKey(pseudonym) })
    .where('actor', '=', principalKey(owner))
    .execute()
  const subject = `"subject":${JSON.stringify(owner.subject)}`
  const rows = await db
    .selectFrom('audit')
    .select(['id', 'before', 'after'])
    .where((row) => row.or([contains('before', subject), contains('after', subject)]))
    .execute()
  for (const { id, before, after } of rows) {
    await db
      .updateTable('audit')
      .set({ before: renamed(before, owner, pseudonym), after: renamed(after, owner, pseudonym) })
      .where('id', '=', id)
      .execute()
  }
}

function renamed(json: string | null, owner: Party, pseudonym: Party): string | null {
  if (json === null) return null
  return JSON.stringify(JSON.parse(json), (_, value) =>
    value?.issuer === owner.issuer && value?.subject === owner.subject
      ? { ...value, ...pseudonym, namespace: null }
      : value,
  )
}

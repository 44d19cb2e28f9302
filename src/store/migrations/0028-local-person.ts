// Frozen: never edited after its release.
import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

const before = { issuer: 'local', subject: 'local' }
const now = { issuer: 'urn:dragoman:local', subject: 'person:local' }
const keyBefore = JSON.stringify([before.issuer, before.subject])
const key = JSON.stringify([now.issuer, now.subject])

interface Tables {
  entry: {
    id: string
    owner: string | null
    offered_to: string | null
    account: string | null
    revision: number
    document: string
  }
  counter: { name: string; value: number }
  change: { revision: number; entry_id: string; kind: 'put'; at: string; seen: 'unseen' }
  owner_usage: {
    account: string
    entries: number
    stage_entries: number
    bytes: number
    versions: number
    versions_on: string
  }
  api_key: { issuer: string; subject: string }
  audit: { actor: string | null }
  approval: { scope: string }
  task: { owner: string | null }
  playground_session: { owner: string | null }
  credential: { owner: string }
  webhook: { owner: string }
}

/**
 * What the command line stored on the data of its machine belongs to the person at the machine. Its credentials, and
 * the secrets of its webhooks, are sealed for the owner of before: they are dropped.
 */
export const localPerson: Migration = {
  async up(db: Kysely<unknown>) {
    const tables = db as Kysely<Tables>
    await moveEntries(tables)
    await moveUsage(tables)
    await tables
      .updateTable('api_key')
      .set(now)
      .where('issuer', '=', before.issuer)
      .where('subject', '=', before.subject)
      .execute()
    await tables.updateTable('audit').set({ actor: key }).where('actor', '=', keyBefore).execute()
    await tables.updateTable('approval').set({ scope: key }).where('scope', '=', keyBefore).execute()
    for (const table of ['task', 'playground_session'] as const)
      await tables.updateTable(table).set({ owner: key }).where('owner', '=', keyBefore).execute()
    for (const table of ['credential', 'webhook'] as const)
      await tables.deleteFrom(table).where('owner', '=', keyBefore).execute()
  },
}

/** Each entry is a change, so that every index learns of its new owner. */
async function moveEntries(db: Kysely<Tables>): Promise<void> {
  const rows = await db
    .selectFrom('entry')
    .select(['id', 'owner', 'offered_to', 'account', 'document'])
    .where((row) => row.or([row('owner', '=', keyBefore), row('offered_to', '=', keyBefore)]))
    .execute()
  const moved = (value: string | null) => (value === keyBefore ? key : value)
  const at = new Date().toISOString()
  for (const { id, owner, offered_to, account, document } of rows) {
    const { value: revision } = await db
      .updateTable('counter')
      .set((row) => ({ value: row('value', '+', 1) }))
      .where('name', '=', 'revision')
      .returning('value')
      .executeTakeFirstOrThrow()
    const entry = { owner: moved(owner), offered_to: moved(offered_to), account: moved(account), revision }
    await db
      .updateTable('entry')
      .set({ ...entry, document: renamed(document, revision) })
      .where('id', '=', id)
      .execute()
    await db
      .insertInto('change')
      .values({ revision, entry_id: id, kind: 'put', at, seen: 'unseen' })
      .execute()
  }
}

/** A document that cannot be read stays: whoever reads the entry will hear of it. */
function renamed(document: string, revision: number): string {
  try {
    const entry = JSON.parse(document, (_, value) =>
      value?.issuer === before.issuer && value?.subject === before.subject ? { ...value, ...now } : value,
    )
    return JSON.stringify({ ...entry, revision })
  } catch {
    return document
  }
}

async function moveUsage(db: Kysely<Tables>): Promise<void> {
  const rows = await db
    .selectFrom('owner_usage')
    .selectAll()
    .where('account', 'in', [keyBefore, key])
    .execute()
  const [from, to] = [keyBefore, key].map((account) => rows.find((row) => row.account === account))
  if (!from) return
  if (!to) {
    await db.updateTable('owner_usage').set({ account: key }).where('account', '=', keyBefore).execute()
    return
  }
  const sameDay = from.versions_on === to.versions_on
  const later = from.versions_on > to.versions_on ? from : to
  await db
    .updateTable('owner_usage')
    .set({
      entries: from.entries + to.entries,
      stage_entries: from.stage_entries + to.stage_entries,
      bytes: from.bytes + to.bytes,
      versions: sameDay ? from.versions + to.versions : later.versions,
      versions_on: later.versions_on,
    })
    .where('account', '=', key)
    .execute()
  await db.deleteFrom('owner_usage').where('account', '=', keyBefore).execute()
}

import type { StoredWebhook, WebhookStore } from '../../../schemas/webhook.ts'
import { dueRows } from '../sql/due-rows.ts'
import { changeRows, countRows } from '../sql/row-counts.ts'
import type { Database, WebhookTable } from '../sql/tables.ts'
import type { Transact } from '../sql/transaction.ts'

export function createWebhookStore(reader: Database, transact: Transact): WebhookStore {
  return {
    add: (webhook, max) =>
      transact(async (db) => {
        const own = db.selectFrom('webhook').where('owner', '=', webhook.owner)
        if ((await countRows(own)) >= max) return false
        await db.insertInto('webhook').values(toRow(webhook)).execute()
        return true
      }),
    async get(id) {
      const row = await reader.selectFrom('webhook').selectAll().where('id', '=', id).executeTakeFirst()
      return row && parse(row)
    },
    async list(owner) {
      const rows = await reader
        .selectFrom('webhook')
        .selectAll()
        .where('owner', '=', owner)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .execute()
      return rows.map(parse)
    },
    set: (id, version, settings) =>
      transact(async (db) => {
        const update = db.updateTable('webhook').set({ ...columnsOf(settings), version: version + 1 })
        return (await changeRows(update.where((row) => row.and({ id, version })))) > 0
      }),
    move: ({ id, version, position }, progress) =>
      transact(async (db) => {
        const update = db.updateTable('webhook').set(columnsOf(progress))
        return (await changeRows(update.where((row) => row.and({ id, version, position })))) > 0
      }),
    remove: (id) =>
      transact(async (db) => (await changeRows(db.deleteFrom('webhook').where('id', '=', id))) > 0),
    async due({ now, latest, revision, limit, busy }) {
      const rows = await dueRows(now, latest, limit, (operator, time, count) =>
        reader
          .selectFrom('webhook')
          .selectAll()
          .where('next_at', operator, time)
          .where('position', '!=', revision)
          .$if(busy.length > 0, (query) => query.where('id', 'not in', busy))
          .orderBy('next_at')
          .limit(count)
          .execute(),
      )
      return rows.map(parse)
    },
  }
}

function toRow({ kinds, mine, deliveries, ...rest }: StoredWebhook): WebhookTable {
  return {
    ...rest,
    kinds: JSON.stringify(kinds),
    mine: mine ? 1 : 0,
    deliveries: JSON.stringify(deliveries),
  }
}

function columnsOf({ kinds, mine, deliveries, ...rest }: Partial<StoredWebhook>): Partial<WebhookTable> {
  return {
    ...rest,
    ...(kinds && { kinds: JSON.stringify(kinds) }),
    ...(mine !== undefined && { mine: mine ? 1 : 0 }),
    ...(deliveries && { deliveries: JSON.stringify(deliveries) }),
  }
}

function parse({ kinds, mine, deliveries, ...rest }: WebhookTable): StoredWebhook {
  return { ...rest, kinds: JSON.parse(kinds), mine: mine === 1, deliveries: JSON.parse(deliveries) }
}

import type { StoredWebhook, WebhookStore } from '../../../schemas/webhook.ts'
import { dueRows } from '../sql/due-rows.ts'
import type { Database, WebhookTable } from '../sql/tables.ts'
import type { Transact } from '../sql/transaction.ts'

export function createWebhookStore(reader: Database, transact: Transact): WebhookStore {
  return {
    add: (webhook, max) =>
      transact(async (db) => {
        const { count } = await db
          .selectFrom('webhook')
          .select(({ fn }) => fn.countAll().as('count'))
          .where('owner', '=', webhook.owner)
          .executeTakeFirstOrThrow()
        if (Number(count) >= max) return false
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
        const { numUpdatedRows } = await db
          .updateTable('webhook')
          .set({ ...columnsOf(settings), version: version + 1 })
          .where('id', '=', id)
          .where('version', '=', version)
          .executeTakeFirst()
        return numUpdatedRows > 0n
      }),
    move: ({ id, version, position }, progress) =>
      transact(async (db) => {
        const { numUpdatedRows } = await db
          .updateTable('webhook')
          .set(columnsOf(progress))
          .where('id', '=', id)
          .where('version', '=', version)
          .where('position', '=', position)
          .executeTakeFirst()
        return numUpdatedRows > 0n
      }),
    remove: (id) =>
      transact(async (db) => {
        const { numDeletedRows } = await db.deleteFrom('webhook').where('id', '=', id).executeTakeFirst()
        return numDeletedRows > 0n
      }),
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

import type { Kysely } from 'kysely'
import type { SettingStore } from '../record-stores.ts'
import type { Tables } from '../sql/tables.ts'

export function createSettings(reader: Kysely<Tables>, writer: Kysely<Tables>): SettingStore {
  const valueIn = async (db: Kysely<Tables>, name: string) =>
    (await db.selectFrom('note').select('value').where('name', '=', name).executeTakeFirst())?.value

  return {
    get: (name) => valueIn(reader, name),
    async settle(name, value) {
      await writer
        .insertInto('note')
        .values({ name, value })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
      return (await valueIn(writer, name)) ?? value
    },
    async set(name, value) {
      await writer
        .insertInto('note')
        .values({ name, value })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
        .execute()
    },
  }
}

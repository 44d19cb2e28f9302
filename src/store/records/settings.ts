import type { SettingStore } from '../record-stores.ts'
import type { Database } from '../sql/tables.ts'

export function createSettings(reader: Database, writer: Database): SettingStore {
  const valueIn = async (db: Database, name: string) =>
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

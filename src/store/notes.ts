import type { Kysely } from 'kysely'
import type { Notes } from './store.ts'
import type { Tables } from './tables.ts'

export function createNotes(reader: Kysely<Tables>, writer: Kysely<Tables>): Notes {
  return {
    async get(name) {
      const row = await reader.selectFrom('note').select('value').where('name', '=', name).executeTakeFirst()
      return row?.value
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

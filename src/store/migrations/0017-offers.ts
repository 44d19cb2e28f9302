import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { columnTypes } from './column-types.ts'

/** To whom an entry is offered: [issuer, subject] as JSON. The indexes hold only entries with an offer. */
export const offers: Migration = {
  async up(db: Kysely<unknown>) {
    const { text } = columnTypes(db)
    await db.schema.alterTable('entry').addColumn('offered_to', text).execute()
    const indexed = db as Kysely<{ entry: { offered_to: string | null } }>
    for (const column of ['offered_to', 'owner'] as const) {
      await indexed.schema
        .createIndex(`entry_offer_${column}`)
        .on('entry')
        .columns([column, 'id'])
        .where('offered_to', 'is not', null)
        .execute()
    }
  },
}

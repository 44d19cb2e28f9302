// Frozen: never edited after its release.
import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { columnTypes } from './column-types.ts'

/** What is public of a credential that its owner got by signing in, as JSON. */
export const credentialSignIn: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('credential').addColumn('sign_in', columnTypes(db).text).execute()
  },
}

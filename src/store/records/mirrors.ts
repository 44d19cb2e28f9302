import { type Expression, type RawBuilder, sql } from 'kysely'
import { type MirroredItem, type MirrorStore, StoredMirror } from '../../../schemas/mirror.ts'
import { chunksOf } from '../../common/chunks.ts'
import { type Database, maxRowsPerStatement } from '../sql/tables.ts'
import type { Transact } from '../sql/transaction.ts'

export function createMirrorStore(reader: Database, transact: Transact): MirrorStore {
  return {
    async list() {
      const rows = await reader.selectFrom('mirror').selectAll().orderBy('name').execute()
      return rows.map(({ document }) => parse(document))
    },
    get: (name) => findMirror(reader, name),
    add: (mirror) =>
      transact(async (db) => {
        const added = await db
          .insertInto('mirror')
          .values({ name: mirror.name, document: JSON.stringify(mirror) })
          .onConflict((conflict) => conflict.doNothing())
          .returning('name')
          .executeTakeFirst()
        return added !== undefined
      }),
    put: (mirror) => transact((db) => putMirror(db, mirror)),
    remove: (name) =>
      transact(async (db) => {
        await db.deleteFrom('mirrored').where('mirror', '=', name).execute()
        await db.deleteFrom('server').where('mirror', '=', name).execute()
        await db.deleteFrom('mirror').where('name', '=', name).execute()
      }),
    async count(name, run) {
      const rows = await reader
        .selectFrom('mirrored')
        .innerJoin('entry', 'entry.id', 'mirrored.entry_id')
        .select((row) => [
          row.fn.countAll().as('listed'),
          row.fn.sum(row.case().when('mirrored.run', '<', run).then(1).else(0).end()).as('missing'),
        ])
        .where('mirrored.mirror', '=', name)
        .where('entry.listed', '=', 1)
        .executeTakeFirst()
      return { listed: Number(rows?.listed ?? 0), missing: Number(rows?.missing ?? 0) }
    },
    async size(name) {
      const agents = await reader
        .selectFrom('mirrored')
        .innerJoin('entry', 'entry.id', 'mirrored.entry_id')
        .select((row) => [row.fn.countAll().as('rows'), sum(row.ref('entry.document')).as('bytes')])
        .where('mirrored.mirror', '=', name)
        .executeTakeFirst()
      const versions = await reader
        .selectFrom('server')
        .select((row) => [row.fn.countAll().as('rows'), sum(row.ref('server.document')).as('bytes')])
        .where('mirror', '=', name)
        .executeTakeFirst()
      return {
        rows: Number(agents?.rows ?? 0) + Number(versions?.rows ?? 0),
        bytes: Number(agents?.bytes ?? 0) + Number(versions?.bytes ?? 0),
      }
    },
    async items(name, { run, after, limit }) {
      let select = reader.selectFrom('mirrored').select(['key', 'entry_id']).where('mirror', '=', name)
      if (run !== undefined) select = select.where('run', '<', run)
      if (after !== undefined) select = select.where('key', '>', after)
      return await select.orderBy('key').limit(limit).execute()
    },
  }
}

/** The sum of the lengths of texts. */
function sum(text: Expression<string | null>): RawBuilder<number | string | null> {
  return sql`sum(length(${text}))`
}

function parse(document: string): StoredMirror {
  return StoredMirror.parse(JSON.parse(document))
}

export async function findMirror(db: Database, name: string): Promise<StoredMirror | undefined> {
  const row = await db.selectFrom('mirror').selectAll().where('name', '=', name).executeTakeFirst()
  return row && parse(row.document)
}

/** Replaces a mirror that exists: one that was removed meanwhile stays so. */
export async function putMirror(db: Database, mirror: StoredMirror): Promise<void> {
  await db
    .updateTable('mirror')
    .set({ document: JSON.stringify(mirror) })
    .where('name', '=', mirror.name)
    .execute()
}

/** The entries of a mirror, by their keys at the source. */
export async function mirrored(
  db: Database,
  mirror: string,
  keys: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (const chunk of chunksOf(keys, maxRowsPerStatement)) {
    const rows = await db
      .selectFrom('mirrored')
      .select(['key', 'entry_id'])
      .where('mirror', '=', mirror)
      .where('key', 'in', chunk)
      .execute()
    for (const { key, entry_id } of rows) found.set(key, entry_id)
  }
  return found
}

/** Notes that a run has found agents. */
export async function putMirrored(
  db: Database,
  mirror: string,
  run: number,
  items: readonly MirroredItem[],
): Promise<void> {
  for (const chunk of chunksOf(items, maxRowsPerStatement)) {
    await db
      .insertInto('mirrored')
      .values(chunk.map(({ key, entry_id }) => ({ mirror, key, entry_id, run })))
      .onConflict((conflict) =>
        conflict
          .columns(['mirror', 'key'])
          .doUpdateSet((row) => ({ entry_id: row.ref('excluded.entry_id'), run: row.ref('excluded.run') })),
      )
      .execute()
  }
}

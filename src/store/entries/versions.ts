import type { Kysely } from 'kysely'
import type { Tables } from '../sql/tables.ts'
import type { VersionStore } from '../store.ts'
import { Content } from './version-content.ts'

export function createVersionStore(db: Kysely<Tables>): VersionStore {
  const those = (entryId: string, after: number) =>
    db.selectFrom('version').where('entry_id', '=', entryId).where('revision', '>', after)

  return {
    list: (entryId, after, limit, beyond) => {
      const all = those(entryId, after).select(summary)
      const further = beyond
        ? all.where((row) =>
            row.or([
              row('precedence', '<', beyond.precedence),
              row.and([row('precedence', '=', beyond.precedence), row('revision', '<', beyond.revision)]),
            ]),
          )
        : all
      return further.orderBy('precedence', 'desc').orderBy('revision', 'desc').limit(limit).execute()
    },
    async extent(entryId, after) {
      const { total, newest } = await those(entryId, after)
        .select(({ fn }) => [fn.countAll().as('total'), fn.max('revision').as('newest')])
        .executeTakeFirstOrThrow()
      return { total: Number(total), newest: Number(newest ?? 0) }
    },
    async find(entryId, after, wanted) {
      const row = await ('revision' in wanted
        ? those(entryId, after).where('revision', '=', wanted.revision)
        : those(entryId, after).where('version', '=', wanted.version)
      )
        .selectAll()
        .orderBy('revision', 'desc')
        .executeTakeFirst()
      if (!row) return undefined
      const { document, entry_id: _, digest_format: __, ...version } = row
      return { ...version, content: Content.parse(JSON.parse(document)) }
    },
  }
}

const summary = ['revision', 'version', 'precedence', 'published_at', 'sha256'] as const

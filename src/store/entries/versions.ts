import type { Database } from '../sql/tables.ts'
import type { VersionStore } from '../store.ts'
import { Content } from './version-content.ts'

export function createVersionStore(db: Database): VersionStore {
  const versionsOf = (entryId: string, after: number) =>
    db.selectFrom('version').where('entry_id', '=', entryId).where('revision', '>', after)

  return {
    list: (entryId, after, limit, position) => {
      const all = versionsOf(entryId, after).select(summary)
      const further = position
        ? all.where((row) =>
            row(
              row.refTuple('precedence', 'revision'),
              '<',
              row.tuple(position.precedence, position.revision),
            ),
          )
        : all
      return further.orderBy('precedence', 'desc').orderBy('revision', 'desc').limit(limit).execute()
    },
    async extent(entryId, after) {
      const { total, newest } = await versionsOf(entryId, after)
        .select(({ fn }) => [fn.countAll().as('total'), fn.max('revision').as('newest')])
        .executeTakeFirstOrThrow()
      return { total: Number(total), newest: Number(newest ?? 0) }
    },
    async find(entryId, after, reference) {
      const all = versionsOf(entryId, after)
      const fitting = () => {
        if ('revision' in reference) return all.where('revision', '=', reference.revision)
        if ('before' in reference) return all.where('revision', '<', reference.before)
        return all.where('version', '=', reference.version)
      }
      const row = await fitting().selectAll().orderBy('revision', 'desc').executeTakeFirst()
      if (!row || row.document === '') return undefined
      const { document, entry_id: _, digest_format: __, ...version } = row
      return { ...version, content: Content.parse(JSON.parse(document)) }
    },
  }
}

const summary = ['revision', 'version', 'precedence', 'published_at', 'sha256'] as const

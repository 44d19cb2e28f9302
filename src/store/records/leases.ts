import { dayMilliseconds } from '../../common/days.ts'
import type { Leases } from '../record-stores.ts'
import type { Database } from '../sql/tables.ts'

/** A lease longer than this was taken under a clock that has since been set back. */
const maxDuration_ms = dayMilliseconds

export function createLeases(writer: Database): Leases {
  return {
    async take(name, holder, now, until) {
      const taken = await writer
        .insertInto('lease')
        .values({ name, holder, until: time(until) })
        .onConflict((conflict) =>
          conflict
            .column('name')
            .doUpdateSet({ holder, until: time(until) })
            .where((row) =>
              row.or([
                row('lease.holder', '=', holder),
                row('lease.until', '<=', time(now)),
                row('lease.until', '>', time(now + maxDuration_ms)),
              ]),
            ),
        )
        .returning('holder')
        .executeTakeFirst()
      return taken !== undefined
    },
    async release(name, holder) {
      await writer.deleteFrom('lease').where('name', '=', name).where('holder', '=', holder).execute()
    },
  }
}

function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

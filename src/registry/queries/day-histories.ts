import type { CallHistory } from '../../../schemas/calls.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { LivenessHistory } from '../../../schemas/liveness.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { dateOfDay, dayOf } from '../../common/days.ts'
import type { Store } from '../../store/store.ts'
import { type CallCounter, sumOf } from '../call-counter.ts'
import { mayRead } from '../entry/permissions.ts'
import type { SearchService } from './search-service.ts'

interface DayHistoriesOptions {
  readonly store: Pick<Store, 'calls' | 'liveness'>
  readonly queries: Pick<SearchService, 'stored'>
  readonly calls: Pick<CallCounter, 'flush'>
  readonly clock: () => number
}

/** What is known of an agent for each of the last days, in UTC, today the last. */
export function createDayHistories({ store, queries, calls, clock }: DayHistoriesOptions) {
  /** The first day, since the epoch, and the span as dates. */
  function lastDays(days: number) {
    const today = dayOf(clock())
    const from = today - days + 1
    return { from, span: { from: dateOfDay(from), to: dateOfDay(today) } }
  }

  return {
    async livenessHistory(agent: string, days: number, caller: Principal | null): Promise<LivenessHistory> {
      const { id, package_name } = await queries.stored(agent, caller)
      const { from, span } = lastDays(days)
      return { package_name, ...span, days: [...(await store.liveness.days(id, from))] }
    },
    async callHistory(agent: string, days: number, caller: Principal): Promise<CallHistory> {
      const entry = await queries.stored(agent, caller)
      const { id, package_name } = entry
      if (!mayRead(caller, entry))
        throw new Failure('forbidden', `Only its owner may read how often ${package_name} was called.`)
      await calls.flush()
      const { from, span } = lastDays(days)
      const found = await store.calls.days(id, from)
      return { package_name, ...span, total: sumOf(found), days: [...found] }
    },
  }
}

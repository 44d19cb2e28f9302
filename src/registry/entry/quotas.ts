import { Failure } from '../../../schemas/failure.ts'
import {
  type QuotaName,
  type QuotaNumbers,
  type QuotaState,
  quotaNames,
  quotas,
} from '../../../schemas/quota.ts'
import type { Principal } from '../../../schemas/scope.ts'
import type { AccountUsage, Decision, UsageChange } from '../../store/store.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import { isAdmin, owns } from './permissions.ts'

/** The limits of every account for which an admin has set no others; null: nobody has a limit. */
export type DefaultLimits = QuotaNumbers | null

/** The check of a caller's change of an entry against the quotas; admins have none. */
export function admission(
  limits: DefaultLimits,
  caller: Principal,
  entry: StoredEntry,
): Decision['admit'] | undefined {
  if (isAdmin(caller)) return undefined
  return (change) => {
    const quota = quotaNames.find((name) => isExceeded(name, limits, change))
    if (quota === undefined) return
    // A caller may change agents of another owner under a claimed namespace, and does not see that owner's numbers.
    const isOwn = owns(caller, entry) || caller.namespaces.includes(change.account)
    throw isOwn ? exceeded(quota, limits, change) : exceededByOther(quota)
  }
}

/** A change that adds nothing to a quota is allowed above its limit too, and an agent can always be unpublished. */
function isExceeded(
  quota: QuotaName,
  defaults: DefaultLimits,
  { used, after, limits }: UsageChange,
): boolean {
  if (quota === 'stage_entries' && after.entries <= used.entries) return false
  const limit = limits[quota] ?? defaults?.[quota] ?? Number.POSITIVE_INFINITY
  return after[quota] > limit && after[quota] > used[quota]
}

function exceeded(quota: QuotaName, defaults: DefaultLimits, change: UsageChange): Failure {
  const state = stateOf(quota, defaults, change)
  const { used, limit, left } = state
  const needed = change.after[quota] - used
  return new Failure(
    'quota_exceeded',
    `The quota ${quota} is ${limit}: ${used} are used, ${left} are left, and this needs ${needed}.`,
    {
      hint: `${remedyOf(quota, limit)} get_usage shows all your quotas.`,
      quota: { quota, used, limit, left },
    },
  )
}

function remedyOf(quota: QuotaName, limit: number | null): string {
  if (limit === 0) return 'The operator of this registry allows none.'
  const own = quota === 'versions_per_day' ? 'It begins again at 00:00 UTC: wait' : 'Delete agents'
  return `${own}, or ask the operator of this registry for more.`
}

function exceededByOther(quota: QuotaName): Failure {
  return new Failure('quota_exceeded', `The owner of the agent has no room left in the quota ${quota}.`, {
    hint: 'The owner can delete agents, or ask the operator of this registry for more.',
  })
}

/** The state of one quota of an account. */
export function stateOf(
  quota: QuotaName,
  defaults: DefaultLimits,
  { used, limits }: AccountUsage,
): QuotaState {
  return quotaState(quota, quotas[quota].meaning, used[quota], limits[quota] ?? defaults?.[quota] ?? null)
}

export function quotaState(quota: string, meaning: string, used: number, limit: number | null): QuotaState {
  return { quota, meaning, used, limit, left: limit === null ? null : Math.max(0, limit - used) }
}

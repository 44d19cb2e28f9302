import { Failure } from '../../../schemas/failure.ts'
import { localIssuer } from '../../../schemas/identity.ts'
import {
  type Account,
  type QuotaInput,
  type QuotaName,
  type QuotaPage,
  type QuotaRange,
  type QuotaState,
  quotaNames,
  type RankedAccount,
  type Usage,
  type UsageInput,
} from '../../../schemas/quota.ts'
import type { Principal } from '../../../schemas/scope.ts'
import type { Party } from '../../../schemas/trust.ts'
import { principalKey, principalOf } from '../../common/principal-key.ts'
import type { AccountUsage, RankedUsage, UsageStore } from '../../store/store.ts'
import { decodePosition, encodePosition, takePage } from '../queries/cursor.ts'
import { isAdmin } from './permissions.ts'
import { type DefaultLimits, stateOf } from './quotas.ts'

type Selected = { readonly owner: Party } | { readonly namespace: string }

interface UsageServiceOptions {
  readonly store: UsageStore
  readonly limits: DefaultLimits
  /** The quotas of an owner that other parts of the gateway count. */
  readonly others: (owner: Party) => Promise<readonly QuotaState[]>
  /** Called with each limit that an admin sets. */
  readonly onSet: (set: {
    readonly by: Party
    readonly account: string
    readonly quota: QuotaName
    readonly limit: number | null
  }) => void
}

/** What owners and namespaces use, and the limits that admins set for them. */
export function createUsageService({ store, limits, others, onSet }: UsageServiceOptions) {
  async function usageOf(accounts: readonly Selected[], hasLimits: boolean): Promise<Usage> {
    const found = await store.get(accounts.map(keyOf))
    const shown = accounts.map(async (selected): Promise<Account> => {
      const usage = found.get(keyOf(selected))
      const quotas = usage ? quotaNames.map((name) => stateFor(name, usage, hasLimits)) : []
      if ('namespace' in selected) return { owner: null, namespace: selected.namespace, quotas }
      const { owner } = selected
      return { owner, namespace: null, quotas: [...quotas, ...(await others(owner))] }
    })
    return { accounts: await Promise.all(shown) }
  }

  function stateFor(name: QuotaName, usage: AccountUsage, hasLimits: boolean): QuotaState {
    const state = stateOf(name, limits, usage)
    return hasLimits ? state : { ...state, limit: null, left: null }
  }

  return {
    async usage(request: UsageInput, caller: Principal): Promise<Usage> {
      const { issuer, subject, namespaces } = caller
      if (Object.values(request).every((value) => value === undefined)) {
        const own = [{ owner: { issuer, subject } }, ...namespaces.map((namespace) => ({ namespace }))]
        return await usageOf(own, !isAdmin(caller))
      }
      if (!isAdmin(caller)) {
        throw new Failure('forbidden', 'Only an admin may read what others use.', { scope: 'admin' })
      }
      return await usageOf([selectedBy(request)], true)
    },
    async rank({ limit, cursor }: QuotaRange): Promise<QuotaPage> {
      const found = await store.rank(limits, limit + 1, cursor === undefined ? undefined : rankIn(cursor))
      const { page, last } = takePage(found, limit)
      const next = last && encodePosition({ key: last.share, id: last.account }, ranking)
      return { accounts: page.map((usage) => rankedAccount(usage, limits)), next_cursor: next ?? null }
    },
    async setQuota({ quota, limit, ...request }: QuotaInput, { issuer, subject }: Principal): Promise<Usage> {
      const selected = selectedBy(request)
      const account = keyOf(selected)
      await store.setLimit(account, quota, limit)
      onSet({ by: { issuer, subject }, account, quota, limit })
      return await usageOf([selected], true)
    },
  }
}

export type UsageService = ReturnType<typeof createUsageService>

/** Throws Failure `invalid_request` unless the input names one account. */
function selectedBy({ subject, issuer, namespace }: UsageInput): Selected {
  if (subject !== undefined && namespace === undefined) {
    return { owner: { issuer: issuer ?? localIssuer, subject } }
  }
  if (namespace !== undefined && subject === undefined && issuer === undefined) return { namespace }
  throw new Failure(
    'invalid_request',
    'Give a subject, with its issuer if it is another one, or a namespace.',
  )
}

const ranking = ['quotas']

/** Throws Failure `invalid_request` for a cursor of another list. */
function rankIn(cursor: string): { readonly share: number; readonly account: string } {
  const { key, id } = decodePosition(cursor, ranking)
  return { share: Number(key), account: id }
}

function rankedAccount({ account, share, ...usage }: RankedUsage, defaults: DefaultLimits): RankedAccount {
  const states = quotaNames.map((name) => stateOf(name, defaults, usage))
  const [fullest] = states
    .filter(({ limit }) => limit !== null)
    .toSorted((left, right) => shareOf(right) - shareOf(left))
  const owner = account.startsWith('[') ? principalOf(account) : null
  return {
    owner,
    namespace: owner ? null : account,
    quotas: states,
    quota: fullest?.quota ?? null,
    share: fullest ? share : null,
  }
}

/** A limit of 0 counts as 1, as in the store. */
function shareOf({ used, limit }: QuotaState): number {
  return used / Math.max(1, limit ?? 1)
}

function keyOf(selected: Selected): string {
  return 'namespace' in selected ? selected.namespace : principalKey(selected.owner)
}

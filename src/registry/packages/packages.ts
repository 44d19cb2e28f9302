import type { ApprovalInput, ApprovalList, ApprovalRange, ApprovalReport } from '../../../schemas/approval.ts'
import type { EntryDetail } from '../../../schemas/card.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { monotonic } from '../../common/clock.ts'
import { type Eventual, withValue } from '../../common/eventual.ts'
import { principalKey } from '../../common/principal-key.ts'
import type { Store } from '../../store/store.ts'
import { takePage } from '../queries/cursor.ts'
import { type ActiveApproval, Approvals, operatorScope, shownApproval } from './approvals.ts'
import { Approving, type ApprovingOptions, type Progress } from './approving.ts'
import { homeOf, Launches, type LaunchesOptions, type PackageLaunch } from './launches.ts'
import { approvalRequired, PersonApprovals, requiredNames, type StartCall } from './person-approvals.ts'

/** Time for which searches know the approvals that another process changes, in milliseconds. */
const approvedFor_ms = 5_000

interface PackagesOptions
  extends Omit<LaunchesOptions, 'approvals' | 'store' | 'runner' | 'variablesFor'>,
    Omit<ApprovingOptions, 'approvals' | 'launches' | 'noteRun'> {
  readonly store: Pick<Store, 'approvals' | 'write' | 'read'>
  readonly get: (agent: string, caller: Principal | null) => Promise<EntryDetail>
  /** Milliseconds for which a call waits for the answer that another one asks for; 30,000 when absent. */
  readonly question_wait_ms?: number | undefined
}

/** Packages that may run here: their approvals, and whether one may start for a caller. */
export interface Packages {
  approve(
    input: ApprovalInput,
    caller: Principal,
    signal: AbortSignal,
    progress: Progress,
  ): Promise<ApprovalReport>
  /** Those of the operator; the first page begins with the caller's own. */
  list(range: ApprovalRange, caller: Principal): Promise<ApprovalList>
  /** Ends the processes of a package too, for the caller themself as well. Throws Failure `not_found`. */
  revoke(agent: string, caller: Principal): Promise<void>
  /** Names of the agents whose packages the operator has approved as they are now, read in the last seconds. */
  approved(): Promise<ReadonlySet<string>>
  /** Ends the processes that run for a principal key alone, and removes what they have stored. */
  forgetPerson(owner: string): Promise<void>
  /**
   * How the package of an entry starts for a caller, who is asked if a person's own host can ask. What the person has
   * approved is installed even if the call ends before. Throws Failure `approval_required`.
   */
  permit(entry: EntryDetail, caller: Principal | null, call: StartCall): Eventual<PackageLaunch>
}

export function createPackages(options: PackagesOptions): Packages {
  const { store, runner, secrets, get, endProcesses, clock } = options
  const approvals = new Approvals(store, clock)
  const launches = new Launches({
    ...options,
    approvals,
    variablesFor: (...of) => secrets.variablesFor(...of),
  })
  const steadyClock = monotonic(clock)
  const approving = new Approving({ ...options, approvals, launches })

  /** The approval that serves a caller: their own, or that of the operator. */
  function approvalFor(entry: EntryDetail, caller: Principal | null): Eventual<ActiveApproval | undefined> {
    const found = isPerson(caller) ? approvals.find(principalKey(caller), entry.id) : undefined
    return withValue(found, (own) => {
      if (own && approvals.difference(own, entry) === null) return own
      return withValue(approvals.find(operatorScope, entry.id), (shared) => shared ?? own)
    })
  }

  /** How the package starts, or why it may not. */
  function launchFor(entry: EntryDetail, caller: Principal | null): Eventual<PackageLaunch | string> {
    return withValue(approvalFor(entry, caller), (found) => {
      const difference = found && approvals.difference(found, entry)
      if (found && difference === null) return launches.of(entry, found, caller)
      return difference ?? 'Nobody has approved it.'
    })
  }

  async function readApproved(): Promise<ReadonlySet<string>> {
    const all = await approvals.list(operatorScope)
    const names = await Promise.all(
      all.map(async (approval) => {
        const entry = await get(approval.entry_id, null).catch(() => undefined)
        return entry && approvals.difference(approval, entry) === null ? entry.package_name : []
      }),
    )
    return new Set(names.flat())
  }

  let latest: { readonly until: number; readonly names: Promise<ReadonlySet<string>> } | undefined

  function approvedNow(): Promise<ReadonlySet<string>> {
    const now = steadyClock()
    if (latest && latest.until > now) return latest.names
    // A search goes on without them.
    const names = readApproved().catch(() => new Set<string>())
    latest = { until: now + approvedFor_ms, names }
    return names
  }

  const personApprovals = new PersonApprovals({ ...options, approving, launches, launchFor })

  return {
    async approve(input, caller, signal, progress) {
      const entry = await get(input.agent, caller)
      const planned = await approving.plan(entry, input, signal)
      if (input.dry_run) return await approving.report(planned, null)
      const approval = await approving.commit(planned, { scope: operatorScope, caller, signal, progress })
      latest = undefined
      const report = await approving.report(planned, approval.lock)
      if (entry.state !== 'ACTIVE') return { ...report, problem: 'It is not ACTIVE, so it is not called.' }
      progress('starting it once, to read its tools')
      return { ...report, ...(await approving.firstStart(entry, approval, caller, signal)) }
    },
    async list({ limit, cursor }, caller) {
      const found = await approvals.list(operatorScope, { limit: limit + 1, after: cursor })
      const { page, last } = takePage(found, limit)
      const all = cursor === undefined ? [...(await approvals.list(principalKey(caller))), ...page] : page
      const entries = await Promise.all(all.map(({ entry_id }) => get(entry_id, null).catch(() => undefined)))
      const shown = all.map((approval, index) => {
        const entry = entries[index]
        const difference = entry ? approvals.difference(approval, entry) : 'The agent is not listed any more.'
        return shownApproval(approval, entry?.package_name ?? approval.entry_id, difference)
      })
      return { approvals: shown, next_cursor: last?.entry_id ?? null }
    },
    async revoke(agent, caller) {
      const entry = await get(agent, caller).catch(() => undefined)
      const id = entry?.id ?? agent
      let isApproved = false
      for (const scope of [operatorScope, principalKey(caller)]) {
        const approval = await approvals.find(scope, id)
        if (!approval || !(await approvals.remove(scope, id))) continue
        isApproved = true
        latest = undefined
        endProcesses(approval.id, true)
        if (scope === operatorScope) await secrets.removeAll(id, scope)
        await launches.record(id, caller, 'revoke_approval', approval.resolved.source.identifier)
        await runner.forgetHome(approval.id)
      }
      if (isApproved) return
      throw new Failure('not_found', `${agent} has no approval.`, { hint: 'list_approvals lists them.' })
    },
    approved: approvedNow,
    async forgetPerson(owner) {
      const [own, shared] = await Promise.all([approvals.list(owner), approvals.list(operatorScope)])
      for (const { id } of own) endProcesses(id, true)
      const homes = [...own.map(({ id }) => id), ...shared.map((approval) => homeOf(approval, owner))]
      await Promise.all(homes.map((home) => runner.forgetHome(home)))
    },
    permit(entry, caller, call) {
      return withValue(launchFor(entry, caller), (launch) => {
        if (typeof launch !== 'string') return launch
        const { ask } = call
        if (ask && isPerson(caller)) return personApprovals.start(entry, caller, ask, call)
        launches.refused(entry, caller, launch)
        throw approvalRequired(entry, launch, requiredNames(entry))
      })
    },
  }
}

/** True for a caller behind their own host, which can ask them. */
function isPerson(caller: Principal | null): caller is Principal {
  return caller?.own_host === true
}

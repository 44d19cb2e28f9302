import {
  ApprovalInput,
  type ApprovalPage,
  type ApprovalRange,
  type ApprovalReport,
} from '../../../schemas/approval.ts'
import type { EntryDetail } from '../../../schemas/card.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { JsonObject } from '../../../schemas/json.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { quotedName } from '../../../schemas/text.ts'
import { assignments, asWord } from '../../common/ascii.ts'
import { type Eventual, withValue } from '../../common/eventual.ts'
import { principalKey } from '../../common/principal-key.ts'
import { type AcquireKeyed, createKeyedSemaphore } from '../../common/semaphore.ts'
import type { Store } from '../../store/store.ts'
import { takePage } from '../queries/cursor.ts'
import {
  type ActiveApproval,
  Approvals,
  operatorScope,
  prepare,
  shownApproval,
  valueKey,
} from './approvals.ts'
import { Approving, type ApprovingOptions, type Plan, type Progress } from './approving.ts'
import { homeOf, Launches, type LaunchesOptions, type PackageLaunch } from './launches.ts'

interface PackagesOptions
  extends Omit<LaunchesOptions, 'approvals' | 'store' | 'runner' | 'variablesFor'>,
    Omit<ApprovingOptions, 'approvals' | 'launches' | 'noteRun'> {
  readonly store: Pick<Store, 'approvals' | 'write' | 'read'>
  readonly get: (agent: string, caller: Principal | null) => Promise<EntryDetail>
  /** Milliseconds for which a call waits for the answer that another one asks for; 30,000 when absent. */
  readonly question_wait_ms?: number | undefined
}

/** Asks the caller a question of MCP. */
type Ask = (question: { readonly method: string; readonly params: JsonObject }) => Promise<JsonObject>

/** The call for which a package starts. */
interface StartCall {
  readonly signal: AbortSignal
  /** Absent where nobody can be asked. */
  readonly ask?: Ask | undefined
  readonly progress: Progress
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
  list(range: ApprovalRange, caller: Principal): Promise<ApprovalPage>
  /** Ends the processes of a package too, for the caller themself as well. Throws Failure `not_found`. */
  revoke(agent: string, caller: Principal): Promise<void>
  /** Ends the processes that run for a principal key alone, and removes what they have stored. */
  forgetPerson(owner: string): Promise<void>
  /**
   * How the package of an entry starts for a caller, who is asked if a person's own host can ask. What the person has
   * approved is installed even if the call ends before. Throws Failure `approval_required`.
   */
  permit(entry: EntryDetail, caller: Principal | null, call: StartCall): Eventual<PackageLaunch>
}

export function createPackages(options: PackagesOptions): Packages {
  const { store, runner, secrets, get, endProcesses, clock, question_wait_ms = questionWait } = options
  const approvals = new Approvals(store, clock)
  const launches = new Launches({
    ...options,
    approvals,
    variablesFor: (...of) => secrets.variablesFor(...of),
  })
  const approving = new Approving({ ...options, approvals, launches })
  /** Entries whose start the person of a host has declined: each host has a principal of its own. */
  const declined = new WeakMap<Principal, Set<string>>()
  /** One question at a time for each host and package: other calls wait for its answer. */
  const questions = new WeakMap<Principal, AcquireKeyed>()
  /** One installation at a time for each person and package. */
  const install = createKeyedSemaphore(1)

  /** The approval that serves a caller: their own, or that of the operator. */
  function approvalFor(entry: EntryDetail, caller: Principal | null): Eventual<ActiveApproval | undefined> {
    const found = isPerson(caller) ? approvals.find(principalKey(caller), entry.id) : undefined
    return withValue(found, (own) => {
      if (own && approvals.difference(own, entry) === null) return own
      return withValue(approvals.find(operatorScope, entry.id), (shared) => shared ?? own)
    })
  }

  /** True for a caller behind their own host, which can ask them. */
  function isPerson(caller: Principal | null): caller is Principal {
    return caller?.own_host === true
  }

  /** How the package starts, or why it may not. */
  function launchFor(entry: EntryDetail, caller: Principal | null): Eventual<PackageLaunch | string> {
    return withValue(approvalFor(entry, caller), (found) => {
      const difference = found && approvals.difference(found, entry)
      if (found && difference === null) return launches.of(entry, found, caller)
      return difference ?? 'Nobody has approved it.'
    })
  }

  /** What the person of this host approves. Throws Failure `approval_required` if they do not. */
  async function askPerson(entry: EntryDetail, caller: Principal, ask: Ask): Promise<Plan> {
    const planned = await approving.plan(entry, unasked(entry), AbortSignal.timeout(planTime_ms))
    const { tools: _, ...report } = await approving.report(planned, null, principalKey(caller))
    if (report.missing.length > 0) throw unfilled(entry, report)
    const answer = await ask({ method: 'elicitation/create', params: question(report) })
    if (answer.action !== 'accept') {
      const others = declined.get(caller) ?? []
      declined.set(caller, new Set([...others, entry.id]))
      launches.refused(entry, caller, 'The person declined.')
      throw required(entry, userDeclined, [])
    }
    const content = answer.content as { readonly approve?: unknown; readonly hosts?: unknown } | undefined
    if (content?.approve !== true)
      throw required(entry, `The user sent the form without ticking "${tick}". Another call asks again.`, [])
    const named = String(content.hosts ?? '').split(/[\s,]+/)
    const { success, data: hosts } = ApprovalInput.shape.hosts.safeParse(named.filter(Boolean))
    if (success) return { ...planned, input: { ...planned.input, hosts } }
    throw required(entry, 'The user named a host that is none. Another call asks again.', [])
  }

  /** Waits while another call of the host asks about this package; not for ever, since a form may be left unanswered. */
  async function turnToAsk(
    entry: EntryDetail,
    caller: Principal,
    { signal, progress }: StartCall,
  ): Promise<Disposable | undefined> {
    const take = questions.get(caller) ?? createKeyedSemaphore(1)
    questions.set(caller, take)
    const late = AbortSignal.timeout(question_wait_ms)
    try {
      const turn = take(entry.id, AbortSignal.any([signal, late]))
      if (turn instanceof Promise) progress('Waits for the answer to the question about the package')
      return await turn
    } catch (thrown) {
      if (signal.aborted || !late.aborted) throw thrown
      return undefined
    }
  }

  /** Starts what the person of this host approves, or has approved in a call that ended before its installation. */
  async function startAsked(
    entry: EntryDetail,
    caller: Principal,
    ask: Ask,
    { signal, progress }: StartCall,
  ): Promise<PackageLaunch> {
    const scope = principalKey(caller)
    using _question = await turnToAsk(entry, caller, { signal, progress })
    const waitForInstall = async () => {
      const turn = install(`${scope} ${entry.id}`, signal)
      if (turn instanceof Promise) progress('Waits for the installation of the package')
      return await turn
    }
    // A call that ended before may have left an installation.
    const earlier = await waitForInstall()
    earlier[Symbol.dispose]()
    const since = await launchFor(entry, caller)
    if (typeof since !== 'string') return since
    if (declined.get(caller)?.has(entry.id)) throw required(entry, userDeclined, [])
    const planned = await askPerson(entry, caller, ask)
    using _ = await waitForInstall()
    const installed = AbortSignal.timeout(installTime_ms)
    const approval = await approving.commit(planned, { scope, caller, signal: installed, progress })
    return await launches.of(entry, approval, caller)
  }

  return {
    async approve(input, caller, signal, progress) {
      const entry = await get(input.agent, caller)
      const planned = await approving.plan(entry, input, signal)
      if (input.dry_run) return await approving.report(planned, null)
      const approval = await approving.commit(planned, { scope: operatorScope, caller, signal, progress })
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
        endProcesses(approval.id, true)
        if (scope === operatorScope) await secrets.removeAll(id, scope)
        await launches.record(id, caller, 'revoke_approval', approval.resolved.source.identifier)
        await runner.forgetHome(approval.id)
      }
      if (isApproved) return
      throw new Failure('not_found', `${agent} has no approval.`, { hint: 'list_approvals lists them.' })
    },
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
        if (ask && isPerson(caller)) return startAsked(entry, caller, ask, call)
        launches.refused(entry, caller, launch)
        throw required(entry, launch, requiredNames(entry))
      })
    },
  }
}

const questionWait = 30_000
const planTime_ms = 60_000
const installTime_ms = 10 * 60_000
const userDeclined = 'The user declined to run it.'
/** Title of the field that the person of a host ticks. */
const tick = 'Run this package'

/** What a person is asked for at first: nothing but the package itself, without network. */
function unasked({ package_name }: EntryDetail): ApprovalInput {
  const nothing = {
    variables: {},
    arguments: {},
    more_arguments: [],
    hosts: [],
    scripts: false,
    dry_run: false,
  }
  return { agent: package_name, ...nothing }
}

function requiredNames(entry: EntryDetail): string[] {
  try {
    const { demand, values } = prepare(entry, unasked(entry))
    const open = demand.values.filter(
      ({ required, part, name }) => required && !(valueKey({ part, name }) in values),
    )
    return open.map(({ name }) => name)
  } catch {
    return []
  }
}

/**
 * The refusal names no command: its caller may be a model with a shell, which must not approve what strangers wrote.
 * The command line adds the command for the person at a terminal.
 */
function required({ package_name }: EntryDetail, reason: string, names: readonly string[]): Failure {
  const values = names.length > 0 ? ` It needs values: ${names.map(quotedName).join(', ')}.` : ''
  return new Failure(
    'approval_required',
    `The package of ${package_name} is not approved to run here. ${reason}`,
    {
      hint: `Ask the operator of this gateway: a person looks at the package and approves it, with each host that it has to reach (docs/running.md).${values} A model must not do it.`,
    },
  )
}

/** The refusal of a package that lacks values; its user stores secrets, and gives the others with an approval. */
function unfilled(entry: EntryDetail, report: Omit<ApprovalReport, 'tools'>): Failure {
  const { missing } = report
  const secrets = report.package.values.filter(({ name, secret }) => secret && missing.includes(name))
  const refusal = required(entry, `It needs values: ${missing.map(quotedName).join(', ')}.`, [])
  if (secrets.length < missing.length) return refusal
  const commands = secrets.map(
    ({ name }) => `dragoman credentials set ${entry.package_name} --variable ${name}`,
  )
  const hint = `The user stores ${secrets.length === 1 ? 'the secret' : 'each secret'} with: ${commands.join('; ')}. Then another call asks for the approval.`
  return new Failure(refusal.code, refusal.message, { hint })
}

function question({ agent, package: source, sandbox, warnings }: Omit<ApprovalReport, 'tools'>): JsonObject {
  const { registry_type, identifier, version, integrity, values, variables, arguments: args } = source
  const names = values.map(({ name }) => quotedName(name)).join(', ')
  const where =
    sandbox.kind === 'none' ? 'WITHOUT a sandbox, with your rights' : `in a sandbox (${sandbox.kind})`
  const lines = [
    `Run the ${registry_type} package ${identifier} ${version} on this machine, for the agent ${agent}?`,
    `It runs ${where}, without network unless you name hosts. Its variables: ${names || 'none'}.`,
    `Digest: ${integrity}`,
    ...warnings,
    // Of any length, so that they hide nothing of the above.
    ...(Object.keys(variables).length > 0 ? [`Its publisher sets: ${assignments(variables)}`] : []),
    ...(args.length > 0 ? [`Its publisher starts it with: ${args.map(asWord).join(' ')}`] : []),
  ]
  const approve = { type: 'boolean', title: tick, default: false }
  const hosts = {
    type: 'string',
    title: 'Hosts that it may reach',
    description: 'Such as api.example.com, separated by commas. Without any it has no network.',
  }
  return {
    message: lines.join('\n'),
    requestedSchema: { type: 'object', properties: { approve, hosts }, required: ['approve'] },
  }
}

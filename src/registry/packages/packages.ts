import type { ApprovalInput, ApprovalPage, ApprovalRange, ApprovalReport } from '../../../schemas/approval.ts'
import type { EntryDetail } from '../../../schemas/card.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { JsonObject } from '../../../schemas/json.ts'
import { packageUrl } from '../../../schemas/package.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { principalKey } from '../../common/principal-key.ts'
import type { PackageSource, ResolvedPackage, Runner, SandboxReport } from '../../runner/runner.ts'
import { lookalikeKey } from '../../store/entries/confusables.ts'
import type { Store } from '../../store/store.ts'
import type { ServerStatement } from '../capabilities/server-statement.ts'
import {
  type ActiveApproval,
  Approvals,
  actorOf,
  operatorScope,
  type Prepared,
  prepare,
  shownApproval,
  shownPackage,
  valueKey,
} from './approvals.ts'
import { pinnedOf } from './demand.ts'
import { homeOf, Launches, type LaunchesOptions, type PackageLaunch } from './launches.ts'

/** Secrets of packages, sealed. */
interface Secrets {
  setVariable(
    variable: {
      readonly owner: string
      readonly entry: EntryDetail
      readonly url: string
      readonly name: string
    },
    value: string,
  ): Promise<unknown>
  variablesFor: LaunchesOptions['variablesFor']
  removeAll(entryId: string, owner: string): Promise<void>
}

interface PackagesOptions extends Omit<LaunchesOptions, 'approvals' | 'store' | 'runner' | 'variablesFor'> {
  readonly store: Pick<Store, 'approvals' | 'write' | 'read'>
  readonly runner: Runner
  readonly secrets: Secrets
  readonly get: (agent: string, caller: Principal | null) => Promise<EntryDetail>
  readonly createId: () => string
  /** Starts a process for itself, reads what it states, and ends it. */
  readonly readServer: (url: string, launch: PackageLaunch, signal: AbortSignal) => Promise<ServerStatement>
  /** Ends the processes whose keys begin with a text, those in use when their calls have ended unless `inUse`. */
  readonly endProcesses: (prefix: string, inUse?: boolean) => void
}

/** Asks the caller a question of MCP. */
type Ask = (question: { readonly method: string; readonly params: JsonObject }) => Promise<JsonObject>

/** Reports how far an approval is. */
type Progress = (text: string) => void

/** Packages that may run here: their approvals, and whether one may start for a caller. */
export interface Packages {
  approve(
    input: ApprovalInput,
    caller: Principal,
    signal: AbortSignal,
    progress: Progress,
  ): Promise<ApprovalReport>
  list(range: ApprovalRange): Promise<ApprovalPage>
  /** Ends its processes too, and removes what they have stored. Throws Failure `not_found`. */
  revoke(agent: string, caller: Principal): Promise<void>
  /** Ends the processes that run for a principal key alone, and removes what they have stored. */
  forgetPerson(owner: string): Promise<void>
  /**
   * How the package of an entry starts for a caller, who is asked if a person's own host can ask. Throws Failure
   * `approval_required`.
   */
  permit(entry: EntryDetail, caller: Principal | null, ask: Ask | undefined): Promise<PackageLaunch>
}

export function createPackages(options: PackagesOptions): Packages {
  const { store, runner, secrets, get, createId, readServer, endProcesses, clock } = options
  const approvals = new Approvals(store, clock)
  const launches = new Launches({ ...options, approvals, variablesFor: secrets.variablesFor })
  /** Entries whose start the person has declined in this process. */
  const declined = new Set<string>()

  async function plan(entry: EntryDetail, input: ApprovalInput, signal: AbortSignal): Promise<Plan> {
    const stated = prepare(entry, input)
    const { registry_type, reference: identifier, file_sha256 } = stated.demand
    const sandbox = await requireSandbox(runner, registry_type)
    const version = chosenVersion(entry, stated.demand.version, input.version)
    const source = { registry_type, identifier, version, ...(file_sha256 !== undefined && { file_sha256 }) }
    const resolved = await runner.resolve(source, signal)
    const prepared = resolved.inputs === undefined ? stated : prepare(entry, input, resolved.inputs)
    if (input.integrity !== undefined && input.integrity !== resolved.integrity) {
      throw new Failure('precondition_failed', `The package has the digest ${resolved.integrity} now.`, {
        hint: 'Look at it again before you approve it.',
      })
    }
    return { entry, input, prepared, resolved, sandbox }
  }

  /** Stores the approval that a plan comes to, with its secrets. */
  async function commit(
    { entry, input, prepared, resolved }: Plan,
    place: {
      readonly scope: string
      readonly caller: Principal
      readonly signal: AbortSignal
      progress: Progress
    },
  ): Promise<ActiveApproval> {
    const { scope, caller, signal, progress } = place
    const { hosts, scripts, more_arguments } = input
    const { lock } = await runner.install(resolved, { scripts }, signal, progress)
    const url = packageUrl(prepared.demand)
    for (const [name, value] of prepared.secrets) {
      await secrets.setVariable({ owner: scope, entry, url, name }, value)
    }
    const pinned = pinnedOf(prepared.demand)
    const { chosen, values } = prepared
    const document = {
      pinned,
      resolved,
      lock,
      scripts,
      hosts,
      chosen,
      values,
      more_arguments,
      approved_by: actorOf(caller),
    }
    const approval = await approvals.put({ scope, entry_id: entry.id }, document, createId)
    endProcesses(approval.id)
    const { registry_type, identifier, version } = resolved.source
    const what = `${registry_type} ${identifier} ${version} ${resolved.integrity}`
    await launches.record(entry.id, caller, 'approve_package', what)
    return approval
  }

  async function firstStart(
    entry: EntryDetail,
    approval: ActiveApproval,
    caller: Principal,
    signal: AbortSignal,
  ): Promise<Pick<ApprovalReport, 'tools' | 'problem'>> {
    try {
      const { onDescribed, ...launch } = await launches.of(entry, approval, caller)
      const statement = await readServer(packageUrl(approval.pinned), launch, signal)
      await options.noteRun(entry.id, statement, approval.resolved.source.version)
      return { tools: [...statement.capabilities], problem: null }
    } catch (thrown) {
      signal.throwIfAborted()
      const { message, details, cause } = Failure.from(thrown)
      const stderr = cause instanceof Error && !(cause instanceof Failure) ? ` ${cause.message}` : ''
      return {
        tools: null,
        problem: `${message}${details.hint ? ` ${details.hint}` : ''}${stderr}`.slice(0, 2000),
      }
    }
  }

  async function reportOf(planned: Plan, lock: string | null): Promise<ApprovalReport> {
    const { entry, input, prepared, resolved, sandbox } = planned
    const { hosts, scripts, more_arguments } = input
    const pinned = pinnedOf(prepared.demand)
    const shown = { pinned, resolved, hosts, scripts, values: prepared.values, more_arguments }
    const stored = await secrets.variablesFor(entry.id, packageUrl(prepared.demand), operatorScope)
    const missing = pinned.values.filter(({ name, part, required, secret }) => {
      const isGiven = secret
        ? prepared.secrets.has(name) || stored.values.has(name)
        : prepared.values[valueKey({ part, name })] !== undefined
      return required && !isGiven
    })
    const { kind, limited, not_limited } = sandbox
    return {
      agent: entry.package_name,
      publisher: entry.owner?.subject ?? null,
      package: shownPackage(shown, lock),
      published_at: resolved.published_at,
      sandbox: { kind: kind ?? 'none', limited: [...limited], not_limited: [...not_limited] },
      warnings: await warningsOf(planned),
      missing: missing.map(({ name }) => name),
      tools: null,
      problem: null,
    }
  }

  async function warningsOf({ entry, resolved, input }: Plan): Promise<string[]> {
    const { source, warning } = resolved
    const others = (await approvals.list(operatorScope)).filter(({ entry_id }) => entry_id !== entry.id)
    const alike = others.filter(({ pinned: { identifier } }) => isLookalike(identifier, source.identifier))
    return [
      ...(warning === null ? [] : [`The package registry warns: ${warning.slice(0, 300)}`]),
      ...alike.map(
        ({ pinned }) => `Its name looks like ${pinned.identifier}, which is approved and is another package.`,
      ),
      ...(entry.content_flags.includes('imitates_name') ? ['Its name imitates that of another agent.'] : []),
      ...(input.scripts ? ['Its install scripts run, in the sandbox of the installation.'] : []),
    ]
  }

  /** The approval that serves a caller: their own, or that of the operator. */
  async function approvalFor(
    entry: EntryDetail,
    caller: Principal | null,
  ): Promise<ActiveApproval | undefined> {
    const own = isPerson(caller) ? await approvals.find(principalKey(caller), entry.id) : undefined
    if (own && approvals.difference(own, entry) === null) return own
    return (await approvals.find(operatorScope, entry.id)) ?? own
  }

  /** True for a caller behind their own host, which can ask them. */
  function isPerson(caller: Principal | null): caller is Principal {
    return caller?.own_host === true
  }

  /** Asks the person of this host; undefined if they declined. */
  async function askPerson(
    entry: EntryDetail,
    caller: Principal,
    ask: Ask,
  ): Promise<ActiveApproval | undefined> {
    const signal = AbortSignal.timeout(askTime_ms)
    const planned = await plan(entry, unasked(entry), signal)
    const { tools: _, ...report } = await reportOf(planned, null)
    if (report.missing.length > 0)
      throw required(entry, `It needs values: ${report.missing.join(', ')}.`, report.missing)
    const answer = await ask({ method: 'elicitation/create', params: question(report) })
    const content = answer.content as { readonly approve?: unknown } | undefined
    if (answer.action !== 'accept' || content?.approve !== true) return undefined
    const scope = principalKey(caller)
    return await commit(planned, {
      scope,
      caller,
      signal: AbortSignal.timeout(installTime_ms),
      progress() {},
    })
  }

  return {
    async approve(input, caller, signal, progress) {
      const entry = await get(input.agent, caller)
      const planned = await plan(entry, input, signal)
      if (input.dry_run) return await reportOf(planned, null)
      const approval = await commit(planned, { scope: operatorScope, caller, signal, progress })
      const report = await reportOf(planned, approval.lock)
      if (entry.state !== 'ACTIVE') return { ...report, problem: 'It is not ACTIVE, so it is not called.' }
      progress('starting it once, to read its tools')
      return { ...report, ...(await firstStart(entry, approval, caller, signal)) }
    },
    async list({ limit, cursor }) {
      const found = await approvals.list(operatorScope, { limit: limit + 1, after: cursor })
      const all = found.slice(0, limit)
      const entries = await Promise.all(all.map(({ entry_id }) => get(entry_id, null).catch(() => undefined)))
      const shown = all.map((approval, index) => {
        const entry = entries[index]
        const difference = entry ? approvals.difference(approval, entry) : 'The agent is not listed any more.'
        return shownApproval(approval, entry?.package_name ?? approval.entry_id, difference)
      })
      const last = found.length > limit ? all.at(-1) : undefined
      return { approvals: shown, next_cursor: last?.entry_id ?? null }
    },
    async revoke(agent, caller) {
      const entry = await get(agent, caller).catch(() => undefined)
      const id = entry?.id ?? agent
      const approval = await approvals.find(operatorScope, id)
      if (!approval || !(await approvals.remove(operatorScope, id))) {
        throw new Failure('not_found', `${agent} has no approval.`, { hint: 'list_approvals lists them.' })
      }
      endProcesses(approval.id, true)
      await secrets.removeAll(id, operatorScope)
      await launches.record(id, caller, 'revoke_approval', approval.resolved.source.identifier)
      await runner.forgetHome(approval.id)
    },
    async forgetPerson(owner) {
      const [own, shared] = await Promise.all([approvals.list(owner), approvals.list(operatorScope)])
      for (const { id } of own) endProcesses(id, true)
      const homes = [...own.map(({ id }) => id), ...shared.map((approval) => homeOf(approval, owner))]
      await Promise.all(homes.map((home) => runner.forgetHome(home)))
    },
    async permit(entry, caller, ask) {
      const found = await approvalFor(entry, caller)
      const difference = found && approvals.difference(found, entry)
      if (found && difference === null) return await launches.of(entry, found, caller)
      const reason = difference ?? 'Nobody has approved it.'
      if (ask && isPerson(caller) && !declined.has(entry.id)) {
        const approval = await askPerson(entry, caller, ask)
        if (approval) return await launches.of(entry, approval, caller)
        declined.add(entry.id)
        launches.refused(entry, caller, 'The person declined.')
        throw required(entry, 'You declined to run it.', [])
      }
      launches.refused(entry, caller, reason)
      throw required(entry, reason, requiredNames(entry))
    },
  }
}

interface Plan {
  readonly entry: EntryDetail
  readonly input: ApprovalInput
  readonly prepared: Prepared
  readonly resolved: ResolvedPackage
  readonly sandbox: SandboxReport
}

const askTime_ms = 60_000
const installTime_ms = 10 * 60_000

async function requireSandbox(
  runner: Pick<Runner, 'sandbox'>,
  type: PackageSource['registry_type'],
): Promise<SandboxReport> {
  const report = await runner.sandbox(type)
  if (report.kind !== null) return report
  throw new Failure('not_configured', report.problem ?? 'There is no sandbox here.', {
    hint: 'docs/running.md names the sandboxes; dragoman doctor shows what is missing.',
  })
}

function chosenVersion(entry: EntryDetail, stated: string | undefined, chosen: string | undefined): string {
  if (stated === undefined) return chosen ?? 'latest'
  if (chosen === undefined || chosen === stated) return stated
  throw new Failure('invalid_request', `${entry.package_name} states version ${stated}, not ${chosen}.`, {
    hint: 'Leave the version out.',
  })
}

function isLookalike(left: string, right: string): boolean {
  return left !== right && lookalikeKey(left) === lookalikeKey(right)
}

/** What a person is asked for: nothing but the package itself, without network. */
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

function required({ package_name }: EntryDetail, reason: string, names: readonly string[]): Failure {
  const values = names
    .map((name) => ` ${/^[A-Z_][A-Z0-9_]*$/.test(name) ? '--env' : '--arg'} ${name}=VALUE`)
    .join('')
  return new Failure(
    'approval_required',
    `The package of ${package_name} is not approved to run here. ${reason}`,
    {
      hint: `The operator approves it with: dragoman allow ${package_name}${values}`,
    },
  )
}

function question({ agent, package: source, sandbox, warnings }: Omit<ApprovalReport, 'tools'>): JsonObject {
  const { registry_type, identifier, version, integrity, values } = source
  const names = values.map(({ name }) => name).join(', ')
  const where =
    sandbox.kind === 'none' ? 'WITHOUT a sandbox, with your rights' : `in a sandbox (${sandbox.kind})`
  const lines = [
    `Run the ${registry_type} package ${identifier} ${version} on this machine, for the agent ${agent}?`,
    `It runs ${where}, without network. Its variables: ${names || 'none'}.`,
    `Digest: ${integrity}`,
    ...warnings,
  ]
  const approve = { type: 'boolean', title: 'Run this package', default: false }
  return {
    message: lines.join('\n'),
    requestedSchema: { type: 'object', properties: { approve }, required: ['approve'] },
  }
}

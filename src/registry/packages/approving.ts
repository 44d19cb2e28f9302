import type { ApprovalInput, ApprovalReport } from '../../../schemas/approval.ts'
import type { EntryDetail } from '../../../schemas/card.ts'
import type { ServerStatement } from '../../../schemas/entry-parts.ts'
import { Failure } from '../../../schemas/failure.ts'
import { packageUrl } from '../../../schemas/package.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { inOneLine } from '../../../schemas/text.ts'
import type { PackageSource, ResolvedPackage, Runner, SandboxReport } from '../../runner/runner.ts'
import { inside } from '../../runner/sandbox/sandbox.ts'
import { lookalikeKey } from '../../store/entries/confusables.ts'
import {
  type ActiveApproval,
  type Approvals,
  actorOf,
  operatorScope,
  type Prepared,
  prepare,
  shownPackage,
  valueKey,
} from './approvals.ts'
import { pinnedOf } from './demand.ts'
import type { Launches, LaunchesOptions, PackageLaunch } from './launches.ts'

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

export interface ApprovingOptions extends Pick<LaunchesOptions, 'noteRun'> {
  readonly approvals: Approvals
  readonly launches: Launches
  readonly runner: Runner
  readonly secrets: Secrets
  readonly createId: () => string
  /** Starts a process for itself, reads what it states, and ends it. */
  readonly readServer: (url: string, launch: PackageLaunch, signal: AbortSignal) => Promise<ServerStatement>
  /** Ends the processes whose keys begin with a text, those in use when their calls have ended unless `inUse`. */
  readonly endProcesses: (prefix: string, inUse?: boolean) => void
}

/** Reports how far an approval is. */
export type Progress = (text: string) => void

/** What an approval of a package would come to: the package as it is published now, and how it would run. */
export interface Plan {
  readonly entry: EntryDetail
  readonly input: ApprovalInput
  readonly prepared: Prepared
  readonly resolved: ResolvedPackage
  readonly sandbox: SandboxReport
}

/** Who approves, and for whom. */
interface Approver {
  readonly scope: string
  readonly caller: Principal
  readonly signal: AbortSignal
  progress: Progress
}

/** The steps of an approval: the package is resolved, shown, installed and started once. */
export class Approving {
  readonly #options: ApprovingOptions

  constructor(options: ApprovingOptions) {
    this.#options = options
  }

  async plan(entry: EntryDetail, input: ApprovalInput, signal: AbortSignal): Promise<Plan> {
    const { runner } = this.#options
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

  /** Installs the package of a plan and stores its approval, with its secrets. */
  async commit(
    { entry, input, prepared, resolved }: Plan,
    { scope, caller, signal, progress }: Approver,
  ): Promise<ActiveApproval> {
    const { runner, secrets, approvals, createId, endProcesses, launches } = this.#options
    const { hosts, scripts, more_arguments } = input
    const { lock } = await runner.install(resolved, { scripts }, signal, progress)
    const url = packageUrl(prepared.demand)
    for (const [name, value] of prepared.secrets) {
      await secrets.setVariable({ owner: scope, entry, url, name }, value)
    }
    const document = {
      pinned: pinnedOf(prepared.demand),
      resolved,
      lock,
      scripts,
      hosts,
      chosen: prepared.chosen,
      values: prepared.values,
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

  /** Starts an approved package once and writes its tools into the entry. A package that fails is a problem to show. */
  async firstStart(
    entry: EntryDetail,
    approval: ActiveApproval,
    caller: Principal,
    signal: AbortSignal,
  ): Promise<Pick<ApprovalReport, 'tools' | 'problem'>> {
    const { launches, readServer, noteRun } = this.#options
    try {
      const { onDescribed: _, ...launch } = await launches.of(entry, approval, caller)
      const statement = await readServer(packageUrl(approval.pinned), launch, signal)
      await noteRun(entry.id, statement, approval.resolved.source.version)
      return { tools: [...statement.capabilities], problem: null }
    } catch (thrown) {
      signal.throwIfAborted()
      const { message, details, cause } = Failure.from(thrown)
      const hint = details.hint ? ` ${details.hint}` : ''
      const stderr = cause instanceof Error && !(cause instanceof Failure) ? ` ${cause.message}` : ''
      return { tools: null, problem: `${message}${hint}${stderr}`.slice(0, 2000) }
    }
  }

  /**
   * What is shown of a plan before and after it is approved; `lock` is that of the installed package, `scope` says whose
   * secrets it starts with.
   */
  async report(planned: Plan, lock: string | null, scope = operatorScope): Promise<ApprovalReport> {
    const { entry, input, prepared, resolved, sandbox } = planned
    const { hosts, scripts, more_arguments } = input
    const pinned = pinnedOf(prepared.demand)
    const shown = { pinned, resolved, hosts, scripts, values: prepared.values, more_arguments }
    const { kind, limited, not_limited } = sandbox
    return {
      agent: entry.package_name,
      publisher: entry.owner?.subject ?? null,
      package: shownPackage(shown, lock),
      published_at: resolved.published_at,
      sandbox: { kind: kind ?? 'none', limited: [...limited], not_limited: [...not_limited] },
      warnings: await this.#warnings(planned),
      missing: await this.#missing(planned, scope),
      tools: null,
      problem: null,
    }
  }

  /** Names of the values that the package requires and nobody has given. */
  async #missing({ entry, prepared }: Plan, scope: string): Promise<string[]> {
    const { secrets } = this.#options
    const { demand, values } = prepared
    const stored = await secrets.variablesFor(entry.id, packageUrl(demand), scope)
    const missing = pinnedOf(demand).values.filter(({ name, part, required, secret }) => {
      const isGiven = secret
        ? prepared.secrets.has(name) || stored.values.has(name)
        : values[valueKey({ part, name })] !== undefined
      return required && !isGiven
    })
    return missing.map(({ name }) => name)
  }

  async #warnings({ entry, resolved, input, prepared, sandbox }: Plan): Promise<string[]> {
    const { source, warning } = resolved
    const approved = await this.#options.approvals.list(operatorScope)
    const others = approved.filter(({ entry_id }) => entry_id !== entry.id)
    const alike = others.filter(({ pinned: { identifier } }) => isLookalike(identifier, source.identifier))
    return [
      ...(warning === null
        ? []
        : [`The package registry warns: ${JSON.stringify(inOneLine(warning).slice(0, 300))}`]),
      ...alike.map(
        ({ pinned }) => `Its name looks like ${pinned.identifier}, which is approved and is another package.`,
      ),
      ...(entry.content_flags.includes('imitates_name') ? ['Its name imitates that of another agent.'] : []),
      ...hiddenPaths([...input.more_arguments, ...Object.values(prepared.values)], sandbox).map(
        (path) =>
          `Its sandbox shows no folder ${path}; its own one is ${inside.home}. For work on folders of yours, install it in a host: dragoman install ${entry.package_name}.`,
      ),
      ...(input.scripts ? ['Its install scripts run, in the sandbox of the installation.'] : []),
    ]
  }
}

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

/** Values that look like folders of this machine which a sandbox does not show. */
function hiddenPaths(values: readonly string[], { kind }: SandboxReport): string[] {
  if (kind === 'none') return []
  return values.filter((value) => value.startsWith('/') && !shownPaths.test(value))
}

const shownPaths = new RegExp(
  `^(?:${inside.home}|${inside.package}|/(?:tmp|usr|bin|lib|etc|dev|proc))(?:/|$)`,
)

function isLookalike(left: string, right: string): boolean {
  return left !== right && lookalikeKey(left) === lookalikeKey(right)
}

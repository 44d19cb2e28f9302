import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { EntryDetail } from '../../../schemas/card.ts'
import type { StoredVariables } from '../../../schemas/credential.ts'
import type { ServerStatement } from '../../../schemas/entry-parts.ts'
import { Failure } from '../../../schemas/failure.ts'
import { packageUrl } from '../../../schemas/package.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { quotedName } from '../../../schemas/text.ts'
import { type Eventual, withValue } from '../../common/eventual.ts'
import { upTo } from '../../common/lru.ts'
import { principalKey } from '../../common/principal-key.ts'
import type { PackageProcess, Runner, RunRequest } from '../../runner/runner.ts'
import type { Store } from '../../store/store.ts'
import type { Template } from '../install/template.ts'
import { type ActiveApproval, type Approvals, actorOf, demandOfApproval, valueKey } from './approvals.ts'

/** How a package is started for one caller. */
export interface PackageLaunch {
  readonly key: string
  start(signal: AbortSignal): Promise<PackageProcess>
  readonly onDescribed?: ((statement: ServerStatement) => void) | undefined
}

export interface LaunchesOptions {
  readonly approvals: Approvals
  readonly store: Pick<Store, 'write'>
  readonly runner: Pick<Runner, 'sandbox' | 'install' | 'start' | 'forgetHome'>
  readonly variablesFor: (entryId: string, url: string, owner: string) => Eventual<StoredVariables>
  /** Writes the tools of a version of a package into the entry. */
  readonly noteRun: (entryId: string, statement: ServerStatement, version: string) => Promise<void>
  readonly clock: () => number
  readonly onError: (fault: unknown) => void
  /** Called at the end of each process, with the last lines of its standard error. */
  readonly onEnded: (agent: string, exit: object, stderr: string) => void
}

/** What a launch was made of; it is made again if one of them has changed. */
interface Made {
  readonly entry: EntryDetail
  readonly approval: ActiveApproval
  readonly launch: PackageLaunch
}

const maxLaunches = 1_000
/** A refusal that repeats is logged once in this time. */
const refusal_ms = 60_000
const maxRefusals = 10_000

/** Starts approved packages, and writes each start and each refusal into the audit log of the entry. */
export class Launches {
  readonly #options: LaunchesOptions
  readonly #refusals: LRUCache<string, number>
  /** By approval and caller, without secrets: most calls find the package running. */
  readonly #made = new LRUCache<string, Made>(upTo(maxLaunches))

  constructor(options: LaunchesOptions) {
    this.#options = options
    this.#refusals = new LRUCache(upTo(maxRefusals))
  }

  /** Throws Failure `not_callable` if the caller has to store a value first. */
  of(entry: EntryDetail, approval: ActiveApproval, caller: Principal | null): Eventual<PackageLaunch> {
    const { variablesFor } = this.#options
    const url = packageUrl(approval.pinned)
    const owner = caller && principalKey(caller)
    return withValue(variablesFor(entry.id, url, approval.scope), (shared) =>
      withValue(owner === null ? undefined : variablesFor(entry.id, url, owner), (own) => {
        // Secrets stay sealed while nothing starts.
        const hasSecrets = shared.values.size > 0 || (own?.values.size ?? 0) > 0
        if (hasSecrets) return this.#make(entry, approval, caller, owner, { shared, own })
        const key = `${approval.id} ${owner}`
        const made = this.#made.get(key)
        if (made?.entry === entry && made.approval === approval) return made.launch
        const launch = this.#make(entry, approval, caller, owner, { shared, own })
        this.#made.set(key, { entry, approval, launch })
        return launch
      }),
    )
  }

  #make(
    entry: EntryDetail,
    approval: ActiveApproval,
    caller: Principal | null,
    owner: string | null,
    { shared, own }: { readonly shared: StoredVariables; readonly own: StoredVariables | undefined },
  ): PackageLaunch {
    const { noteRun, onError } = this.#options
    const names = new Set(approval.pinned.values.filter(({ secret }) => secret).map(({ name }) => name))
    const used = [...(own?.values ?? [])].filter(([name]) => names.has(name))
    const isOwn = used.length > 0 && owner !== approval.scope
    const secrets = new Map([...shared.values, ...used])
    const { args, env } = filled(entry, approval, secrets)
    // Callers with secrets of their own share neither a process nor a HOME.
    const identity = isOwn ? `${owner} ${own?.key}` : ''
    const home = isOwn ? homeOf(approval, String(owner)) : approval.id
    const { version } = approval.resolved.source
    const isRead = entry.reading?.package_version === version && entry.reading.status === 'ok'
    const request: RunRequest = {
      resolved: approval.resolved,
      lock: approval.lock,
      scripts: approval.scripts,
      home,
      args,
      env,
      hosts: approval.hosts,
    }
    return {
      key: `${approval.id} ${hash('sha256', `${approval.approved_at} ${shared.key} ${identity}`, 'hex')}`,
      start: (signal) => this.#start(entry, approval, request, caller, signal),
      ...(!isRead && {
        onDescribed: (statement: ServerStatement) => {
          noteRun(entry.id, statement, version).catch(onError)
        },
      }),
    }
  }

  /** Logs that a package was not started for a caller. */
  refused(entry: EntryDetail, caller: Principal | null, reason: string): void {
    const { clock, onError } = this.#options
    const key = `${entry.id} ${caller && principalKey(caller)} ${reason}`
    if ((this.#refusals.get(key) ?? 0) > clock()) return
    this.#refusals.set(key, clock() + refusal_ms)
    this.record(entry.id, caller, 'refuse_start', reason).catch(onError)
  }

  async record(entryId: string, caller: Principal | null, action: string, reason: string): Promise<void> {
    const actor = caller && actorOf(caller)
    await this.#options.store.write((writer) =>
      writer.record(entryId, { actor, action, reason: reason.slice(0, 1000) }),
    )
  }

  async #start(
    entry: EntryDetail,
    approval: ActiveApproval,
    request: RunRequest,
    caller: Principal | null,
    signal: AbortSignal,
  ): Promise<PackageProcess> {
    const { runner, onEnded, approvals } = this.#options
    const { kind } = await runner.sandbox(request.resolved.source.registry_type)
    const { registry_type, identifier, version } = request.resolved.source
    const network = request.hosts.length > 0 ? `network to ${request.hosts.join(', ')}` : 'no network'
    const how = kind === 'none' ? 'without a sandbox' : `in ${kind}`
    await this.record(
      entry.id,
      caller,
      'start',
      `${registry_type} ${identifier} ${version} ${how}, ${network}`,
    )
    const process = await this.#started(request, signal)
    // An installation and a start take time, in which the approval may have ended.
    const now = await approvals.findNow(approval.scope, entry.id)
    if (now?.approved_at !== approval.approved_at) {
      await process[Symbol.asyncDispose]()
      if (!now) await runner.forgetHome(request.home)
      throw new Failure('approval_required', `The approval of ${entry.package_name} has ended.`)
    }
    void process.exited.then((exit) => onEnded(entry.package_name, exit, process.stderrTail()))
    return process
  }

  /** An installation that is gone, or that another machine made, is made again by its lock. */
  async #started(request: RunRequest, signal: AbortSignal): Promise<PackageProcess> {
    const { runner } = this.#options
    try {
      return await runner.start(request, signal)
    } catch (thrown) {
      if (!(thrown instanceof Failure) || thrown.code !== 'wrong_state') throw thrown
      const { resolved, lock, scripts } = request
      await runner.install(resolved, { scripts, lock }, signal)
      return await runner.start(request, signal)
    }
  }
}

/** The HOME of the processes of a caller with secrets of their own: its name begins with that of all other callers. */
export function homeOf({ id }: Pick<ActiveApproval, 'id'>, owner: string): string {
  return `${id}-${hash('sha256', owner, 'hex').slice(0, 27)}`
}

/** The arguments and the environment of a process. */
function filled(
  entry: EntryDetail,
  approval: ActiveApproval,
  secrets: ReadonlyMap<string, string>,
): Pick<RunRequest, 'args' | 'env'> {
  const { args, env } = demandOfApproval(approval, entry)
  const missing = new Map<string, boolean>()
  const text = (template: Template): string | undefined => {
    const pieces = template.map((piece) => {
      if (typeof piece === 'string') return piece
      const { name, secret } = piece
      const part = piece.part === 'argument' ? 'argument' : 'environment'
      const value = secret ? secrets.get(name) : approval.values[valueKey({ part, name })]
      if (value === undefined) missing.set(name, secret)
      return value
    })
    return pieces.includes(undefined) ? undefined : pieces.join('')
  }
  const written = args.map(text)
  const variables = env.flatMap(({ name, value, required }): [string, string][] => {
    const before = new Map(missing)
    const filled = text(value)
    if (filled !== undefined) return [[name, filled]]
    if (!required) for (const key of missing.keys()) if (!before.has(key)) missing.delete(key)
    return []
  })
  const [first] = missing
  if (first) throw missingValue(entry, first[0], first[1])
  return {
    args: [...written.filter((argument) => argument !== undefined), ...approval.more_arguments],
    env: Object.fromEntries(variables),
  }
}

function missingValue({ package_name }: EntryDetail, name: string, isSecret: boolean): Failure {
  return new Failure(
    'not_callable',
    `${package_name} does not start without a value of ${quotedName(name)}.`,
    {
      hint: isSecret
        ? `Store it with set_credential, as the variable ${name}, or ask the operator.`
        : 'Ask the operator of this gateway: the value is a part of the approval (docs/running.md).',
    },
  )
}

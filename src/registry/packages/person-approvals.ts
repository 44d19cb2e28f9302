import { ApprovalInput, type ApprovalReport } from '../../../schemas/approval.ts'
import type { EntryDetail } from '../../../schemas/card.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { JsonObject } from '../../../schemas/json.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { quotedName } from '../../../schemas/text.ts'
import { assignments, asWord } from '../../common/ascii.ts'
import type { Eventual } from '../../common/eventual.ts'
import { principalKey } from '../../common/principal-key.ts'
import { type AcquireKeyed, createKeyedSemaphore } from '../../common/semaphore.ts'
import { prepare, valueKey } from './approvals.ts'
import type { Approving, Plan, Progress } from './approving.ts'
import type { Launches, PackageLaunch } from './launches.ts'

/** Asks the caller a question of MCP. */
type Ask = (question: { readonly method: string; readonly params: JsonObject }) => Promise<JsonObject>

/** The call for which a package starts. */
export interface StartCall {
  readonly signal: AbortSignal
  /** Absent where nobody can be asked. */
  readonly ask?: Ask | undefined
  readonly progress: Progress
}

const questionWait_ms = 30_000
const planTime_ms = 60_000
const installTime_ms = 10 * 60_000
const userDeclined = 'The user declined to run it.'
/** Title of the field that the person of a host ticks. */
const tick = 'Run this package'

interface PersonApprovalsOptions {
  readonly approving: Approving
  readonly launches: Launches
  /** How the package starts, or why it may not. */
  readonly launchFor: (entry: EntryDetail, caller: Principal | null) => Eventual<PackageLaunch | string>
  /** Milliseconds for which a call waits for the answer that another one asks for; 30,000 when absent. */
  readonly question_wait_ms?: number | undefined
}

/** Asks people in their own hosts whether a package may run, and starts what they approve. */
export class PersonApprovals {
  readonly #options: PersonApprovalsOptions
  /** Entries whose start the person of a host has declined: each host has a principal of its own. */
  readonly #declined = new WeakMap<Principal, Set<string>>()
  /** One question at a time for each host and package: other calls wait for its answer. */
  readonly #questions = new WeakMap<Principal, AcquireKeyed>()
  /** One installation at a time for each person and package. */
  readonly #install = createKeyedSemaphore(1)

  constructor(options: PersonApprovalsOptions) {
    this.#options = options
  }

  /** Starts what the person of this host approves, or has approved in a call that ended before its installation. */
  async start(
    entry: EntryDetail,
    caller: Principal,
    ask: Ask,
    { signal, progress }: StartCall,
  ): Promise<PackageLaunch> {
    const { approving, launches, launchFor } = this.#options
    const scope = principalKey(caller)
    using _question = await this.#turnToAsk(entry, caller, { signal, progress })
    const waitForInstall = async () => {
      const turn = this.#install(`${scope} ${entry.id}`, signal)
      if (turn instanceof Promise) progress('Waits for the installation of the package')
      return await turn
    }
    // A call that ended before may have left an installation.
    const earlier = await waitForInstall()
    earlier[Symbol.dispose]()
    const since = await launchFor(entry, caller)
    if (typeof since !== 'string') return since
    if (this.#declined.get(caller)?.has(entry.id)) throw approvalRequired(entry, userDeclined, [])
    const planned = await this.#ask(entry, caller, ask)
    using _ = await waitForInstall()
    const installed = AbortSignal.timeout(installTime_ms)
    const approval = await approving.commit(planned, { scope, caller, signal: installed, progress })
    return await launches.of(entry, approval, caller)
  }

  /** What the person of this host approves. Throws Failure `approval_required` if they do not. */
  async #ask(entry: EntryDetail, caller: Principal, ask: Ask): Promise<Plan> {
    const { approving, launches } = this.#options
    const planned = await approving.plan(entry, unasked(entry), AbortSignal.timeout(planTime_ms))
    const { tools: _, ...report } = await approving.report(planned, null, principalKey(caller))
    if (report.missing.length > 0) throw unfilled(entry, report)
    const answer = await ask({ method: 'elicitation/create', params: question(report) })
    if (answer.action !== 'accept') {
      const others = this.#declined.get(caller) ?? []
      this.#declined.set(caller, new Set([...others, entry.id]))
      launches.refused(entry, caller, 'The person declined.')
      throw approvalRequired(entry, userDeclined, [])
    }
    const content = answer.content as { readonly approve?: unknown; readonly hosts?: unknown } | undefined
    if (content?.approve !== true)
      throw approvalRequired(
        entry,
        `The user sent the form without ticking "${tick}". Another call asks again.`,
        [],
      )
    const named = String(content.hosts ?? '').split(/[\s,]+/)
    const { success, data: hosts } = ApprovalInput.shape.hosts.safeParse(named.filter(Boolean))
    if (success) return { ...planned, input: { ...planned.input, hosts } }
    throw approvalRequired(entry, 'The user named something that is not a host. Another call asks again.', [])
  }

  /** Waits while another call of the host asks about this package; not for ever, since a form may be left unanswered. */
  async #turnToAsk(
    entry: EntryDetail,
    caller: Principal,
    { signal, progress }: StartCall,
  ): Promise<Disposable | undefined> {
    const take = this.#questions.get(caller) ?? createKeyedSemaphore(1)
    this.#questions.set(caller, take)
    const late = AbortSignal.timeout(this.#options.question_wait_ms ?? questionWait_ms)
    try {
      const turn = take(entry.id, AbortSignal.any([signal, late]))
      if (turn instanceof Promise) progress('Waits for the answer to the question about the package')
      return await turn
    } catch (thrown) {
      if (signal.aborted || !late.aborted) throw thrown
      return undefined
    }
  }
}

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

/** The values that an approval of the package has to give. */
export function requiredNames(entry: EntryDetail): string[] {
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
export function approvalRequired(
  { package_name }: EntryDetail,
  reason: string,
  names: readonly string[],
): Failure {
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
  const refusal = approvalRequired(entry, `It needs values: ${missing.map(quotedName).join(', ')}.`, [])
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

import type { Context } from '../../schemas/action.ts'
import { endpointsOf } from '../../schemas/callable.ts'
import type { EntryDetail } from '../../schemas/card.ts'
import type { Content, RequestContent } from '../../schemas/content.ts'
import type { Capability } from '../../schemas/entry-parts.ts'
import { Failure } from '../../schemas/failure.ts'
import { isRecord, type Json, type JsonObject } from '../../schemas/json.ts'
import { listedActions } from '../../schemas/names.ts'
import { nearest } from '../../schemas/nearest.ts'
import type { Principal } from '../../schemas/scope.ts'
import type { InputRequired } from '../../schemas/task.ts'
import { quotedName } from '../../schemas/text.ts'
import { viaOf } from '../../schemas/via.ts'
import type { Clock } from '../common/clock.ts'
import { type Eventual, withValue } from '../common/eventual.ts'
import { isGivenUp } from '../common/mcp/questions.ts'
import { principalKey } from '../common/principal-key.ts'
import { withAsker } from './asker.ts'
import { CallerNames } from './caller-names.ts'
import { checkOutput, checkPlain, refuseForged } from './check-output.ts'
import { withDoubt } from './refusal.ts'
import type { McpReply, Permit, Refused, RemoteAnswer, RemoteCall, RemoteTask } from './remote-agent.ts'
import type { ConnectedAgent, Remotes } from './remotes.ts'
import { isAccepted, openWaiting, type SignInPort, sealWaiting, withSignIn } from './sign-in.ts'
import { openTask, sealTask, type TaskHolder } from './task-reference.ts'

export interface AgentCallsOptions {
  readonly remotes: Pick<Remotes, 'of'>
  /** Headers with the gateway's or the caller's credentials for one URL of an agent. */
  readonly headers: (request: {
    readonly entry: EntryDetail
    readonly url: string
    readonly principal: Principal | null
  }) => Promise<Readonly<Record<string, string>>>
  readonly signIn: SignInPort
  readonly clock: Clock
  /** Whether the package of an entry may run for the caller of one call. */
  readonly permit: (entry: EntryDetail, context: Context) => Permit
  /** Key of the HMAC of task references. */
  readonly secret: () => Promise<Uint8Array>
  /** Called with each call, its outcome and its duration in seconds. */
  readonly observe: (entry: Pick<EntryDetail, 'id' | 'package_name'>, code: string, seconds: number) => void
}

/** Names of actions in the hint of a refusal. */
const maxNames = 50

interface ActionCall {
  readonly action: string
  readonly params: JsonObject
  readonly read_only: boolean
  readonly task?: RemoteTask
}

interface PreparedCall {
  readonly connected: ConnectedAgent
  readonly remote: RemoteCall
}

/**
 * Calls one listed agent for callers: with their credentials, a sign-in where the agent asks for it, and tasks that only
 * their caller continues.
 */
export class AgentCalls {
  readonly entry: EntryDetail
  readonly #options: AgentCallsOptions

  constructor(entry: EntryDetail, options: AgentCallsOptions) {
    this.entry = entry
    this.#options = options
  }

  /** Throws Failure `not_callable`. */
  connected(): ConnectedAgent {
    const connected = this.#options.remotes.of(this.entry)
    if (!connected) throw notCallable(this.entry)
    return connected
  }

  async call(request: ActionCall, context: Context): Promise<Json> {
    const { connected, remote } = await this.#prepare(context)
    const names = connected.endpoint.protocol === 'a2a' ? await this.#namesFor(context) : undefined
    const passed = (content: Content) => names?.translate(content) ?? content
    const references = context.content?.protocol === 'a2a' ? context.content.references : undefined
    const remoteCall: RemoteCall = {
      ...remote,
      ...(request.task && { task: request.task }),
      ...(references && { reference_task_ids: await this.#taskIdsOf(references, context) }),
      ...(names?.sent_context !== undefined && { context_id: names.sent_context }),
      emit: (update, content) => remote.emit(update, content && passed(content)),
    }
    const work = (sent: RemoteCall) => this.#observed(() => send(connected, request, sent)).catch(refusedOr)
    const answer = await this.#signedIn(request, context, { connected, remote: remoteCall }, work)
    if ('refused' in answer) {
      if (answer.refused.content) answer.refused.content = passed(answer.refused.content)
      throw await this.#withNames(answer.refused, request.action, connected, remote)
    }
    const { package_name } = this.entry
    const value = checkOutput(package_name, 'output' in answer ? answer.output : answer.question)
    const { content } = answer
    // A question passes as it is only in the protocol in which it can be answered.
    const passes = 'output' in answer || content?.protocol === context.content?.protocol
    if (content && passes) context.attach(passed(content))
    if ('output' in answer) {
      refuseForged(package_name, value)
      return value
    }
    const required: InputRequired = {
      status: answer.status ?? 'input_required',
      agent: package_name,
      task_id: sealTask(answer.task, this.holderOf(context), await this.secret()),
      question: withAsker(package_name, value) as InputRequired['question'],
    }
    return required as Json
  }

  /** Continues a task, or makes a call again that waited for a sign-in. */
  async continue(task_id: string, params: JsonObject, context: Context): Promise<Json> {
    const holder = this.holderOf(context)
    const secret = await this.secret()
    const waiting = openWaiting(task_id, holder, secret)
    if (!waiting) {
      const task = openTask(task_id, holder, secret)
      return await this.call({ action: listedActions.continuation, params, read_only: false, task }, context)
    }
    const isOver = isRefusal(params) || isGivenUp(params.inputResponses)
    if (isOver) throw Failure.cancelled()
    if (isAccepted(params.inputResponses)) await this.waitForSignIn(waiting.since, context)
    const { since: _, content, ...call } = waiting
    return await this.call(call, content ? { ...context, content } : context)
  }

  /** Waits for a task that the agent works on already. */
  async follow(task_id: string, context: Context): Promise<Json> {
    const task = openTask(task_id, this.holderOf(context), await this.secret())
    return await this.call({ action: listedActions.following, params: {}, read_only: true, task }, context)
  }

  /** Cancels a task that waits for its caller. */
  async cancel(task_id: string, context: Context): Promise<void> {
    const task = openTask(task_id, this.holderOf(context), await this.secret())
    const { connected, remote } = await this.#prepare(context)
    if (!connected.agent.cancel) throw notCallable(this.entry)
    const refused = await connected.agent.cancel(task, remote)
    if (refused) throw refused
  }

  /** The capabilities that the agent itself states. */
  async describe(context: Context): Promise<readonly Capability[]> {
    const { connected, remote } = await this.#prepare(context)
    const { agent } = connected
    if (!agent.describe) throw notCallable(this.entry)
    return await agent.describe(remote)
  }

  /** Passes one request of MCP on. Throws Failure `sign_in_required`. */
  async request(method: string, params: JsonObject, context: Context): Promise<McpReply | Refused> {
    const { connected, remote } = await this.#prepare(context)
    const { agent } = connected
    if (!agent.request) throw notCallable(this.entry)
    const sendBy = agent.request.bind(agent)
    const work = (sent: RemoteCall) =>
      this.#observed(() => sendBy(method, params, sent)).catch((thrown) => {
        throw method === 'tools/call' ? withDoubt(Failure.from(thrown)) : thrown
      })
    return await this.#signedIn(toolCallIn(method, params), context, { connected, remote }, work)
  }

  /** Tells the caller of changes, until either side ends it. */
  async listen(filter: JsonObject, context: Context): Promise<void> {
    const { connected, remote } = await this.#prepare(context)
    const { agent } = connected
    if (!agent.listen) throw notCallable(this.entry)
    await agent.listen(filter, remote)
  }

  /** Resolves when the caller has signed in after a time (milliseconds since the epoch), or after a while. */
  async waitForSignIn(since: number, { principal, signal }: Context): Promise<void> {
    if (principal === null) return
    const { endpoint } = this.connected()
    await this.#options.signIn.signedIn({ entry: this.entry, endpoint, principal }, since, signal)
  }

  holderOf(context: Pick<Context, 'principal'>): TaskHolder {
    return { agent: this.entry.id, caller: callerOf(context) }
  }

  /** Key of the HMAC of task references. */
  secret(): Promise<Uint8Array> {
    return this.#options.secret()
  }

  /** Does the work, and asks the caller to sign in where the agent wants that. */
  #signedIn<Answer extends object>(
    call: ActionCall | undefined,
    context: Context,
    { connected, remote }: PreparedCall,
    work: (remote: RemoteCall) => Promise<Answer | Refused>,
  ): Promise<Answer | Refused> {
    const { principal, content } = context
    if (principal === null) return work(remote)
    const { signIn, secret, clock } = this.#options
    const caller = { entry: this.entry, endpoint: connected.endpoint, principal }
    return withSignIn(signIn, caller, remote, work, async () => {
      if (!call) return undefined
      const waiting = { ...call, since: clock(), ...(content?.protocol === 'a2a' && { content }) }
      return sealWaiting(waiting, this.holderOf(context), await secret())
    })
  }

  async #namesFor(context: Context): Promise<CallerNames> {
    return new CallerNames(this.holderOf(context), await this.secret(), contextIn(context.content))
  }

  /** The agent's ids of the tasks behind references; those of other agents and callers are left out. */
  async #taskIdsOf(references: readonly string[], context: Context): Promise<string[]> {
    const [holder, secret] = [this.holderOf(context), await this.secret()]
    return references.flatMap((reference) => {
      try {
        return openTask(reference, holder, secret).task_id
      } catch {
        return []
      }
    })
  }

  /** The remote agent and the context of a call to it. Throws Failure `loop_detected` and `not_callable`. */
  #prepare(context: Context): Eventual<PreparedCall> {
    const { package_name } = this.entry
    const { principal, via, signal } = context
    if (via.includes(package_name)) {
      throw new Failure('loop_detected', `The call has passed ${package_name} already.`, {
        hint: `Its path: ${via.join(', ')}.`,
      })
    }
    const connected = this.connected()
    const { endpoint, is_package } = connected
    const { headers, permit } = this.#options
    const credentials = is_package ? {} : headers({ entry: this.entry, url: endpoint.url, principal })
    return withValue(credentials, (own) => {
      const remote: RemoteCall = {
        signal,
        headers: { ...own, via: viaOf([...via, package_name]) },
        ...(is_package && { permit: permit(this.entry, context) }),
        caller: callerOf(context),
        ...(context.content && { content: context.content }),
        ...(context.notifyClient && { notifyClient: context.notifyClient }),
        onActivity() {},
        emit(update, content) {
          checkPlain(package_name, update)
          return context.emit(update, content)
        },
      }
      return { connected, remote }
    })
  }

  /** An agent's refusal of an unknown action, with the names that exist. */
  async #withNames(
    failure: Failure,
    action: string,
    { agent }: ConnectedAgent,
    remote: RemoteCall,
  ): Promise<Failure> {
    if (failure.code !== 'unknown_action') return failure
    const described = await agent.describe?.(remote).catch(() => undefined)
    const names = (described ?? this.entry.capabilities).map(({ name }) => name)
    if (names.length === 0) return failure
    const shown = names.slice(0, maxNames).map(quotedName).join(', ')
    if (action === listedActions.message) return this.#takesNoText(shown, failure)
    const itsNames = `It has: ${shown}.`
    const close = nearest(action, names)
    const { hint = itsNames } = failure.details
    const details = { ...failure.details, hint, ...(close.length > 0 && { nearest: close }) }
    return new Failure(failure.code, failure.message, details, failure.cause)
  }

  /**
   * The refusal of a message that names no action, as one of A2A, by an agent that has nothing but actions. Clients of
   * A2A show the message alone, so it says what to do.
   */
  #takesNoText(names: string, { code, cause }: Failure): Failure {
    const how = 'by message.metadata.skillId, or by a data part {"action", "params"}'
    const message = `A message to ${this.entry.package_name} has to name one of its actions, ${how}. It has: ${names}.`
    return new Failure(code, message, {}, cause)
  }

  async #observed<Answer extends object>(work: () => Promise<Answer | Refused>): Promise<Answer | Refused> {
    const started = performance.now()
    const observe = (code: string) =>
      this.#options.observe(this.entry, code, (performance.now() - started) / 1000)
    try {
      const answer = await work()
      observe('refused' in answer ? answer.refused.code : 'ok')
      return answer
    } catch (thrown) {
      observe(Failure.from(thrown).code)
      throw thrown
    }
  }
}

/** True for the input that refuses a question or gives a task up. */
export function isRefusal({ action, ...rest }: Record<string, unknown>): boolean {
  return (action === 'cancel' || action === 'decline') && Object.keys(rest).length === 0
}

/** The agent's own refusal of an action that it does not have. */
function refusedOr(thrown: unknown): RemoteAnswer {
  if (thrown instanceof Failure && thrown.code === 'unknown_action') return { refused: thrown }
  throw thrown
}

function notCallable(entry: EntryDetail): Failure {
  const { package_name, manifest_url, endpoints, callable_reason } = entry
  const message =
    endpointsOf(entry).length === 0
      ? `${package_name} states no endpoint at which it could be called.`
      : `${package_name} speaks no protocol that this gateway supports.`
  return new Failure('not_callable', message, {
    hint: callable_reason,
    manifest_url,
    endpoints,
  })
}

/** The call of a tool that can be made again; undefined for any other request, and for the answer to a question. */
function toolCallIn(method: string, { name, arguments: params = {}, requestState }: JsonObject) {
  if (method !== 'tools/call' || requestState !== undefined || !isRecord(params)) return undefined
  return { action: String(name), params: params as JsonObject, read_only: false }
}

/** The conversation that a caller of A2A names. */
function contextIn(content: RequestContent | undefined): string | undefined {
  const contextId = content?.protocol === 'a2a' ? content.message.contextId : undefined
  return typeof contextId === 'string' && contextId !== '' ? contextId : undefined
}

/** Retries once if the action is read-only and the agent did not answer at all. */
async function send(
  { agent }: ConnectedAgent,
  { action, params, read_only }: ActionCall,
  remote: RemoteCall,
): Promise<RemoteAnswer> {
  try {
    return await agent.call(action, params, remote)
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.code !== 'upstream_failed') throw thrown
    if (!read_only) throw withDoubt(thrown)
    if (thrown.details.retry_after_s !== undefined || remote.signal.aborted) throw thrown
    return await agent.call(action, params, remote)
  }
}

/** Key of the caller for the connections to the agent; it is never sent. */
function callerOf({ principal }: Pick<Context, 'principal'>): string {
  return principal === null ? 'anonymous' : principalKey(principal)
}

import type { Action, Agent, Context } from '../../schemas/action.ts'
import type { Content } from '../../schemas/content.ts'
import { contentMark } from '../../schemas/content-mark.ts'
import { type Envelope, readEnvelope } from '../../schemas/envelope.ts'
import { Failure } from '../../schemas/failure.ts'
import type { Json } from '../../schemas/json.ts'
import { listedActions, packageNameOf } from '../../schemas/names.ts'
import { nearest } from '../../schemas/nearest.ts'
import { assertMessage } from '../../schemas/plain.ts'
import { quotedName } from '../../schemas/text.ts'
import { authorise } from './authorise.ts'
import type { Call, Reply, Router, RouterOptions } from './call.ts'
import { RunningCalls } from './deadline.ts'
import { callerOf } from './limiter.ts'
import { assertForModels, withoutAdmin } from './model-rights.ts'

const defaultDeadline = 10_000
const maxHops = 8
const maxNameLength = 220

/** Dispatches every call: admits, resolves, authorises, parses, runs under a deadline, observes. */
export function createRouter(options: RouterOptions): Router {
  return new ActionRouter(options)
}

interface RunResult {
  readonly output: Json
  readonly content: Content | undefined
  /** A third party made the output, or a part of it. */
  readonly is_foreign: boolean
}

class ActionRouter implements Router {
  readonly #options: RouterOptions
  readonly #running: RunningCalls
  #ended: Failure | undefined

  constructor(options: RouterOptions) {
    this.#options = options
    this.#running = new RunningCalls(options.standing)
    this.dispatch = this.dispatch.bind(this)
    this.endCalls = this.endCalls.bind(this)
    this.calledAgents = this.calledAgents.bind(this)
    this.endCallsTo = this.endCallsTo.bind(this)
  }

  endCalls(reason: Failure): void {
    this.#ended = reason
    this.#running.end(reason)
  }

  calledAgents(): ReadonlySet<string> {
    return this.#running.agents()
  }

  endCallsTo(agent: string, reason: Failure): void {
    this.#running.end(reason, agent)
  }

  async dispatch(envelope: Envelope, request: Call): Promise<Reply> {
    const call = callOf(request)
    const id = call.id ?? this.#options.createId()
    const finish = this.#options.observe(envelope, id)
    const observation = {
      id,
      to: nameIn(envelope?.to),
      action: nameIn(envelope?.action),
      principal: call.principal,
    }
    try {
      const reply = await this.#route(envelope, call, id)
      finish(observation)
      return reply
    } catch (thrown) {
      const failure = Failure.from(thrown)
      finish({ ...observation, failure })
      throw failure
    }
  }

  async #route(envelope: Envelope, call: Call, id: string): Promise<Reply> {
    const options = this.#options
    assertMessage(envelope)
    const { to, action: name, params } = readEnvelope(envelope)
    const via = call.via ?? (call.client === 'local' ? [] : call.client.via)
    if (via.length > maxHops) {
      throw new Failure('loop_detected', `The call has passed ${maxHops} agents already.`)
    }
    const admitted = options.admit({ to, action: name, params }, call)
    const allowance = admitted instanceof Promise ? await admitted : admitted
    const found = options.resolve(packageNameOf(to), call)
    const agent = found instanceof Promise ? await found : found
    if (!agent) throw new Failure('not_found', `No agent has the name ${to}.`)
    const action = findAction(agent, name)
    // This check precedes every other one: a caller that stores calls stores their refusals too.
    assertStorable(action, call)
    assertForModels(agent, action, call)
    authorise(agent, action, call.principal)
    const input = agent.third_party ? this.#checked(action, params, call) : action.input.parse(params)
    assertStreamable(action, call)
    if (call.accepted) await call.accepted(agent)
    const revision = action.effect === 'read' ? options.revision() : undefined
    const { output, content, is_foreign } = await this.#run(agent, action, input, call, id, via)
    if (options.check_outputs) checkOutput(action, output)
    if (action.effect === 'write') options.chargeWrite(output, call)
    const { deprecated } = agent
    return {
      output,
      ...(content && { content }),
      action,
      ...(revision !== undefined && { revision }),
      ...(allowance !== undefined && { allowance }),
      ...(is_foreign && { mark: contentMark(output) }),
      ...(deprecated && { deprecated }),
    }
  }

  #checked({ input }: Action, params: unknown, call: Call): unknown {
    const begun = performance.now()
    try {
      return input.parse(params)
    } finally {
      this.#options.chargeCheck(performance.now() - begun, call)
    }
  }

  async #run(
    agent: Agent,
    action: Action,
    input: unknown,
    call: Call,
    id: string,
    via: readonly string[],
  ): Promise<RunResult> {
    const { perform, limit } = workOf(action, call)
    if (this.#ended) throw this.#ended
    // A write ends soon, and by itself: that of a revocation answers the caller whose token it ends.
    const watched = action.effect === 'write' ? null : call.principal
    const listed = agent.third_party ? agent.package_name : undefined
    using deadline = this.#running.start(endOf(call, limit), limit, watched, listed)
    const { signal } = deadline
    const ends = Math.min(this.#options.clock() + limit, call.deadline ?? Number.POSITIVE_INFINITY)
    const caller = callerOf(call) ?? call.counted_as
    const counted = caller === undefined ? {} : { counted_as: caller }
    const { principal } = call
    let is_foreign = agent.third_party === true
    let content: Content | undefined
    const context: Context = {
      id,
      principal,
      ...counted,
      signal,
      deadline: ends,
      via,
      ...(call.content && { content: call.content }),
      ...(call.notifyClient && { notifyClient: call.notifyClient }),
      attach: (attached) => {
        content = attached
      },
      emit: call.emit ?? ignore,
      call: async (envelope, receives) => {
        const passed = [...via, agent.package_name]
        const inner: Call = {
          principal,
          client: 'local',
          ...counted,
          signal,
          id,
          deadline: ends,
          via: passed,
          ...(call.model && { model: call.model }),
        }
        const reply = await this.dispatch(envelope, receives ? { ...inner, receives } : inner)
        is_foreign ||= reply.mark !== undefined
        return reply.output
      },
    }
    const work = (parsed: unknown) => perform(parsed, context)
    const output = await deadline.race(this.#options.once({ agent, action, principal }, input, work))
    is_foreign ||= action.hasForeign?.(output) === true
    return { output: output as Json, content, is_foreign }
  }
}

function callOf(call: Call): Call {
  return call.model && call.principal ? { ...call, principal: withoutAdmin(call.principal) } : call
}

/** Names of actions in the answer to a call of none of them. */
const maxNames = 20

function findAction(agent: Agent, name: string): Action {
  const found =
    agent.actions.find((action) => action.name === name) ??
    agent.actions.find(({ aliases }) => aliases?.includes(name))
  if (found) return found
  if (agent.open) return agent.open(name)
  // The gateway itself calls that one, for the subscriptions of its callers.
  const names = agent.actions
    .map((action) => action.name)
    .filter((name) => name !== listedActions.subscription)
  const close = nearest(name, names)
  const shown = names.slice(0, maxNames)
  const left = names.length - shown.length
  throw new Failure('unknown_action', `${agent.package_name} has no action ${name}.`, {
    hint: `It has: ${shown.map(quotedName).join(', ')}${left > 0 ? ` and ${left} more: resolve_package lists them` : ''}.`,
    ...(close.length > 0 && { nearest: close }),
  })
}

/** A caller that receives no parts would wait in vain for the end of a subscription. */
function assertStreamable({ name, part, deadline_ms, fallback }: Action, call: Call): void {
  if (!part || deadline_ms !== 'none' || fallback || (call.emit && call.receives !== 'progress')) return
  throw new Failure('not_callable', `${name} streams, which this transport or binding does not support.`, {
    hint: 'Call it over HTTP with Accept: text/event-stream, or with SendStreamingMessage of A2A.',
  })
}

/** Secrets are stored encrypted or hashed, so they must not appear in task or session history. */
function assertStorable({ name, secret }: Action, { receives }: Call): void {
  if (!secret || receives !== 'kept') return
  throw new Failure(
    'not_callable',
    `${name} returns a secret, and this way of calling it stores the output.`,
    {
      hint: 'Call it by REST, JSON-RPC, MCP or an envelope, or by SendMessage of A2A without returnImmediately.',
    },
  )
}

/** The function to run, and its time limit in milliseconds. */
function workOf(action: Action, call: Call): { perform: Action['run']; limit: number } {
  const { deadline_ms = defaultDeadline, run, fallback } = action
  if (fallback && (!call.emit || call.receives)) return { perform: fallback, limit: defaultDeadline }
  return { perform: run, limit: deadline_ms === 'none' ? Number.POSITIVE_INFINITY : deadline_ms }
}

/** A call without a time limit also ends when the gateway stops. */
function endOf({ signal, ending }: Call, limit: number): AbortSignal {
  return ending && !Number.isFinite(limit) ? AbortSignal.any([signal, ending]) : signal
}

/** An invalid output is an internal error, not the caller's. */
function checkOutput(action: Action, output: Json): void {
  try {
    action.output.parse(output)
  } catch (fault) {
    throw new Error(`The output of ${action.name} does not match its schema.`, { cause: fault })
  }
}

/** A name for logs and metrics. A value that is not text is left out, and long text is cut. */
function nameIn(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, maxNameLength) : 'unknown'
}

async function ignore(): Promise<void> {}

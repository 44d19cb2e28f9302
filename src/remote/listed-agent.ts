import { z } from 'zod'
import type { Action, Agent, Context } from '../../schemas/action.ts'
import type { EntryDetail } from '../../schemas/card.ts'
import { Capability } from '../../schemas/entry-parts.ts'
import { Failure } from '../../schemas/failure.ts'
import { isRecord, type Json, type JsonObject, type JsonSchema } from '../../schemas/json.ts'
import { listedActions } from '../../schemas/names.ts'
import { assertPlain } from '../../schemas/plain.ts'
import type { Principal } from '../../schemas/scope.ts'
import { input, output, type Shape } from '../../schemas/shape.ts'
import { type InputRequired, inputRequiredIn } from '../../schemas/task.ts'
import { viaOf } from '../../schemas/via.ts'
import { principalKey } from '../common/principal-key.ts'
import { sound } from './check-output.ts'
import { endpointsOf } from './endpoints.ts'
import { validate } from './json-schema/json-schema.ts'
import type { RemoteAnswer, RemoteCall, RemoteTask } from './remote-agent.ts'
import type { Connected, Remotes } from './remotes.ts'
import { openTask, sealTask } from './task-reference.ts'

export interface ListedAgentOptions {
  readonly remotes: Pick<Remotes, 'of'>
  /** Headers that say on whose behalf the gateway calls, for one agent at one address. */
  readonly headers: (asked: {
    readonly entry: EntryDetail
    readonly url: string
    readonly principal: Principal | null
  }) => Promise<Readonly<Record<string, string>>>
  /** Seals what callers are told of tasks elsewhere. */
  readonly secret: () => Promise<Uint8Array>
  /** Told of each call that was made, with its outcome and its seconds. */
  readonly observe: (agent: string, code: string, seconds: number) => void
}

/** Time for the other side and for what is between. */
const deadline_ms = 30_000

const anything: Shape<unknown> = { json: {}, parse: (value) => value }

/** Listed agents as agents of the router. Throws Failure `not_callable` for an entry that has no endpoint to call. */
export function createListedAgents(options: ListedAgentOptions): (entry: EntryDetail) => Agent {
  const made = new WeakMap<EntryDetail, Agent>()
  return (entry) => {
    const known = made.get(entry)
    if (known) return known
    const agent = toAgent(entry, options)
    made.set(entry, agent)
    return agent
  }
}

function toAgent(entry: EntryDetail, options: ListedAgentOptions): Agent {
  const connected = options.remotes.of(entry)
  if (!connected) throw notCallable(entry)
  const { package_name, name, description, tags, capabilities } = entry
  const stated = capabilities.map((capability) => toAction(entry, capability, options))
  const has = new Set(capabilities.map((one) => one.name))
  const ours = [
    continueTask(entry, options),
    ...(connected.agent.describe ? [describeAgent(entry, options)] : []),
    ...(connected.endpoint.protocol === 'a2a' ? [toAction(entry, message, options)] : []),
  ]
  const actions = [...stated, ...ours.filter((action) => !has.has(action.name))]
  const open = (called: string) => toAction(entry, { name: called, description: '' }, options)
  return { package_name, name, description, tags, actions, ...(stated.length === 0 && { open }) }
}

function notCallable(entry: EntryDetail): Failure {
  const { package_name, manifest_url, endpoints } = entry
  const message =
    endpointsOf(entry).length === 0
      ? `${package_name} names no endpoint at which it could be called.`
      : `${package_name} speaks no protocol that is spoken here.`
  return new Failure('not_callable', message, {
    hint: 'Read its card, or install it from its packages.',
    manifest_url,
    endpoints,
  })
}

function toAction(entry: EntryDetail, capability: Capability, options: ListedAgentOptions): Action {
  const { name, description, input_schema = {}, read_only = false } = capability
  return {
    ...common,
    name,
    title: name,
    description,
    input: inputBy(input_schema),
    advertised: true,
    run: (params, context) =>
      call(entry, { action: name, params: params as JsonObject, read_only }, context, options),
  }
}

const common = {
  output: anything,
  part: anything,
  access: { scope: 'a2a:call' },
  effect: 'call',
  deadline_ms,
} as const satisfies Partial<Action>

/** What A2A agents take beside what they say that they can do. */
const message: Capability = {
  name: listedActions.message,
  description: 'Takes a message in words or as data.',
  input_schema: {
    type: 'object',
    properties: { text: { type: 'string' }, data: {} },
    additionalProperties: false,
  },
}

const continuing = listedActions.continuation

const Continuation = z.strictObject({
  task_id: z.string().min(1).max(4000).describe('As it came with input_required.'),
  input: z
    .record(z.string(), z.unknown())
    .describe('What the agent asked for; {text} for an answer in words.'),
})
const continuation = input(Continuation)

function continueTask(entry: EntryDetail, options: ListedAgentOptions): Action {
  return {
    ...common,
    name: continuing,
    title: 'Continue a task',
    description: 'Answers what an agent asked before it went on.',
    input: continuation as Shape<unknown>,
    advertised: false,
    async run(given, context) {
      const { task_id, input: params } = given as z.infer<typeof Continuation>
      const task = openTask(task_id, { agent: entry.id, caller: callerOf(context) }, await options.secret())
      return await call(
        entry,
        { action: continuing, params: params as JsonObject, read_only: false, task },
        context,
        options,
      )
    },
  }
}

const Described = z.object({ capabilities: z.array(Capability) })

function describeAgent(entry: EntryDetail, options: ListedAgentOptions): Action {
  return {
    ...common,
    name: listedActions.description,
    title: 'List capabilities',
    description: 'What the agent itself says that it can do.',
    input: input(z.strictObject({})),
    output: output(Described),
    advertised: false,
    async run(_, context) {
      const { connected, remote } = await prepare(entry, context, options)
      const { describe } = connected.agent
      if (!describe) throw notCallable(entry)
      return { capabilities: await describe(remote) }
    },
  }
}

/** Params by the schema of a listed agent, which is hostile input itself; what it says wrongly is not held against params. */
function inputBy(schema: JsonSchema): Shape<unknown> {
  return {
    json: schema,
    parse(value) {
      const errors = isRecord(value)
        ? validate(schema, value)
        : [{ pointer: '', detail: 'This must be an object.' }]
      const [first] = errors
      if (!first) return value
      throw new Failure('invalid_request', `${first.pointer || 'The input'}: ${first.detail}`, { errors })
    },
  }
}

interface Asked {
  readonly action: string
  readonly params: JsonObject
  readonly read_only: boolean
  readonly task?: RemoteTask
}

async function call(
  entry: EntryDetail,
  asked: Asked,
  context: Context,
  options: ListedAgentOptions,
): Promise<Json> {
  const { connected, remote } = await prepare(entry, context, options)
  const { package_name, id } = entry
  const answer = await observed(package_name, options, () =>
    send(connected, asked, asked.task ? { ...remote, task: asked.task } : remote),
  )
  if ('refused' in answer) throw answer.refused
  if ('output' in answer) return unforged(package_name, sound(package_name, answer.output))
  const holder = { agent: id, caller: remote.caller }
  const required: InputRequired = {
    status: 'input_required',
    agent: package_name,
    task_id: sealTask(answer.waits, holder, await options.secret()),
    question: sound(package_name, answer.question) as InputRequired['question'],
  }
  return required as Json
}

/** What we say of a task that waits, nobody else says: by it, what a caller answers would go wherever it names. */
function unforged(packageName: string, output: Json): Json {
  if (!inputRequiredIn(output)) return output
  throw new Failure('upstream_invalid', `${packageName} asks back in a way that cannot be gone on with here.`)
}

/** The agent, and what each call to it takes along. Throws Failure `loop_detected` and `not_callable`. */
async function prepare(
  entry: EntryDetail,
  context: Context,
  options: ListedAgentOptions,
): Promise<{ readonly connected: Connected; readonly remote: RemoteCall }> {
  const { package_name } = entry
  if (context.via.includes(package_name)) {
    throw new Failure('loop_detected', `The call has passed ${package_name} already.`, {
      hint: `It went by ${context.via.join(', ')}.`,
    })
  }
  const connected = options.remotes.of(entry)
  if (!connected) throw notCallable(entry)
  const { url } = connected.endpoint
  const { principal, via, signal } = context
  const own = await options.headers({ entry, url, principal })
  const remote: RemoteCall = {
    signal,
    headers: { ...own, via: viaOf([...via, package_name]) },
    caller: callerOf(context),
    emit(update) {
      assertPlain(update)
      return context.emit(update)
    },
  }
  return { connected, remote }
}

async function observed(
  agent: string,
  { observe }: ListedAgentOptions,
  work: () => Promise<RemoteAnswer>,
): Promise<RemoteAnswer> {
  const started = performance.now()
  const done = (code: string) => observe(agent, code, (performance.now() - started) / 1000)
  try {
    const answer = await work()
    done('refused' in answer ? answer.refused.code : 'ok')
    return answer
  } catch (thrown) {
    done(Failure.from(thrown).code)
    throw thrown
  }
}

/** Once more where the agent says that the action changes nothing, and it did not get so far as to answer. */
async function send({ agent }: Connected, asked: Asked, remote: RemoteCall): Promise<RemoteAnswer> {
  const { action, params, read_only } = asked
  try {
    return await agent.call(action, params, remote)
  } catch (thrown) {
    const isBroken = thrown instanceof Failure && thrown.code === 'upstream_failed'
    const isRefused = isBroken && thrown.details.retry_after_s !== undefined
    if (!read_only || !isBroken || isRefused || remote.signal.aborted) throw thrown
    return await agent.call(action, params, remote)
  }
}

/** Tells callers apart for the other side, and says nothing of who they are. */
function callerOf({ principal }: Pick<Context, 'principal'>): string {
  return principal === null ? 'anonymous' : principalKey(principal)
}

import { z } from 'zod'
import type { Action, Agent, Context } from '../../schemas/action.ts'
import type { EntryDetail } from '../../schemas/card.ts'
import { Capability } from '../../schemas/entry-parts.ts'
import { Failure } from '../../schemas/failure.ts'
import { isRecord, type JsonObject, type JsonSchema } from '../../schemas/json.ts'
import { listedActions } from '../../schemas/names.ts'
import { input, output, type Shape } from '../../schemas/shape.ts'
import { InputRequired } from '../../schemas/task.ts'
import { AgentCalls, type AgentCallsOptions, isRefusal } from './agent-calls.ts'
import { inputSketch } from './input-sketch.ts'
import { validate } from './json-schema/json-schema.ts'
import { createRequestAction, createSubscription } from './mcp-request.ts'
import { descriptionCall } from './remote-agent.ts'

export interface ListedAgentOptions extends AgentCallsOptions {
  /** Milliseconds that one call may take in all. */
  readonly total_ms: number
}

const anything: Shape<unknown> = { json: {}, parse: (value) => value }

const common = {
  output: anything,
  part: anything,
  access: { scope: 'a2a:call' },
  effect: 'call',
} as const satisfies Partial<Action>

/** Every A2A agent accepts a message in addition to its skills. */
const messageCapability: Capability = {
  name: listedActions.message,
  description: 'Takes a message as text, as data, or as parts of A2A.',
  input_schema: {
    type: 'object',
    properties: { text: { type: 'string' }, data: {}, parts: { type: 'array', items: { type: 'object' } } },
    additionalProperties: false,
  },
}

const Continuation = z.strictObject({
  task_id: z
    .string()
    .min(1)
    .max(64 * 1024)
    .describe('As received with input_required.'),
  input: z
    .record(z.string(), z.unknown())
    .describe('What the agent asked for; {text} for an answer in words, {"action": "cancel"} to give up.'),
})
const continuation = input(Continuation)
const reference = input(Continuation.pick({ task_id: true }))

const Description = z.object({ capabilities: z.array(Capability) })

/** Listed agents as agents of the router. Throws Failure `not_callable` for an entry without a callable endpoint. */
export function createListedAgents(options: ListedAgentOptions): (entry: EntryDetail) => Agent {
  const cache = new WeakMap<EntryDetail, Agent>()
  return (entry) => {
    const cached = cache.get(entry)
    if (cached) return cached
    const agent = listedAgent(new AgentCalls(entry, options), options.total_ms)
    cache.set(entry, agent)
    return agent
  }
}

/** Its actions are its capabilities, and those by which callers reach the rest of it. */
function listedAgent(calls: AgentCalls, deadline_ms: number): Agent {
  const { agent, endpoint } = calls.connected()
  const { package_name, name, description, tags, capabilities, reading } = calls.entry
  const stated = capabilities.map((capability) => actionOf(capability, calls, deadline_ms))
  const statedNames = new Set(capabilities.flatMap((capability) => [capability.name, capability.id]))
  const added = [
    continueAction(calls, deadline_ms),
    ...(agent.cancel ? [followAction(calls, deadline_ms), cancelAction(calls)] : []),
    ...(agent.describe ? [describeAction(calls, deadline_ms)] : []),
    ...(agent.request ? [createRequestAction({ ...common, deadline_ms }, calls)] : []),
    ...(agent.listen ? [createSubscription(common, calls)] : []),
    ...(endpoint.protocol === 'a2a' ? [actionOf(messageCapability, calls, deadline_ms)] : []),
  ]
  const actions = [...stated, ...added.filter((action) => !statedNames.has(action.name))]
  // Any action name is passed on if the entry states none, or those that the registry read: a list that is read
  // without a credential may be cut, and shorter than that of a caller.
  const isOpen = capabilities.length === 0 || reading?.lists === true
  const open = (action: string) => actionOf({ name: action, description: '' }, calls, deadline_ms)
  return {
    package_name,
    name,
    description,
    tags,
    third_party: true,
    protocol: endpoint.protocol,
    actions,
    ...(isOpen && { open }),
  }
}

function actionOf(capability: Capability, calls: AgentCalls, deadline_ms: number): Action {
  const { name, id = name, title = name, description, input_schema = {}, read_only = false } = capability
  return {
    ...common,
    deadline_ms,
    name: id,
    ...(id !== name && { aliases: [name] }),
    title,
    description,
    input: inputOf(input_schema),
    advertised: true,
    run: (params, context) => calls.call({ action: id, params: params as JsonObject, read_only }, context),
  }
}

function continueAction(calls: AgentCalls, deadline_ms: number): Action {
  return {
    ...common,
    deadline_ms,
    name: listedActions.continuation,
    title: 'Continue a task',
    description: 'Answers the question of an agent, which then continues its task.',
    input: continuation as Shape<unknown>,
    advertised: false,
    async run(value, context) {
      const { task_id, input: params } = value as z.infer<typeof Continuation>
      const givesUp = calls.connected().agent.cancel !== undefined && isRefusal(params)
      if (givesUp) return await cancelled(task_id, calls, context)
      return await calls.continue(task_id, params as JsonObject, context)
    },
  }
}

function followAction(calls: AgentCalls, deadline_ms: number): Action {
  return {
    ...common,
    deadline_ms,
    name: listedActions.following,
    title: 'Follow a task',
    description: 'Waits for a task that the agent works on already.',
    input: reference as Shape<unknown>,
    advertised: false,
    run: (value, context) => calls.follow((value as z.infer<typeof Continuation>).task_id, context),
  }
}

/** Takes ten seconds at most, as actions do by default. */
function cancelAction(calls: AgentCalls): Action {
  return {
    ...common,
    name: listedActions.cancellation,
    title: 'Cancel a task',
    description: 'Cancels a task that waits for its caller: its question will not be answered.',
    input: reference as Shape<unknown>,
    advertised: false,
    run: (value, context) => cancelled((value as z.infer<typeof Continuation>).task_id, calls, context),
  }
}

async function cancelled(task_id: string, calls: AgentCalls, context: Context): Promise<JsonObject> {
  await calls.cancel(task_id, context)
  return { task_id, status: 'cancelled' }
}

function describeAction(calls: AgentCalls, deadline_ms: number): Action {
  return {
    ...common,
    deadline_ms,
    name: listedActions.description,
    title: 'List capabilities',
    description: 'The capabilities that the agent itself states.',
    input: input(z.strictObject({})),
    output: output(Description.or(InputRequired)),
    advertised: false,
    async run(_, context) {
      try {
        return { capabilities: await calls.describe(context) }
      } catch (thrown) {
        const isAsked = calls.connected().is_package && Failure.from(thrown).code === 'approval_required'
        if (!isAsked) throw thrown
        return await calls.call({ action: descriptionCall, params: {}, read_only: false }, context)
      }
    },
  }
}

/**
 * Validates params by the schema of a listed agent. The schema is hostile input; its own mistakes do not make params
 * invalid.
 */
function inputOf(schema: JsonSchema): Shape<unknown> {
  return {
    json: schema,
    parse(value) {
      const errors = isRecord(value)
        ? validate(schema, value)
        : [{ pointer: '', detail: 'This must be an object.' }]
      const [first] = errors
      if (!first) return value
      const sketch = inputSketch(schema)
      const unknown = undeclared(schema, value)
      const others = unknown.length > 0 ? ` It states no field ${unknown.join(', ')}.` : ''
      throw new Failure('invalid_request', `${first.pointer || 'The input'}: ${first.detail}`, {
        errors,
        ...(sketch !== undefined && { hint: `It takes ${sketch}.${others}` }),
      })
    },
  }
}

const maxNames = 3

/** The first fields of a value that its schema does not name: one may be a misspelt one that is missing. */
function undeclared({ properties }: JsonSchema, value: unknown): string[] {
  const declared = isRecord(properties) ? properties : {}
  const names = Object.keys(isRecord(value) ? value : {}).filter((name) => !Object.hasOwn(declared, name))
  return names.slice(0, maxNames).map((name) => name.slice(0, 100))
}

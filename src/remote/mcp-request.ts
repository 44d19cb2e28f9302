import { z } from 'zod'
import type { Action, Context } from '../../schemas/action.ts'
import { Failure } from '../../schemas/failure.ts'
import type { Json, JsonObject } from '../../schemas/json.ts'
import { listedActions } from '../../schemas/names.ts'
import { isPlain } from '../../schemas/plain.ts'
import { input, output, type Shape } from '../../schemas/shape.ts'
import type { InputRequired } from '../../schemas/task.ts'
import { canAnswer, isGivenUp } from '../common/mcp/questions.ts'
import type { AgentCalls } from './agent-calls.ts'
import { checkOutput, refuseForged } from './check-output.ts'
import { type InputRequiredResult, isQuestion, questionOf } from './mcp/continuation.ts'
import { isAccepted, openWaiting } from './sign-in.ts'
import { openTask, sealTask, type TaskHolder } from './task-reference.ts'

/** The requests of MCP that pass. None of them concerns the connection, which is the gateway's own. */
const methods = [
  'server/discover',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
] as const

const Request = z.strictObject({
  method: z.enum(methods).describe('Method of MCP.'),
  params: z.record(z.string(), z.json()).default({}).describe('Params of the method.'),
})
const Reply = z.union([
  z.object({ result: z.record(z.string(), z.json()) }),
  z.object({ error: z.object({ code: z.int(), message: z.string(), data: z.json().optional() }) }),
])

/** The action of a listed MCP server that passes one request on and its answer back, both as they are. */
export function createRequestAction(
  common: Pick<Action, 'part' | 'access' | 'effect' | 'deadline_ms'>,
  calls: AgentCalls,
): Action {
  const { package_name } = calls.entry
  return {
    ...common,
    name: listedActions.request,
    title: 'Send a request of MCP',
    description: 'Passes one request of MCP on to the agent, and its answer back.',
    input: input(Request) as Shape<unknown>,
    output: output(Reply) as Shape<unknown>,
    advertised: false,
    async run(value, context) {
      const { method, params } = value as { method: string; params: JsonObject }
      const holder = calls.holderOf(context)
      const key = await calls.secret()
      const { requestState: state, inputResponses, ...bare } = params
      const waiting = typeof state === 'string' ? openWaiting(state, holder, key) : undefined
      if (waiting && isGivenUp(inputResponses)) throw Failure.cancelled()
      if (waiting && isAccepted(inputResponses)) await calls.waitForSignIn(waiting.since, context)
      const sent = waiting ? bare : withState(params, (text) => opened(text, holder, key))
      const reply = await calls.request(method, sent, context)
      if ('refused' in reply) throw reply.refused
      const isListing = method === 'tools/list' && 'result' in reply
      const answer = isListing ? { result: withoutOdd(reply.result) } : reply
      const checked = checkOutput(package_name, answer as Json) as JsonObject
      if (!('result' in answer)) return checked
      const { result } = answer
      refuseForged(package_name, result.structuredContent)
      if (!isQuestion(result)) return checked
      const seal = (task_id: string) => sealTask({ task_id }, holder, key)
      return questionFor({ method, params }, result, package_name, seal, context)
    },
  }
}

/** A list of tools without those that no answer may hold: the others are listed. */
function withoutOdd(listing: JsonObject): JsonObject {
  const { tools } = listing
  if (!Array.isArray(tools)) return listing
  return { ...listing, tools: tools.filter((tool) => isPlain({ result: { tools: [tool] } })) }
}

const Filter = z.strictObject({
  toolsListChanged: z.boolean().optional(),
  promptsListChanged: z.boolean().optional(),
  resourcesListChanged: z.boolean().optional(),
  resourceSubscriptions: z.array(z.string().max(2000)).max(100).optional(),
})

/** The action of a listed MCP server that tells an MCP client of changes, until either of them ends it. */
export function createSubscription(
  common: Pick<Action, 'output' | 'part' | 'access' | 'effect'>,
  calls: AgentCalls,
): Action {
  return {
    ...common,
    name: listedActions.subscription,
    title: 'Subscribe to changes',
    description: 'Tells a client of MCP of changes of the lists and resources of the agent.',
    input: input(z.strictObject({ notifications: Filter })) as Shape<unknown>,
    advertised: false,
    deadline_ms: 'none',
    async run(value, context) {
      if (!context.notifyClient)
        throw new Failure('not_callable', 'Only MCP clients can subscribe to changes.')
      await calls.listen((value as { notifications: JsonObject }).notifications, context)
      return {}
    },
  }
}

/** The questions for a client that can answer them; for any other, a task that `continue_task` continues. */
function questionFor(
  { method, params }: { readonly method: string; readonly params: JsonObject },
  result: InputRequiredResult,
  agent: string,
  seal: (text: string) => string,
  { content }: Context,
): JsonObject {
  const { inputRequests = {} } = result
  const capabilities = content?.protocol === 'mcp' ? content.capabilities : undefined
  if (canAnswer(capabilities, inputRequests)) return { result: withState(result, seal) }
  const answer = questionOf(params, result)
  if (method !== 'tools/call' || !('task' in answer)) {
    throw new Failure('not_callable', `${agent} asks for input, which your client cannot give.`, {
      hint: 'State the capability elicitation.',
    })
  }
  const required: InputRequired = {
    status: 'input_required',
    agent,
    task_id: seal(answer.task.task_id),
    question: answer.question as InputRequired['question'],
  }
  const text = JSON.stringify(required)
  return { result: { content: [{ type: 'text', text }], structuredContent: required as Json } }
}

function withState(holder: JsonObject, change: (state: string) => string): JsonObject {
  const { requestState } = holder
  return typeof requestState === 'string' ? { ...holder, requestState: change(requestState) } : holder
}

function opened(state: string, holder: TaskHolder, secret: Uint8Array): string {
  try {
    return openTask(state, holder, secret).task_id
  } catch (fault) {
    throw new Failure(
      'invalid_request',
      'The requestState is not one that you received from this agent.',
      { errors: [{ pointer: '/requestState', detail: 'Send it as it came with the questions.' }] },
      fault,
    )
  }
}

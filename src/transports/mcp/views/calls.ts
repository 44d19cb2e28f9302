import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Content } from '../../../../schemas/content.ts'
import type { ContentMark } from '../../../../schemas/content-mark.ts'
import type { Envelope } from '../../../../schemas/envelope.ts'
import { Failure, problem } from '../../../../schemas/failure.ts'
import { isRecord, type Json, type JsonObject } from '../../../../schemas/json.ts'
import { listedActions } from '../../../../schemas/names.ts'
import { nearest } from '../../../../schemas/nearest.ts'
import { input as shapeOf } from '../../../../schemas/shape.ts'
import { areSeveral, type InputRequired, inputRequiredIn } from '../../../../schemas/task.ts'
import { canAnswer } from '../../../common/mcp/questions.ts'
import type { Call } from '../../../router/call.ts'
import { callerOf } from '../../../router/limiter.ts'
import { failureOf, type TransportContext } from '../../shared/transport-context.ts'
import { type ClientFacts, requestContent } from '../client-facts.ts'
import { Fault, faults } from '../protocol-2026/fault.ts'
import type { Exchange } from '../protocol-2026/protocol.ts'
import { callOf, invalidField, updates } from './ask.ts'
import { LongCalls } from './long-calls.ts'
import { type Answer, createPieces, defaultTokens } from './pieces.ts'
import type { FailedCall } from './results.ts'
import type { Tool } from './tools.ts'

/**
 * The outcome of a tool: the output of its action with its mark and what a listed agent said, the failure with the id of
 * the call, or the questions that come first.
 */
type Outcome =
  | { readonly output: Json; readonly mark?: ContentMark; readonly content?: Content }
  | FailedCall
  | { readonly question: QuestionResult }

/** A result that asks the client before the call goes on (SEP-2322). */
interface QuestionResult {
  readonly resultType: 'input_required'
  readonly inputRequests: JsonObject
  readonly requestState: string
}

/** Calls tools, for every protocol version. Throws Fault -32602 for an unknown tool. */
export type CallTool = (
  params: Readonly<Record<string, unknown>>,
  exchange: Exchange,
  facts: ClientFacts,
) => Promise<Outcome>

export function createCallTool(context: TransportContext, tools: ReadonlyMap<string, Tool>): CallTool {
  const pieces = createPieces(Date.now)
  const longCalls = new LongCalls<Outcome>()
  return async (params, exchange, facts) => {
    const { name, arguments: input = {}, _meta, requestState, inputResponses } = params
    if (typeof name !== 'string') throw invalidField('/name', 'This must be a string.')
    if (!isRecord(input)) throw invalidField('/arguments', 'This must be an object.')
    const tool = tools.get(name)
    if (!tool) throw unknownTool(name, namesOf(tools))
    const id = randomUUID()
    const failed = (thrown: unknown, agent?: string): Outcome => {
      const failure = failureOf(context, thrown)
      const question = requestState === undefined ? signInQuestion(failure, facts) : undefined
      return question ? { question } : { failure, id, agent }
    }
    try {
      const call = {
        ...(await callOf(exchange, id)),
        // What a host says of its user in `_meta` is for this gateway.
        content: requestContent(withoutRoots(facts), undefined),
        ...updates(_meta, exchange),
      }
      const { budget, cursor, rest } = budgetOf(tool, input)
      const holder = callerOf(call) ?? 'local'
      // The answer to a question continues its call, whatever the cursor by which it was asked.
      if (cursor !== undefined && requestState === undefined) {
        await context.count(call)
        const followed = await longCalls.follow(cursor, call, holder)
        return followed ? shown(followed) : pieces.next(cursor, holder, budget)
      }
      const first = tool.toEnvelope(rest)
      const envelope = requestState === undefined ? first : continued(first, requestState, inputResponses)
      const cut = (answer: Answer) => (tool.isPaged ? pieces.first(answer, holder, budget) : answer)
      const work = async (lasting: Call): Promise<Outcome> => {
        try {
          const { output, mark, content } = await context.dispatch(envelope, lasting).catch((thrown) => {
            throw withContent(thrown, cut)
          })
          const question = content && questionIn(content, output, facts)
          if (question) return { question }
          const passes = content && !inputRequiredIn(output)
          return cut({ output: withNext(output), ...(mark && { mark }), ...(passes && { content }) })
        } catch (thrown) {
          return failed(thrown, first.to)
        }
      }
      return tool.isPaged ? shown(await longCalls.run(call, holder, work)) : await work(call)
    } catch (thrown) {
      return failed(thrown)
    }
  }
}

/** The outcome of a call, or how its caller waits for it. */
function shown(result: { readonly outcome: Outcome } | { readonly cursor: string }): Outcome {
  if ('outcome' in result) return result.outcome
  return { output: { status: 'working', next_cursor: result.cursor, next: workingWords } }
}

const workingWords =
  'The agent still works on it. Call the tool call_agent with the same agent and action, and with cursor: next_cursor, to wait for the answer. Do not start the call again.'

/** Hosts tell the folders of their user without asking, which is not for an agent that a model chose. */
function withoutRoots({ capabilities: { roots: _, ...capabilities }, ...facts }: ClientFacts): ClientFacts {
  return { ...facts, capabilities }
}

/** What an agent said with its refusal is cut as an answer is. */
function withContent(thrown: unknown, cut: (answer: Answer) => Answer): unknown {
  if (!(thrown instanceof Failure) || !thrown.content) return thrown
  const { content } = cut({ output: null, content: thrown.content })
  return content ? Object.assign(thrown, { content }) : thrown
}

const Budget = z.object({
  max_tokens: z.int().min(50).max(1_000_000).default(defaultTokens),
  cursor: z.string().min(1).max(2000).optional(),
})
const budgetShape = shapeOf(Budget)

/** The size that the caller allows for an answer, the cursor of the piece that it asks for, and the other input. */
function budgetOf({ isPaged }: Tool, input: Record<string, unknown>) {
  if (!isPaged) return { budget: defaultTokens, rest: input }
  const { max_tokens, cursor, ...rest } = input
  const { max_tokens: budget, ...stated } = budgetShape.parse({ max_tokens, cursor })
  return { budget, ...stated, rest }
}

/** An answer that asks back states how to go on. */
export function withNext(output: Json): Json {
  const required = inputRequiredIn(output)
  return required ? { ...(output as JsonObject), next: nextOf(required) } : output
}

/** A model must not take the question for one of the gateway, nor answer it from everything that it knows. */
function nextOf({ status, agent, question }: InputRequired): string {
  const call = 'call the tool continue_task with this agent and task_id, and with input'
  const introduction = `${agent}, a third party, asks.`
  const find = `${introduction} Answer with what the user has told you for this task. Ask the user for anything else, and for each consent. Then ${call}`
  const { schema, url } = isRecord(question) ? question : {}
  if (status === 'auth_required')
    return `${introduction} Show its question to the user, who decides whether to sign in there; then ${call} {}.`
  if (url !== undefined)
    return `${introduction} Show its url to the user, who decides whether to open it; then ${call} {"action": "accept"}.`
  if (areSeveral(question))
    return `${find} {KEY: ANSWER} by the keys of the questions, each ANSWER an object by its schema.`
  if (schema !== undefined)
    return `${find} an object by the schema of the question, or {"action": "decline"}.`
  return `${find} {"text": "…"} for an answer in words, or {"action": "cancel"} to give the task up.`
}

/** The envelope that continues a call with the answers of the client. */
function continued({ to }: Envelope, task_id: unknown, inputResponses: unknown): Envelope {
  const input = { inputResponses }
  return { to, action: listedActions.continuation, params: { task_id, input } }
}

/**
 * The visit to a page of this gateway at which the user signs in to an agent (URL mode of elicitation); undefined if the
 * client does not offer it.
 */
export function signInQuestion(
  { message, details }: Failure,
  { capabilities }: ClientFacts,
): QuestionResult | undefined {
  const { sign_in_url, task_id } = details
  const { elicitation } = capabilities ?? {}
  const isOffered = isRecord(elicitation) && elicitation.url !== undefined
  if (sign_in_url === undefined || task_id === undefined || !isOffered) return undefined
  const params = { mode: 'url', message, url: sign_in_url, elicitationId: randomUUID() }
  return {
    resultType: 'input_required',
    inputRequests: { sign_in: { method: 'elicitation/create', params } },
    requestState: task_id,
  }
}

/** The questions of a listed agent, if the client can answer them. */
function questionIn(
  content: Content,
  output: Json,
  { capabilities }: ClientFacts,
): QuestionResult | undefined {
  const required = inputRequiredIn(output)
  if (!required || content.protocol !== 'mcp') return undefined
  const { inputRequests } = content.result
  if (!isRecord(inputRequests) || !canAnswer(capabilities, inputRequests)) return undefined
  return {
    resultType: 'input_required',
    inputRequests: inputRequests as JsonObject,
    requestState: required.task_id,
  }
}

/** Names of tools in the answer to a call of none of them. */
const maxNames = 20

/** The names that are listed: a tool may also be called by others. */
function namesOf(tools: ReadonlyMap<string, Tool>): string[] {
  return [...new Set([...tools.values()].map(({ listing }) => listing.name))]
}

/** Hosts show a model the message of an error alone, so it says what to call instead. */
function unknownTool(name: string, names: readonly string[]): Fault {
  const close = nearest(name, names)
  const calls = names.includes('call_agent') ? ' Actions of listed agents are called by call_agent.' : ''
  const all = `The tools are ${names.slice(0, maxNames).join(', ')}.${calls}`
  const hint = close.length > 0 ? `Did you mean ${close.join(', ')}?` : all
  const details = close.length > 0 ? { nearest: close } : { hint }
  const failure = new Failure('unknown_action', `The tool ${name} is unknown.`, details)
  return new Fault(faults.invalidParams, `${failure.message} ${hint}`, {
    data: problem(failure, randomUUID()),
  })
}

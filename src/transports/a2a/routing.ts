import type { Agent, Update } from '../../../schemas/action.ts'
import type { Content, RequestContent } from '../../../schemas/content.ts'
import { type ContentMark, contentMark } from '../../../schemas/content-mark.ts'
import type { Envelope } from '../../../schemas/envelope.ts'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord, type Json, type JsonObject } from '../../../schemas/json.ts'
import { listedActions, packageNameOf, registryName } from '../../../schemas/names.ts'
import { type InputRequired, inputRequiredIn, type Part, type StoredTask } from '../../../schemas/task.ts'
import type { Call, Reply } from '../../router/call.ts'
import { partsOf } from '../shared/content.ts'
import { stringify } from '../shared/stringify.ts'
import type { TransportContext } from '../shared/transport-context.ts'
import { refusal } from './protocol/error.ts'
import type { SendParams } from './protocol/params.ts'
import { type Hosted, type RoutedMessage, readContinuation, readMessage } from './read-message.ts'
import { Relay } from './relay.ts'
import type { A2aCall, Job, Tell, Work, WorkUpdate } from './work.ts'

/** Time for an agent to end a task that its caller cancels, in milliseconds. */
const cancel_ms = 10_000

/** The router behind A2A: one message is one dispatch, answered with a message or processed as a task. */
export function createRouting({ dispatch, agents }: Pick<TransportContext, 'dispatch' | 'agents'>): Work {
  const hosted: Hosted = new Map(agents.map((agent) => [agent.package_name, agent]))

  return {
    read(params, task, references = []): Job {
      const message = task ? readContinuation(params, task, hosted) : readMessage(params, hosted)
      const routed: RoutedMessage = references.length > 0 ? { ...message, references } : message
      const agent = packageNameOf(routed.envelope.to)
      // A listed agent that this gateway does not host may ask for input; then its answer is a task and not a
      // message.
      if (!hosted.has(agent)) {
        return { agent, run: (call, tell) => run(routed, call, tell) }
      }
      return {
        agent,
        async answer(call) {
          const { output, mark } = await dispatch(routed.envelope, call)
          return { parts: partsText(routed, output), ...metadataOf(mark) }
        },
        run: (call, tell) => run(routed, call, tell),
      }
    },
    resume(task) {
      const { id, context_id: contextId, upstream } = task
      const { agent: to, task_id = '' } = upstream ?? { agent: '' }
      const envelope: Envelope = { to, action: listedActions.following, params: { task_id } }
      const message = { messageId: id, role: 'ROLE_USER' as const, parts: [], contextId }
      return (call, tell) => run({ envelope, in_words: false, content: { message } }, call, tell, task)
    },
    async cancel({ upstream }, call) {
      if (!upstream) return
      const { agent: to, task_id } = upstream
      // An agent of A2A cancels its task; any other agent is told that nobody answers its question.
      const params = { task_id, input: { action: 'cancel' } }
      const envelope: Envelope = { to, action: listedActions.continuation, params }
      const signal = AbortSignal.any([call.signal, AbortSignal.timeout(cancel_ms)])
      // For its caller the task is cancelled too if its agent does not answer.
      await dispatch(envelope, { ...call, signal }).catch((thrown) => {
        const { message, details } = Failure.from(thrown)
        if (details.upstream?.code === 'TASK_NOT_CANCELABLE') throw refusal('TASK_NOT_CANCELABLE', message)
      })
    },
    async extendedCard(tenant, version, call) {
      const params = { a2a_version: version, ...(tenant !== undefined && { agent: tenant }) }
      const envelope: Envelope = { to: registryName, action: 'get_extended_card', params }
      const { output } = await dispatch(envelope, call).catch((thrown) => {
        const { code, message } = Failure.from(thrown)
        throw code === 'not_callable' ? refusal('UNSUPPORTED_OPERATION', message) : thrown
      })
      return stringify(output)
    },
  }

  /** A message that is refused before its action runs creates no task. */
  async function run(
    routed: RoutedMessage,
    call: A2aCall,
    take: Tell,
    resumed?: StoredTask,
  ): Promise<JsonObject | undefined> {
    const { envelope } = routed
    let refused: { readonly thrown: unknown } | undefined
    const tell: Tell = async (update) => {
      await take(update).catch((thrown) => {
        refused ??= { thrown }
        throw thrown
      })
    }
    const relay = new Relay(envelope.to, tell, resumed)
    // The events of an agent of A2A say when there is a task, and whether there is one.
    let isForeign = false
    const accepted = async ({ protocol, third_party }: Agent) => {
      isForeign = third_party === true
      if (protocol !== 'a2a') await tell({ state: 'TASK_STATE_WORKING' })
    }
    let streamed = false
    const emit = async (update: Update, content?: Content) => {
      if (content?.protocol === 'a2a') return await relay.update(content.event)
      await tell(workUpdateOf(update, streamed, isForeign))
      streamed ||= 'part' in update
    }
    const request = routed.content && requestContent(routed, routed.content, call)
    const inner: Call = { ...call, emit, receives: 'kept', accepted, ...(request && { content: request }) }
    try {
      const reply = await dispatch(envelope, inner)
      if (reply.content?.protocol === 'a2a') return await relay.finish(reply.content)
      await finish(routed, reply, tell)
      return undefined
    } catch (thrown) {
      // The task takes no more: not the agent's fault, and not to be told as its refusal.
      if (refused) throw refused.thrown
      if (!(thrown instanceof Failure)) throw thrown
      if (await waitForSignIn(envelope.to, thrown, tell)) return undefined
      if (thrown.content?.protocol !== 'a2a') throw thrown
      return await relay.finish(thrown.content)
    }
  }
}

/** Lets the task wait for its caller, who has to sign in to the agent; false for any other failure. */
async function waitForSignIn(agent: string, { message, details }: Failure, tell: Tell): Promise<boolean> {
  const { sign_in_url, task_id } = details
  if (sign_in_url === undefined || task_id === undefined) return false
  const data = { data: { sign_in_url }, mediaType: 'application/json' }
  await tell({
    state: 'TASK_STATE_AUTH_REQUIRED',
    parts: [{ text: message }, data],
    origin: { agent, task_id },
  })
  return true
}

/** Ends the task with the reply of an agent that does not speak A2A. */
async function finish(routed: RoutedMessage, { output, mark, content }: Reply, tell: Tell): Promise<void> {
  const { to, action } = routed.envelope
  const marked = metadataOf(mark)
  const asking = inputRequiredIn(output)
  if (asking) {
    const state = asking.status === 'auth_required' ? 'TASK_STATE_AUTH_REQUIRED' : 'TASK_STATE_INPUT_REQUIRED'
    const origin = { agent: to, task_id: asking.task_id }
    return await tell({ state, parts: questionOf(asking), ...marked, origin })
  }
  // Throws for an output that is too long, as at every transport.
  stringify(output)
  const parts = content ? partsOf(content) : outputParts(routed, output)
  await tell({ artifact: { artifactId: 'output', name: action, parts, ...marked }, last: true })
  await tell({ state: 'TASK_STATE_COMPLETED' })
}

/** A caller's message for an agent of A2A, as the caller sent it. */
function requestContent(
  { references }: RoutedMessage,
  params: SendParams,
  { extensions, streams }: A2aCall,
): RequestContent {
  const { message, metadata, configuration } = params
  return {
    protocol: 'a2a',
    message: plainFields(message),
    returns_immediately: streams === true || configuration?.returnImmediately === true,
    ...(metadata && { metadata: metadata as JsonObject }),
    ...(configuration?.acceptedOutputModes && { accepted_output_modes: configuration.acceptedOutputModes }),
    ...(references && { references }),
    ...(extensions !== undefined && { extensions }),
  }
}

/** ProtoJSON: a field of null is absent. */
function plainFields(message: SendParams['message']): JsonObject {
  return Object.fromEntries(Object.entries(message).filter(([, value]) => value != null)) as JsonObject
}

/** The mark of an output from a third party as metadata of its message or artifact. */
function metadataOf(mark: ContentMark | undefined): { metadata?: JsonObject } {
  return mark ? { metadata: { ...mark } } : {}
}

function workUpdateOf(update: Update, streamed: boolean, isForeign: boolean): WorkUpdate {
  const marked = metadataOf(isForeign ? contentMark(update) : undefined)
  if ('part' in update) {
    const parts = [{ data: update.part as Json, mediaType: 'application/json' }]
    return { artifact: { artifactId: 'parts', parts, ...marked }, append: streamed }
  }
  const { progress, total, message } = update
  const text = message ?? (total === undefined ? `${progress}` : `${progress} of ${total}`)
  return { state: 'TASK_STATE_WORKING', parts: [{ text }, { data: { ...update } }], ...marked }
}

/** The question as text, for callers that read no data, and as data. */
function questionOf({ question }: InputRequired): Part[] {
  const text = isRecord(question) && typeof question.text === 'string' ? question.text : undefined
  const isTextAlone = text !== undefined && isRecord(question) && Object.keys(question).length === 1
  const words = text === undefined ? [] : [{ text }]
  return isTextAlone ? words : [...words, { data: question, mediaType: 'application/json' }]
}

function outputParts({ in_words }: RoutedMessage, output: Json): Part[] {
  const data = { data: output, mediaType: 'application/json' }
  return in_words ? [data, words(output)] : [data]
}

/** The parts of the answer as JSON text; the text of a frozen output is cached. */
function partsText({ in_words }: RoutedMessage, output: Json): string {
  const more = in_words ? `,${JSON.stringify(words(output))}` : ''
  return `[{"data":${stringify(output)},"mediaType":"application/json"}${more}]`
}

function words(output: Json): Part {
  const { agents } = output as { agents: readonly { package_name: string; name: string }[] }
  const found = agents.map((agent) => `${agent.name} (${agent.package_name})`).join('\n')
  return { text: found || 'No agent was found.', mediaType: 'text/plain' }
}

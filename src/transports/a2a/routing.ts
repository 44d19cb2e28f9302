import type { Update } from '../../../schemas/action.ts'
import type { ContentMark } from '../../../schemas/content-mark.ts'
import type { Envelope } from '../../../schemas/envelope.ts'
import { isRecord, type Json, type JsonObject } from '../../../schemas/json.ts'
import { listedActions, packageNameOf } from '../../../schemas/names.ts'
import { type InputRequired, inputRequiredIn, type Part, type StoredTask } from '../../../schemas/task.ts'
import type { Call } from '../../router/call.ts'
import { stringify } from '../shared/stringify.ts'
import type { TransportContext } from '../shared/transport-context.ts'
import { invalidField, refusal } from './protocol/error.ts'
import type { RequestPart, SendParams } from './protocol/params.ts'
import type { Job, Tell, Work, WorkUpdate } from './work.ts'

const registry = 'svc.registry'

/** A message as an envelope for the router. */
interface RoutedMessage {
  readonly envelope: Envelope
  /** The message was text, so the answer contains text. */
  readonly in_words: boolean
}

/** The router behind A2A: one message is one dispatch, answered with a message or processed as a task. */
export function createRouting({ dispatch, agents }: Pick<TransportContext, 'dispatch' | 'agents'>): Work {
  const hosted = new Set(agents.map(({ package_name }) => package_name))

  return {
    read(params, task): Job {
      const routed = task ? readContinuation(params, task, hosted) : readMessage(params, hosted)
      // A listed agent that this gateway does not host may ask for input; then its answer is a task and not a
      // message.
      if (!hosted.has(packageNameOf(routed.envelope.to))) {
        return { run: (call, tell) => run(routed, call, tell) }
      }
      return {
        async answer(call) {
          const { output, mark } = await dispatch(routed.envelope, call)
          return { parts: partsText(routed, output), ...metadataOf(mark) }
        },
        run: (call, tell) => run(routed, call, tell),
      }
    },
    async extendedCard(tenant, version, call) {
      const params = { a2a_version: version, ...(tenant !== undefined && { agent: tenant }) }
      const { output } = await dispatch({ to: registry, action: 'get_extended_card', params }, call)
      return stringify(output)
    },
  }

  /** A message that is refused before its action runs creates no task. */
  async function run(routed: RoutedMessage, call: Call, tell: Tell): Promise<void> {
    const started = () => tell({ state: 'TASK_STATE_WORKING' })
    let streamed = false
    const emit = async (update: Update) => {
      await tell(workUpdateOf(update, streamed))
      streamed ||= 'part' in update
    }
    const inner: Call = { ...call, emit, receives: 'kept', accepted: started }
    const { output, mark } = await dispatch(routed.envelope, inner)
    const marked = metadataOf(mark)
    const { action } = routed.envelope
    const asking = inputRequiredIn(output)
    if (asking)
      return await tell({ state: 'TASK_STATE_INPUT_REQUIRED', parts: questionOf(asking), ...marked })
    // Throws for an output that is too long, as at every transport.
    stringify(output)
    await tell({
      artifact: { artifactId: 'output', name: action, parts: partsOf(routed, output), ...marked },
      last: true,
    })
    await tell({ state: 'TASK_STATE_COMPLETED' })
  }
}

/** The mark of an output from a third party as metadata of its message or artifact. */
function metadataOf(mark: ContentMark | undefined): { metadata?: JsonObject } {
  return mark ? { metadata: { ...mark } } : {}
}

function workUpdateOf(update: Update, streamed: boolean): WorkUpdate {
  if ('part' in update) {
    const parts = [{ data: update.part as Json, mediaType: 'application/json' }]
    return { artifact: { artifactId: 'parts', parts }, append: streamed }
  }
  const { progress, total, message } = update
  const text = message ?? (total === undefined ? `${progress}` : `${progress} of ${total}`)
  return { state: 'TASK_STATE_WORKING', parts: [{ text }, { data: { ...update } }] }
}

/** Reads the message of a SendMessageRequest. Throws Failure `invalid_request` and A2aRefusal. */
function readMessage({ tenant, message }: SendParams, hosted: ReadonlySet<string>): RoutedMessage {
  const to = tenant || registry
  if (!hosted.has(packageNameOf(to))) return readForeign(to, message)
  const data = message.parts.flatMap((part, index) => dataOf(part, index))
  if (data.length > 1) throw invalidField('/message/parts', 'Send one data part: each message is one call.')
  const [call] = data
  if (call !== undefined) return { envelope: { to, ...call } as Envelope, in_words: false }
  if (packageNameOf(to) !== registry) {
    throw refusal(
      'CONTENT_TYPE_NOT_SUPPORTED',
      `${to} does not accept text: send a data part {action, params}.`,
    )
  }
  const query = message.parts.map(({ text }) => text).join('\n')
  return { envelope: { to, action: 'search', params: { query } }, in_words: true }
}

/**
 * A message to an agent that is not hosted here: `{action, params}` as for hosted agents, or a skill in
 * `metadata.skillId` with the input as data or text.
 */
function readForeign(to: string, { parts, metadata }: SendParams['message']): RoutedMessage {
  const data = parts.flatMap((part, index) => dataOf(part, index))
  if (data.length > 1) throw invalidField('/message/parts', 'Send one data part: each message is one call.')
  const [call] = data
  if (typeof call?.action === 'string') return { envelope: { to, ...call } as Envelope, in_words: false }
  const skill = metadata?.skillId
  const text = parts.flatMap((part) => (typeof part.text === 'string' ? [part.text] : [])).join('\n')
  const words = text === '' ? {} : { text }
  if (typeof skill === 'string') {
    return { envelope: { to, action: skill, params: { ...words, ...call } }, in_words: false }
  }
  return {
    envelope: { to, action: listedActions.message, params: { ...words, ...(call && { data: call }) } },
    in_words: false,
  }
}

/** The answer to the question of an interrupted task, for the agent that asked. */
function readContinuation(
  params: SendParams,
  { message: question }: StoredTask,
  hosted: ReadonlySet<string>,
): RoutedMessage {
  const asking = question?.parts.map(({ data }) => inputRequiredIn(data)).find(Boolean)
  if (!asking) return readMessage(params, hosted)
  const { message } = params
  const data = message.parts.flatMap((part, index) => dataOf(part, index))
  const text = message.parts.map((part) => part.text ?? '').join('\n')
  const input = { ...(text && { text }), ...Object.assign({}, ...data.map(inputIn)) }
  const { agent, task_id } = asking
  return {
    envelope: { to: agent, action: listedActions.continuation, params: { task_id, input } },
    in_words: false,
  }
}

/** A caller that sends calls as data parts sends the answer in that form too. */
function inputIn({ action, params, ...rest }: Record<string, unknown>): Record<string, unknown> {
  if (typeof action === 'string' && isRecord(params)) return params
  return { ...rest, ...(action !== undefined && { action }), ...(params !== undefined && { params }) }
}

/** The question as text, for callers that read no data, and as data that the answer repeats. */
function questionOf(asking: InputRequired): Part[] {
  const { question } = asking
  const text = isRecord(question) && typeof question.text === 'string' ? question.text : undefined
  return [...(text === undefined ? [] : [{ text }]), { data: asking, mediaType: 'application/json' }]
}

function dataOf({ text, data, raw, url }: RequestPart, index: number): Record<string, unknown>[] {
  const at = `/message/parts/${index}`
  if ([text, data, raw, url].filter((field) => field !== undefined).length !== 1) {
    throw invalidField(at, 'A part holds either text or data.')
  }
  if (raw !== undefined || url !== undefined) {
    throw refusal('CONTENT_TYPE_NOT_SUPPORTED', 'Parts must be text or data, not files.')
  }
  if (data === undefined) {
    if (typeof text !== 'string') throw invalidField(`${at}/text`, 'This must be a string.')
    return []
  }
  if (!isRecord(data)) throw invalidField(`${at}/data`, 'Send an object {action, params}.')
  return [data]
}

function partsOf({ in_words }: RoutedMessage, output: Json): Part[] {
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

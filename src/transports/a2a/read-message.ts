import type { Agent } from '../../../schemas/action.ts'
import { Envelope } from '../../../schemas/envelope.ts'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord, type Json, type JsonObject } from '../../../schemas/json.ts'
import { listedActions, packageNameOf, registryName } from '../../../schemas/names.ts'
import type { StoredTask } from '../../../schemas/task.ts'
import { refusal } from './protocol/error.ts'
import type { RequestPart, SendParams } from './protocol/params.ts'

/** A message as an envelope for the router. */
export interface RoutedMessage {
  readonly envelope: Envelope
  /** The message was text, so the answer contains text. */
  readonly in_words: boolean
  /** The message itself, where an agent of A2A receives it as it is. */
  readonly content?: SendParams
  /** The agent's references of the tasks to which the message refers. */
  readonly references?: readonly string[]
}

/** The agents of this gateway by their names. */
export type Hosted = ReadonlyMap<string, Agent>

/** Reads the message of a SendMessageRequest. Throws Failure `invalid_request` and A2aRefusal. */
export function readMessage(params: SendParams, hosted: Hosted): RoutedMessage {
  const { tenant, message } = params
  const to = tenant || registryName
  if (!hosted.has(packageNameOf(to))) return readForeign(to, params)
  const data = message.parts.flatMap((part, index) => dataOf(part, index))
  if (data.length > 1)
    throw Failure.invalidField('/message/parts', 'Send one data part: each message is one call.')
  const [call] = data
  if (call !== undefined) return { envelope: { to, ...call } as Envelope, in_words: false }
  if (packageNameOf(to) !== registryName) {
    const { actions = [] } = hosted.get(packageNameOf(to)) ?? {}
    const names = actions.filter(({ advertised }) => advertised).map(({ name }) => name)
    throw refusal(
      'CONTENT_TYPE_NOT_SUPPORTED',
      `${to} does not accept text: send a data part {"action": …, "params": {…}}. It has: ${names.join(', ')}.`,
    )
  }
  const query = message.parts.map(({ text }) => text).join('\n')
  return { envelope: { to, action: 'search', params: { query } }, in_words: true }
}

/**
 * A message to an agent that is not hosted here: a message as the caller sent it, for the skill in `metadata.skillId` if
 * there is one, or without one `{action, params}` as for hosted agents. Agents of other protocols get its text and its
 * data, or all parts.
 */
function readForeign(to: string, params: SendParams): RoutedMessage {
  const { parts, metadata } = params.message
  for (const [index, part] of parts.entries()) assertOneKind(part, index)
  const skill = metadata?.skillId
  const input = inputOf(parts)
  if (typeof skill !== 'string') {
    const call = callIn(parts)
    if (call) return { envelope: { to, ...call } as Envelope, in_words: false }
    return {
      envelope: { to, action: listedActions.message, params: input },
      in_words: false,
      content: params,
    }
  }
  const { data, ...rest } = input
  const flat = isRecord(data) ? { ...rest, ...(data as JsonObject) } : input
  return { envelope: { to, action: skill, params: flat }, in_words: false, content: params }
}

/** The one data part `{action, params}`; any other field makes it data of a message. */
function callIn(parts: readonly RequestPart[]): Record<string, unknown> | undefined {
  const data = parts.flatMap(({ data }) => (isRecord(data) ? [data] : []))
  const [call] = data
  if (data.length !== 1 || typeof call?.action !== 'string') return undefined
  return Object.keys(call).every((field) => Object.hasOwn(Envelope.shape, field)) ? call : undefined
}

/** The parts as params: the text and the one data part, or all parts where there are others. */
function inputOf(parts: readonly RequestPart[]): JsonObject {
  const data = parts.flatMap((part) => (part.data === undefined ? [] : [part.data as Json]))
  const texts = parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
  if (data.length > 1 || data.length + texts.length < parts.length) return { parts: parts as readonly Json[] }
  const [value] = data
  return {
    ...(texts.length > 0 && { text: texts.join('\n') }),
    ...(value !== undefined && { data: value }),
  }
}

/** The answer to the question of an interrupted task, for the agent that asked. */
export function readContinuation(
  params: SendParams,
  { upstream }: StoredTask,
  hosted: Hosted,
): RoutedMessage {
  if (!upstream) return readMessage(params, hosted)
  const { parts } = params.message
  for (const [index, part] of parts.entries()) assertOneKind(part, index)
  const { agent: to, task_id } = upstream
  const call = callIn(parts)
  const { data, ...rest } = inputOf(parts)
  const answer = isRecord(data)
    ? { ...rest, ...inputIn(data) }
    : { ...rest, ...(data !== undefined && { data }) }
  const envelope = {
    to,
    action: listedActions.continuation,
    params: { task_id, input: answer as JsonObject },
  }
  return call ? { envelope, in_words: false } : { envelope, in_words: false, content: params }
}

/** A caller that sends calls as data parts sends the answer in that form too. */
function inputIn({ action, params, ...rest }: Record<string, unknown>): Record<string, unknown> {
  if (typeof action === 'string' && isRecord(params)) return params
  return { ...rest, ...(action !== undefined && { action }), ...(params !== undefined && { params }) }
}

/** Section 4.1.6: a part has one content. */
function assertOneKind({ text, data, raw, url }: RequestPart, index: number): void {
  if ([text, data, raw, url].filter((field) => field !== undefined).length === 1) return
  throw Failure.invalidField(
    `/message/parts/${index}`,
    'A part holds one of text, data, raw and url; in 0.3 its kind is text, data or file.',
  )
}

function dataOf(part: RequestPart, index: number): Record<string, unknown>[] {
  const { text, data, raw, url } = part
  const at = `/message/parts/${index}`
  assertOneKind(part, index)
  if (raw !== undefined || url !== undefined) {
    throw refusal('CONTENT_TYPE_NOT_SUPPORTED', 'Parts must be text or data, not files.')
  }
  if (data === undefined) {
    if (typeof text !== 'string') throw Failure.invalidField(`${at}/text`, 'This must be a string.')
    return []
  }
  if (!isRecord(data)) throw Failure.invalidField(`${at}/data`, 'Send an object {action, params}.')
  return [data]
}

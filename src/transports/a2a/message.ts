import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Envelope } from '../../../schemas/envelope.ts'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord, type Json } from '../../../schemas/json.ts'
import { packageNameOf } from '../../../schemas/names.ts'
import { input } from '../../../schemas/shape.ts'
import { stringify } from '../stringify.ts'
import { Refusal } from './error.ts'
import { refusals } from './operations.ts'

const registry = 'svc.registry'

/** ProtoJSON: an absent field, null and the empty text are the same. */
const name = z.string().max(256).nullish()

const Part = z.object({ text: z.unknown(), data: z.unknown(), raw: z.unknown(), url: z.unknown() }).partial()
type Part = z.infer<typeof Part>

/** What of a SendMessageRequest (section 3.2.1) is minded here; other fields are ignored, as section 5.7 asks. */
const request = input(
  z.object({
    tenant: name,
    message: z.object({
      messageId: z.string().min(1).max(256),
      role: z.literal('ROLE_USER'),
      contextId: name,
      taskId: name,
      parts: z.array(Part).min(1).max(100),
    }),
    configuration: z.object({ taskPushNotificationConfig: z.unknown().optional() }).nullish(),
  }),
)

/** A message as the router takes it. */
export interface Asked {
  readonly envelope: Envelope
  readonly contextId: string
  /** It was asked in words, so some of the answer is in words. */
  readonly inWords: boolean
}

/** Reads the params of SendMessage. Throws Failure `invalid_request` and Refusal. */
export function readMessage(params: unknown): Asked {
  const { tenant, message, configuration } = request.parse(params)
  if (message.taskId) throw refusal('TASK_NOT_FOUND')
  if (configuration?.taskPushNotificationConfig) throw refusal('PUSH_NOTIFICATION_NOT_SUPPORTED')
  const to = tenant || registry
  const contextId = message.contextId || randomUUID()
  const data = message.parts.flatMap((part, index) => dataOf(part, index))
  if (data.length > 1) throw unsound('/message/parts', 'Send one data part: one message is one call.')
  const [call] = data
  if (call !== undefined) return { envelope: { to, ...call } as Envelope, contextId, inWords: false }
  if (packageNameOf(to) !== registry) {
    const why = `${to} reads no text: send a data part {action, params}.`
    throw new Refusal('CONTENT_TYPE_NOT_SUPPORTED', why)
  }
  const query = message.parts.map(({ text }) => text).join('\n')
  return { envelope: { to, action: 'search', params: { query } }, contextId, inWords: true }
}

function dataOf({ text, data, raw, url }: Part, index: number): Record<string, unknown>[] {
  const at = `/message/parts/${index}`
  if ([text, data, raw, url].filter((one) => one !== undefined).length !== 1) {
    throw unsound(at, 'A part is either text or data.')
  }
  if (raw !== undefined || url !== undefined) {
    throw new Refusal('CONTENT_TYPE_NOT_SUPPORTED', 'Parts are read as text or data, not as files.')
  }
  if (data === undefined) {
    if (typeof text !== 'string') throw unsound(`${at}/text`, 'This must be a string.')
    return []
  }
  if (!isRecord(data)) throw unsound(`${at}/data`, 'Send an object {action, params}.')
  return [data]
}

/** A SendMessageResponse as JSON text: a message of the output, and in words what a search found. */
export function writeMessage({ contextId, inWords }: Asked, output: Json): string {
  const words = inWords ? `,${JSON.stringify({ text: summary(output), mediaType: 'text/plain' })}` : ''
  const head = JSON.stringify({ messageId: randomUUID(), contextId, role: 'ROLE_AGENT' }).slice(0, -1)
  const parts = `{"data":${stringify(output)},"mediaType":"application/json"}${words}`
  return `{"message":${head},"parts":[${parts}]}}`
}

function summary(output: Json): string {
  const { agents } = output as { agents: readonly { package_name: string; name: string }[] }
  if (agents.length === 0) return 'No agent was found.'
  return agents.map((agent) => `${agent.name} (${agent.package_name})`).join('\n')
}

function refusal(reason: keyof typeof refusals): Refusal {
  return new Refusal(reason, refusals[reason])
}

function unsound(pointer: string, detail: string): Failure {
  return new Failure('invalid_request', `${pointer}: ${detail}`, { errors: [{ pointer, detail }] })
}

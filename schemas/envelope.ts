import { z } from 'zod'
import { isRecord } from './json.ts'
import { input } from './shape.ts'

/** What a sender calls something by; it travels in headers, so it is visible ASCII. */
const senderName = z.string().regex(/^[\x21-\x7e]{1,128}$/)

/** The A2A envelope: who is asked, to do what, with which params. */
export const Envelope = z.strictObject({
  to: z
    .string()
    .min(1)
    .max(220)
    .describe('Package name or A2A address of the agent, such as custom.svc.registry.'),
  action: z.string().min(1).max(200).describe('Name of the action, such as search.'),
  params: z.record(z.string(), z.unknown()).default({}).describe('Input of the action.'),
  message_id: senderName
    .optional()
    .describe('What the sender calls this message by; it comes back with the answer.'),
  reply_to: senderName
    .optional()
    .describe('Where the sender wants the answer to go; it comes back with the answer, unread.'),
})

const example: z.input<typeof Envelope> = {
  to: 'custom.svc.registry',
  action: 'search',
  params: { query: 'read a web page', limit: 3 },
}
export type Envelope = z.input<typeof Envelope>

export const envelopeShape = input(Envelope.meta({ examples: [example] }))

/** What of an envelope comes back with its answer, whether it goes well or not. */
export interface Echo {
  readonly message_id?: string
  readonly reply_to?: string
}

/** The sender's own names in what claims to be an envelope; a name that is not sound is left out. */
export function echoOf(envelope: unknown): Echo {
  if (!isRecord(envelope)) return {}
  const { message_id, reply_to } = envelope
  return { ...(isName(message_id) && { message_id }), ...(isName(reply_to) && { reply_to }) }
}

function isName(value: unknown): value is string {
  return value !== undefined && senderName.safeParse(value).success
}

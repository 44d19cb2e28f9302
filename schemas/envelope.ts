import { z } from 'zod'
import { isRecord } from './json.ts'
import { input } from './shape.ts'

/** A sender's identifier; it travels in headers, so it is visible ASCII. */
const senderName = z
  .string()
  .regex(/^[\x21-\x7e]{1,128}$/, 'Use 1 to 128 visible ASCII characters, without spaces.')

const maxTo = 220
const maxAction = 200

/** The A2A envelope: the agent, the action and its params. */
export const Envelope = z.strictObject({
  to: z
    .string()
    .min(1)
    .max(maxTo)
    .describe('Package name or A2A address of the agent, such as custom.svc.registry.'),
  action: z.string().min(1).max(maxAction).describe('Name of the action, such as search.'),
  params: z.record(z.string(), z.unknown()).default({}).describe('Input of the action.'),
  message_id: senderName.optional().describe('Identifier of this message; the answer repeats it.'),
  reply_to: senderName
    .optional()
    .describe(
      'The address to which the sender wants the answer. The answer repeats it; the gateway does not use it.',
    ),
})

const example: z.input<typeof Envelope> = {
  to: 'custom.svc.registry',
  action: 'search',
  params: { query: 'read a web page', limit: 3 },
}
export type Envelope = z.input<typeof Envelope>

export const envelopeShape = input(Envelope.meta({ examples: [example] }))

/**
 * The envelope with its defaults. Throws Failure `invalid_request`. Most envelopes have three fields, which are checked
 * by hand in a tenth of the time of their type.
 */
export function readEnvelope(value: Envelope): z.output<typeof Envelope> {
  return isPlainEnvelope(value) ? value : envelopeShape.parse(value)
}

function isPlainEnvelope(value: unknown): value is z.output<typeof Envelope> {
  if (!isRecord(value)) return false
  const { to, action, params } = value
  if (typeof to !== 'string' || typeof action !== 'string' || !isRecord(params)) return false
  if (to === '' || to.length > maxTo || action === '' || action.length > maxAction) return false
  return Object.keys(value).length === 3
}

/** The members of an envelope that its answer repeats, successful or not. */
export interface Echo {
  readonly message_id?: string
  readonly reply_to?: string
}

/** The identifiers in a value that may be an envelope; invalid ones are left out. */
export function echoOf(envelope: unknown): Echo {
  if (!isRecord(envelope)) return {}
  const { message_id, reply_to } = envelope
  return { ...(isName(message_id) && { message_id }), ...(isName(reply_to) && { reply_to }) }
}

function isName(value: unknown): value is string {
  return value !== undefined && senderName.safeParse(value).success
}

import { z } from 'zod'
import { input } from './shape.ts'

/** The A2A envelope: who is asked, to do what, with which params. */
export const Envelope = z.strictObject({
  to: z
    .string()
    .min(1)
    .max(220)
    .describe('Package name or A2A address of the agent, such as custom.svc.registry.'),
  action: z.string().min(1).max(200).describe('Name of the action, such as search.'),
  params: z.record(z.string(), z.unknown()).default({}).describe('Input of the action.'),
})

const example: z.input<typeof Envelope> = {
  to: 'custom.svc.registry',
  action: 'search',
  params: { query: 'read a web page', limit: 3 },
}
export type Envelope = z.input<typeof Envelope>

export const envelopeShape = input(Envelope.meta({ examples: [example] }))

import { z } from 'zod'

/** An agent that still answers, but that nobody should begin to use. */
export const Deprecation = z.object({
  message: z.string().nullable().describe('Why, or what to do instead.'),
  successor: z.string().nullable().describe('Package name of the agent that takes its place.'),
  at: z.iso.datetime(),
})
export type Deprecation = z.infer<typeof Deprecation>

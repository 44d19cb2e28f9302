import { z } from 'zod'

/** An agent that still answers, but should not get new users. */
export const Deprecation = z
  .object({
    message: z.string().nullable().describe('The reason, or what to do instead.'),
    successor: z.string().nullable().describe('Package name of its successor.'),
    at: z.iso.datetime(),
  })
  .meta({ id: 'Deprecation' })
export type Deprecation = z.infer<typeof Deprecation>

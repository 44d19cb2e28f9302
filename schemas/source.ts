import { z } from 'zod'

/** Where an answer of a hosted agent comes from. */
export const Source = z
  .object({ name: z.string(), url: z.string(), provider: z.string() })
  .meta({ id: 'Source' })

/** Whether an answer was cached, and for how long. */
export const CacheState = z
  .object({ hit: z.boolean(), age_s: z.int().nonnegative(), stale: z.boolean() })
  .meta({ id: 'CacheState' })

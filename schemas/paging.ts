import { z } from 'zod'

/** The field `limit` of a request for a page. */
export const limit: z.ZodDefault<z.ZodInt> = z.int().min(1).max(100).default(20)

/** The field `cursor` of a request for a page of a list. */
export const cursor: z.ZodOptional<z.ZodString> = z
  .string()
  .max(2000)
  .optional()
  .describe('next_cursor of the previous page.')

/** The field `next_cursor` of a page. */
export const nextCursor: z.ZodNullable<z.ZodString> = z.string().nullable().describe('Null on the last page.')

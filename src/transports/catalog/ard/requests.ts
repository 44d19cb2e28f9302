import { z } from 'zod'
import { input } from '../../../../schemas/shape.ts'

/** The requests of ARD 0.91, sections 7.1 to 7.4. Members that it does not define are ignored. */

const maxPage = 100
const values = z.union([z.string().max(1000), z.array(z.string().max(1000)).max(100)])
const filter = z
  .record(z.string().max(200), values)
  .refine((paths) => Object.keys(paths).length <= 20, 'At most 20 paths.')
const pageToken = z.string().max(2000).nullish()
const text = z.string().trim().min(1).max(1000)

export const SearchRequest = input(
  z.object({
    query: z.object({ text, filter: filter.nullish() }),
    federation: z.enum(['auto', 'referrals', 'none']).nullish(),
    pageSize: z.int().min(1).max(maxPage).nullish(),
    pageToken,
  }),
)

export const ExploreRequest = input(
  z.object({
    query: z.object({ text: text.nullish(), filter: filter.nullish() }).nullish(),
    resultType: z.object({
      facets: z
        .array(
          z.object({
            field: z.string().max(200),
            limit: z.int().min(1).max(1000).nullish(),
            minCount: z.int().min(0).nullish(),
          }),
        )
        .min(1)
        .max(20),
    }),
  }),
)

/** The query parameters of the list, as texts. */
export const ListRequest = input(
  z.object({
    filter: z.string().optional(),
    orderBy: z.string().max(100).optional(),
    pageSize: z.coerce.number().int().min(1).max(maxPage).default(20),
    pageToken: z.string().max(2000).optional(),
  }),
)

import { z } from 'zod'

/** The kinds of rows that the registry may store of a person. */
export const PersonalTable = z
  .enum([
    'entries',
    'offers',
    'audit',
    'api_keys',
    'tasks',
    'sessions',
    'credentials',
    'approvals',
    'webhooks',
    'repeated_calls',
    'usage',
    'sign_ins',
  ])
  .meta({ id: 'PersonalTable' })
export type PersonalTable = z.infer<typeof PersonalTable>

/** The person whose data is meant; the caller when absent. */
export interface PersonReference {
  readonly subject?: string | undefined
  readonly issuer?: string | undefined
}

export const PersonalDataPage = z
  .object({
    table: PersonalTable,
    rows: z.array(z.record(z.string(), z.unknown())),
    total: z.int(),
    next_cursor: z.string().nullable(),
  })
  .meta({ id: 'PersonalDataPage' })
export type PersonalDataPage = z.infer<typeof PersonalDataPage>

import { z } from 'zod'
import { nextCursor } from './paging.ts'
import { Issuer, Subject } from './scope.ts'

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

const person = {
  subject: Subject.optional().describe(
    'Subject of the tokens of the person; your own when absent. Another one needs admin.',
  ),
  issuer: Issuer.optional().describe("Issuer of those tokens; this gateway's own when absent."),
}

/** Which page of the rows of a person in a table. */
export const PersonalDataRange = z.strictObject({
  ...person,
  table: PersonalTable.default('entries'),
  cursor: z.string().max(500).optional(),
})
export type PersonalDataRange = z.output<typeof PersonalDataRange>

export const PersonalDataDeletion = z.strictObject({
  ...person,
  confirm: z.literal(true).describe('This cannot be undone.'),
})
export type PersonalDataDeletion = z.output<typeof PersonalDataDeletion>

export const DeletedPersonalData = z.object({
  pseudonym: z.string().describe('The name that the logs have in the place of yours.'),
  deleted_agents: z.int(),
})
export type DeletedPersonalData = z.infer<typeof DeletedPersonalData>

export const PersonalDataPage = z
  .object({
    table: PersonalTable,
    rows: z.array(z.record(z.string(), z.unknown())),
    total: z.int(),
    next_cursor: nextCursor,
  })
  .meta({ id: 'PersonalDataPage' })
export type PersonalDataPage = z.infer<typeof PersonalDataPage>

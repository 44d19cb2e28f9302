import { z } from 'zod'
import { State } from './entry-parts.ts'
import { cursor, limit, nextCursor } from './paging.ts'
import { agentReference, expectedRevision } from './publication.ts'
import { visible } from './text.ts'
import { Actor, Party, Suspension } from './trust.ts'

/** Who hides an agent: an admin, or its mirrored source, which removed it. */
export const SuspendedBy = z.enum(['admin', 'source'])
export type SuspendedBy = z.infer<typeof SuspendedBy>

/** A suspension, or its end. */
export const SuspensionInput = z
  .strictObject({
    agent: agentReference,
    reason: visible(z.string().trim().min(1).max(1000))
      .optional()
      .describe('Required for a suspension. The owner sees this text, and the log keeps it.'),
    suspended: z.boolean().default(true).describe('False lifts the suspension.'),
    expected_revision: expectedRevision,
  })
  .refine(({ suspended, reason }) => !suspended || reason !== undefined, {
    path: ['reason'],
    error: 'A suspension needs a reason: the owner sees it.',
  })
  .meta({
    anyOf: [
      { required: ['reason'] },
      { required: ['suspended'], properties: { suspended: { const: false } } },
    ],
  })
export type SuspensionInput = z.output<typeof SuspensionInput>

/** Which page of the suspended agents. */
export const SuspensionRange = z.strictObject({
  by: SuspendedBy.default('admin').describe(
    'admin: suspended by an admin. source: hidden by a mirror, because its source removed them.',
  ),
  limit,
  cursor,
})
export type SuspensionRange = z.output<typeof SuspensionRange>

const SuspendedAgent = z
  .object({
    id: z.uuid(),
    package_name: z.string(),
    name: z.string(),
    owner: Party.nullable(),
    state: State.describe('Its state once the suspension is lifted.'),
    deleted: z
      .boolean()
      .describe('Its owner has deleted it; the suspension still keeps its name from being used.'),
    suspended: Suspension,
    suspended_by: Actor.describe(
      'Null for a mirror, and where the audit log does not have the event any more.',
    ),
  })
  .meta({ id: 'SuspendedAgent' })

export const SuspensionPage = z
  .object({
    agents: z.array(SuspendedAgent),
    next_cursor: nextCursor,
  })
  .meta({ id: 'SuspensionPage' })
export type SuspensionPage = z.infer<typeof SuspensionPage>

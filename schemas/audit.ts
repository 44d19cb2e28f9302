import { z } from 'zod'
import { cursor, limit, nextCursor } from './paging.ts'
import { agentReference } from './publication.ts'
import { Actor } from './trust.ts'

/** An action on an entry; the actor is null for an action of the gateway itself. */
export interface AuditAction {
  readonly actor: Actor
  readonly action: string
  readonly reason?: string
}

const Fields = z.record(z.string(), z.unknown()).nullable()

/** One event of an agent's audit log. For a change, `before` and `after` contain the fields that differ. */
export const AuditEvent = z
  .object({
    id: z.int(),
    at: z.iso.datetime(),
    action: z.string(),
    actor: Actor,
    reason: z.string().nullable(),
    revision: z
      .int()
      .nullable()
      .describe('Revision of the registry change; null if the entry did not change.'),
    before: Fields,
    after: Fields,
  })
  .meta({ id: 'AuditEvent' })
export type AuditEvent = z.infer<typeof AuditEvent>

/** An event in the log of the whole registry, with its agent. */
export const RegistryEvent = AuditEvent.extend({
  agent: z.string().describe('Id of the agent.'),
  package_name: z.string().nullable().describe('Name of the agent; null if the agent was removed.'),
}).meta({ id: 'RegistryEvent' })
export type RegistryEvent = z.infer<typeof RegistryEvent>

/** Which page of the log of an agent. */
export const AuditRange = z.strictObject({ agent: agentReference, limit, cursor })
export type AuditRange = z.output<typeof AuditRange>

export const AuditPage = z
  .object({ events: z.array(AuditEvent), next_cursor: nextCursor })
  .meta({ id: 'AuditPage' })
export type AuditPage = z.infer<typeof AuditPage>

/** Which page of the log of all agents. */
export const RegistryEventRange = z.strictObject({
  action: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe('Only events of this action, such as report, suspend or publish.'),
  limit,
  cursor,
})
export type RegistryEventRange = z.output<typeof RegistryEventRange>

export const RegistryEventPage = z
  .object({ events: z.array(RegistryEvent), next_cursor: nextCursor })
  .meta({ id: 'RegistryEventPage' })
export type RegistryEventPage = z.infer<typeof RegistryEventPage>

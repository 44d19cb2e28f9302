import { z } from 'zod'
import { Entry } from './entry.ts'

/**
 * The effect of a change on the public view. `listed`: the entry is new or changed. `unlisted`: it is hidden.
 * `deleted`: it is removed. `liveness`: its liveness status changed.
 */
export const ChangeKind = z.enum(['listed', 'unlisted', 'deleted', 'liveness']).meta({ id: 'ChangeKind' })
export type ChangeKind = z.infer<typeof ChangeKind>

const shared = {
  revision: z
    .int()
    .describe('Revision of the registry. Each change has its own; a later one replaces an earlier one.'),
  at: z.iso.datetime(),
  id: z.uuid(),
  package_name: z.string(),
}

/** One change of the registry in the change feed. An entry appears at its newest revision only. */
export const RegistryChange = z
  .discriminatedUnion('kind', [
    z
      .object({
        ...shared,
        kind: z.literal('listed'),
        agent: Entry.describe('The current entry; it replaces your copy.'),
      })
      .meta({ id: 'Listed' }),
    z.object({ ...shared, kind: z.enum(['unlisted', 'deleted']) }).meta({ id: 'Unlisted' }),
    z
      .object({
        ...shared,
        kind: z.literal('liveness'),
        ...Entry.pick({ liveness: true, callable: true, callable_reason: true }).shape,
      })
      .meta({ id: 'LivenessChanged' }),
  ])
  .meta({ id: 'Change' })
export type RegistryChange = z.infer<typeof RegistryChange>

/** The changes after a revision, in order. */
export const ChangePage = z
  .object({
    changes: z.array(RegistryChange),
    next_since: z.int().describe('Send this as since to get the next page.'),
    revision: z
      .int()
      .describe('Current revision of the registry. You have all changes once next_since equals it.'),
    more: z.boolean().describe('More changes exist; request the next page at once.'),
  })
  .meta({ id: 'ChangePage' })
export type ChangePage = z.infer<typeof ChangePage>

import { z } from 'zod'
import { Entry } from './entry.ts'
import { Liveness } from './liveness.ts'

/**
 * What became of an agent in the eyes of everybody. `listed`: it is there, new or changed. `unlisted`: it is hidden,
 * for a while perhaps. `deleted`: it is gone. `liveness`: whether it answers is another.
 */
export const ChangeKind = z.enum(['listed', 'unlisted', 'deleted', 'liveness'])
export type ChangeKind = z.infer<typeof ChangeKind>

const shared = {
  revision: z.int().describe('Of the registry; each change has its own, and later ones win.'),
  at: z.iso.datetime(),
  id: z.uuid(),
  package_name: z.string(),
}

/** One change of the registry, for those who follow it. An entry stands at its newest revision alone. */
export const RegistryChange = z.discriminatedUnion('kind', [
  z.object({
    ...shared,
    kind: z.literal('listed'),
    agent: Entry.describe('As it is now: it takes the place of what you had.'),
  }),
  z.object({ ...shared, kind: z.enum(['unlisted', 'deleted']) }),
  z.object({ ...shared, kind: z.literal('liveness'), liveness: Liveness }),
])
export type RegistryChange = z.infer<typeof RegistryChange>

/** What happened after a revision, in order. */
export const ChangePage = z.object({
  changes: z.array(RegistryChange),
  next_since: z.int().describe('Give this as since for what comes next.'),
  revision: z.int().describe('Of the registry. You have everything once next_since is the same.'),
  more: z.boolean().describe('There is more already: ask again at once.'),
})
export type ChangePage = z.infer<typeof ChangePage>

import { z } from 'zod'

/** One version of an agent: what everybody could see of it from then on. It never changes. */
const AgentVersion = z.object({
  version: z.string().nullable().describe('As its publisher calls it; null where they state none.'),
  revision: z.int().describe('Number of the registry change that published it; it names every version.'),
  published_at: z.iso.datetime(),
  sha256: z.string().describe('Of what it says, in hex: the same content has the same.'),
  current: z.boolean().describe('It is what is listed now.'),
})
export type AgentVersion = z.infer<typeof AgentVersion>

export const VersionPage = z.object({
  versions: z
    .array(AgentVersion)
    .describe('The highest by semver first, then those without an order, the newest first.'),
  next_cursor: z.string().nullable().describe('Null on the last page.'),
  total: z.int(),
})
export type VersionPage = z.infer<typeof VersionPage>

/** Which version is meant; the current one where neither is given. */
export interface WantedVersion {
  /** As published, a range of semver, or `latest`. */
  readonly version?: string | undefined
  readonly revision?: number | undefined
}

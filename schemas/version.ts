import { z } from 'zod'

/** One version of an agent: its public content from a revision on. It never changes. */
const AgentVersion = z.object({
  version: z.string().nullable().describe('Version as stated by the publisher; null where none is stated.'),
  revision: z.int().describe('Revision that published it; it identifies every version.'),
  published_at: z.iso.datetime(),
  sha256: z.string().describe('SHA-256 of the content, in hex: equal content has equal digests.'),
  current: z.boolean().describe('Whether it is the listed version.'),
})

export const VersionPage = z.object({
  versions: z
    .array(AgentVersion)
    .describe('The highest by Semantic Versioning first, then versions without an order, the newest first.'),
  next_cursor: z.string().nullable().describe('Null on the last page.'),
  total: z.int(),
})
export type VersionPage = z.infer<typeof VersionPage>

/** Which version is meant; the current one where neither is given. */
export interface WantedVersion {
  /** A version as published, a semver range, or `latest`. */
  readonly version?: string | undefined
  readonly revision?: number | undefined
}
